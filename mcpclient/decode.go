package mcpclient

import (
	"fmt"
	"time"

	"github.com/mcpotel/mcpotel/internal/given"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// receive decodes a result, and keeps it if it may answer the same question again.
func (cl *call) receive(s *session, m *jsonrpc.Message) error {
	if cl.asked.received != nil {
		cl.asked.received.Add(int64(m.Size()))
	}
	kept := cl.c.cache.worthKeeping(cl, m)
	var begun time.Time
	if cl.op.Timed() {
		begun = time.Now()
	}
	var err error
	if !cl.tasks.asked || !readLegacyTask(cl, m) {
		err = cl.decodeByType(s, m)
	}
	if cl.op.Timed() {
		cl.op.Decoded(time.Since(begun), err)
	}
	if err == nil && kept != nil {
		cl.c.cache.keep(cl.keeping.version, kept)
	}
	return err
}

// decodeByType decodes the result of m into what its type asks for: result, or what cl gets instead. Types that the client has
// not negotiated are refused, and so is a result that asks for input where nothing can be asked for.
// (specification 2026-07-28, basic, "ResultType"; basic/patterns/mrtr, "Supported Requests") What says of itself to be a task
// may answer tasks/get, as in examples of the extension's specification; what a task needs is in its state.
func (cl *call) decodeByType(s *session, m *jsonrpc.Message) error {
	kind, err := s.era.resultType(m.Middle())
	switch {
	case err != nil:
		return err
	case kind == mcp.ResultComplete, kind == "", kind == mcp.ResultTask && cl.method == mcp.MethodGetTask:
		if err = decodeResult(m, cl.result); err == nil {
			cl.c.dropIcons(cl.method, cl.result)
		}
		return err
	case kind == mcp.ResultInputRequired && mayRequireInput(cl.method):
		input := new(mcp.InputRequiredResult)
		if err = decodeResult(m, input); err == nil {
			cl.input.required = input
		}
		return err
	case kind == mcp.ResultTask && cl.mayBecomeTask():
		task := new(mcp.CreateTaskResult)
		if err = decodeResult(m, task); err == nil {
			cl.tasks.made = task
		}
		return err
	}
	return &resultTypeError{kind}
}

// resultTypeError is the error for a result of a type that the client has not negotiated.
type resultTypeError struct{ kind mcp.ResultType }

// ErrorType is the value of the attribute error.type of an operation that ends with e.
func (e *resultTypeError) ErrorType() string { return telemetry.ErrorViolation }

func (e *resultTypeError) Error() string {
	return fmt.Sprintf("result type %q was not negotiated", string(e.kind))
}

// decodeResult decodes the result of m, of which nothing can be read afterwards. Every byte has been validated when it returns
// nil.
func decodeResult(m *jsonrpc.Message, result any) error {
	return m.Consume(func(middle []byte) (int, error) { return mcp.DecodeInPlace(middle, result) })
}

// dropIcons takes the icons out of a result that nobody should load.
// (specification 2026-07-28, basic/index, "icons"; the same in 2025-11-25)
func (c *core) dropIcons(method string, result any) {
	if n, first := given.DropIcons(result); n > 0 {
		c.tel.IconsRejected(method, fmt.Errorf("%d left out, the first because its %w", n, first))
	}
}

// resultTypeOf returns the type of a decoded result, empty if it has none.
func resultTypeOf(result any) string {
	if base, ok := result.(interface{ Base() *mcp.Result }); ok {
		return string(base.Base().ResultType)
	}
	return ""
}

// decodeError decodes the error of m.
func decodeError(m *jsonrpc.Message) (*mcp.Error, error) {
	e, err := m.Failure()
	if err != nil {
		return nil, err
	}
	return &mcp.Error{Code: e.Code, Message: e.Message, Data: e.Data}, nil
}
