package mcpserver

import (
	"context"
	"errors"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// exchange is what passes between a client and the server over one stream: messages come in one after the other, and
// what they lead to goes to a sink. It is fed by one goroutine at a time.
type exchange struct {
	observer
	s       *Server
	session *session
	calls   *calls
	out     sink

	work context.Context // of handlers and of what the read loop sends: ends when no more is to be done
	life context.Context // of what handlers send: ends when nothing can be sent any more
}

// sink is where that goes which a message leads to: the connection, a batch, or a stream of its own. Frames may be used
// again after the call.
type sink interface {
	// notify sends a notification.
	notify(ctx context.Context, frame []byte) error
	// answer is called once for each request. A nil frame says that the request gets no answer.
	answer(ctx context.Context, frame []byte) error
}

// take deals with one frame, which it keeps.
func (x *exchange) take(frame []byte) {
	m, err := jsonrpc.Parse(frame)
	if err == nil {
		x.route(&m, x.out)
		return
	}
	v := violationOf(&m, err)
	if v.Reason == jsonrpc.BatchFrame && x.batches() {
		x.takeBatch(frame)
		return
	}
	x.refuse(v, len(frame), x.out)
}

// route gives a message to what deals with its kind.
func (x *exchange) route(m *jsonrpc.Message, out sink) {
	switch m.Kind {
	case jsonrpc.Request:
		x.request(m, out)
	case jsonrpc.Notification:
		x.notification(m)
	default:
		x.response(m)
	}
}

// request begins to answer a request.
func (x *exchange) request(m *jsonrpc.Message, out sink) {
	params, err := m.Params()
	if err != nil {
		x.refuse(violationOf(m, err), len(m.Frame), out)
		return
	}
	c := x.newCall(m, &params, out)
	switch {
	case c.refused != nil:
	case !c.method.inline:
		err := x.calls.admit(c)
		if err == nil {
			return
		}
		c.refused = err
	case x.calls.answering(m.ID):
		c.refused = errDuplicateID
	}
	c.serve()
}

// notification deals with a notification: those that concern the core, at once. Nothing that is wrong with one is
// answered.
func (x *exchange) notification(m *jsonrpc.Message) {
	if err := m.Check(); err != nil {
		x.violation(violationOf(m, err), len(m.Frame), 0)
		return
	}
	x.tel.Notification(telemetry.Received, m.Method)
	x.tel.MessageSize(telemetry.Received, telemetry.KindNotification, len(m.Frame))
	switch m.Method {
	case mcp.NotificationCancelled:
		x.cancelled(m)
	case mcp.NotificationInitialized:
		x.session.confirmed.Store(x.session.agreed.Load() != nil)
	}
}

// response counts a response: this server asks its clients nothing.
func (x *exchange) response(m *jsonrpc.Message) {
	if err := m.Check(); err != nil {
		x.violation(violationOf(m, err), len(m.Frame), 0)
		return
	}
	kind := telemetry.KindResponse
	if m.Kind == jsonrpc.Error {
		kind = telemetry.KindError
	}
	x.tel.MessageSize(telemetry.Received, kind, len(m.Frame))
	x.tel.Dropped(telemetry.Drop{Reason: telemetry.DropUnknownID, ID: m.ID.String()})
}

// refuse counts a frame that breaks the protocol, and answers it if it may have been a request.
func (x *exchange) refuse(v *jsonrpc.Violation, size int, out sink) {
	x.violation(v, size, 0)
	if expectsAnswer(v) {
		x.answerViolation(v, out)
	} else {
		_ = out.answer(x.work, nil)
	}
}

// answerViolation answers a frame that broke the protocol, by its id as far as that could be read.
func (x *exchange) answerViolation(v *jsonrpc.Violation, out sink) {
	frame := appendError(nil, v.ID, &mcp.Error{Code: codeOf(v.Reason), Message: v.Error()})
	x.tel.MessageSize(telemetry.Sent, telemetry.KindError, len(frame))
	_ = out.answer(x.work, frame) // a client that is gone has no use for it
}

// expectsAnswer reports whether a frame that breaks the protocol is to be answered: not if it was meant as a response or
// as a notification, which has a method and no id.
func expectsAnswer(v *jsonrpc.Violation) bool {
	switch {
	case v.Response:
		return false
	case v.Method == "" || !v.ID.IsZero():
		return true
	}
	return v.Reason != jsonrpc.InvalidParams && v.Reason != jsonrpc.InvalidVersion
}

// codeOf returns the code that answers a frame which breaks a rule. (JSON-RPC 2.0, section 5.1)
func codeOf(r jsonrpc.Reason) int64 {
	switch r {
	case jsonrpc.InvalidJSON, jsonrpc.TooDeep:
		return mcp.CodeParseError
	case jsonrpc.InvalidParams:
		return mcp.CodeInvalidParams
	}
	return mcp.CodeInvalidRequest
}

// violation counts a frame that breaks the protocol.
func (x *exchange) violation(v *jsonrpc.Violation, size, limit int) {
	x.tel.Violation(telemetry.Violation{
		Reason: v.Reason.String(), Size: size, Limit: limit, Direction: telemetry.Received,
	})
}

// violationOf returns err as the violation it is, or as one of m's middle.
func violationOf(m *jsonrpc.Message, err error) *jsonrpc.Violation {
	if v, ok := errors.AsType[*jsonrpc.Violation](err); ok {
		return v
	}
	return m.Invalid(err)
}
