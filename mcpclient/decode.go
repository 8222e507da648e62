package mcpclient

import (
	"time"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// decode decodes the answer in the caller's goroutine. The decoder sees the part of the frame that nobody has validated
// yet, so an answer that is not valid JSON is found here; it fails this call and nothing else.
func (c *Client) decode(s *session, cl *call, op *telemetry.Op, m *jsonrpc.Message, result any) *Error {
	if m.Kind == jsonrpc.Error {
		server, err := decodeError(m)
		if err != nil {
			return c.unusable(cl, m, err)
		}
		return &Error{Kind: KindJSONRPC, Op: cl.method, Server: server}
	}
	if op.Captures() && m.Check() == nil { // before the decoder, which works in place
		op.Answer(m.Middle())
	}
	var begun time.Time
	if op.Timed() {
		begun = time.Now()
	}
	var kind mcp.ResultType
	var err error
	if !cl.augmented || !decodeLegacyTask(cl, m) {
		kind, err = decodeResult(m, result)
	}
	if s.era.asks() && (err != nil || kind == mcp.ResultInputRequired || kind == mcp.ResultTask) {
		kind, err = c.decodeOther(cl, m, kind, err)
	}
	if op.Timed() {
		op.Decoded(time.Since(begun), err)
	}
	if err != nil {
		return c.unusable(cl, m, err)
	}
	if err := s.era.checkResult(cl, kind); err != nil {
		return &Error{Kind: KindProtocol, Op: cl.method, cause: err}
	}
	return nil
}

// unusable counts an answer that breaks the protocol and returns the error for the call.
func (c *Client) unusable(cl *call, m *jsonrpc.Message, err error) *Error {
	v := violationOf(m, err)
	c.violation(v, m.Frame, len(m.Frame), 0)
	return &Error{Kind: KindProtocol, Op: cl.method, cause: v}
}

// decodeResult decodes the result of m and returns its type. Every byte has been validated when it returns nil.
func decodeResult(m *jsonrpc.Message, result any) (mcp.ResultType, error) {
	n, err := mcp.Decode(m.Middle(), result)
	if err != nil {
		return "", err
	}
	if err := m.Settle(n); err != nil {
		return "", err
	}
	if r, ok := result.(interface{ Base() *mcp.Result }); ok {
		return r.Base().ResultType, nil
	}
	return mcp.ResultTypeOf(m.Middle()[:n])
}

// decodeOther decodes the result of m if it is of another type than its method has by itself and may be, which cl then has. If
// not, it returns kind and err, which came of decoding it as what the method has. The bytes may be invalid still.
func (c *Client) decodeOther(cl *call, m *jsonrpc.Message, kind mcp.ResultType, err error) (mcp.ResultType, error) {
	other, unknown := mcp.ResultTypeOf(m.Middle())
	switch {
	case unknown != nil:
	case other == mcp.ResultInputRequired:
		cl.input = new(mcp.InputRequiredResult)
		return decodeResult(m, cl.input)
	case other == mcp.ResultTask && c.mayBecomeTask(cl):
		cl.task = new(mcp.CreateTaskResult)
		return decodeResult(m, cl.task)
	}
	return kind, err
}

// decodeError decodes the error of m.
func decodeError(m *jsonrpc.Message) (*mcp.Error, error) {
	e, err := m.Failure()
	if err != nil {
		return nil, err
	}
	return &mcp.Error{Code: e.Code, Message: e.Message, Data: e.Data}, nil
}
