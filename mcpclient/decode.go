package mcpclient

import (
	"time"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
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

// decodeByType decodes the result of m into what its type asks for: result, or what cl gets instead. Types that the
// client has not negotiated are refused, and so is a result that asks for input where nothing can be asked for.
// (specification 2026-07-28, basic, "ResultType"; basic/patterns/mrtr, "Supported Requests") What says of itself to be
// a task may answer tasks/get, as in examples of the extension's specification; what a task needs is in its state.
func (cl *call) decodeByType(s *session, m *jsonrpc.Message) error {
	kind, err := s.era.resultType(m.Middle())
	switch {
	case err != nil:
		return err
	case kind == mcp.ResultComplete, kind == "", kind == mcp.ResultTask && cl.method == mcp.MethodGetTask:
		if err = decodeResult(m, cl.result); err == nil {
			cl.c.core.dropIcons(cl.method, cl.result)
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
