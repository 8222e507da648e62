package mcpserver

import (
	"context"
	"slices"
	"time"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// engine answers the messages of one connection, or those that an HTTP handler gets outside of sessions. It is immutable
// once it reads.
type engine struct {
	calls      admission
	group      *group   // of what the server does besides
	reading    *reading // that brings the messages of a stream; nil for messages that come in any other way
	frameLimit int      // of the answers to a batch, in bytes
	nullID     bool     // before a revision is agreed on, an error for a message without an id has the id null
}

// rpcExchange carries the messages between a client and a server: the client's messages come in, and answers go to a
// sink. It is immutable, and any number of goroutines may bring messages: each message is dealt with by the goroutine
// that brings it.
type rpcExchange struct {
	*engine
	*rpcPeer
	server rpcServer
	asks   *asks // the server's requests that the client has yet to answer; nil for a client that cannot be asked
	out    sink
	place  rpcPlace // that the messages occupy; nil for none

	work context.Context // of handlers and of what the read loop sends: ends when no more is to be done
	life context.Context // of what handlers send: ends when nothing can be sent any more
}

// rpcServer is the server behind an exchange.
type rpcServer interface {
	// newCall returns the call that a request of the client becomes, with its handler.
	newCall() *rpcCall
	// notified handles a notification that is valid, but for notifications/cancelled. The error says that the client
	// may send it again.
	notified(m *jsonrpc.Message) error
	// describe describes a notification for telemetry.
	describe(m *jsonrpc.Message) instrument.Incoming
	// version returns the revision that client and server have agreed on, empty for none.
	version() mcp.Version
	// cancellation returns the cause for the end of a request that the client has cancelled, for a reason of its own.
	cancellation(reason string) error
	// countRefused counts a message that was refused with an answer. told says that another record tells of it.
	countRefused(reason string, a answer, told bool)
	// elsewhere returns the other processes that know the client, nil for none.
	elsewhere() elsewhere
}

// elsewhere are the other processes that know a client.
type elsewhere interface {
	// cancel passes on that the client has cancelled a request which is not answered here.
	cancel(ctx context.Context, id jsonrpc.ID, reason string) error
	// deliver passes on a response to a request from another process, and reports whether there is one. The error says
	// that the process is not known now or the store fails: the client may try again.
	deliver(ctx context.Context, m *jsonrpc.Message) (bool, error)
}

// rpcPlace is what requests occupy until they are concluded, where those that bring them may be gone before.
type rpcPlace interface {
	// retain says that a request has begun.
	retain()
	// drop says that it is concluded.
	drop()
	// await makes room for others while a request waits for its client; back takes it again. It reports false if too
	// many wait.
	await() (back func(), ok bool)
}

// sink is where that goes which a message leads to: the connection, a batch, or a stream of its own. Frames may be used
// again after the call.
type sink interface {
	// notify sends a notification.
	notify(ctx context.Context, frame []byte) error
	// answer is called once for each request.
	answer(ctx context.Context, a answer) error
	// inquire sends a request of the server's. It is called only where reach says that the client can be asked.
	inquire(ctx context.Context, frame []byte) error
	// reach says what the sink can do now.
	reach() reach
}

// reach is what a sink can do.
type reach struct {
	asks    bool // a client that waits for what goes there can be sent a request
	read    bool // what is sent is read, as far as one can tell
	batched bool // what goes there comes in a batch, with others
}

// mute is a part of a sink by which no client can be asked.
type mute struct{}

func (mute) inquire(context.Context, []byte) error { return errNoPlace }
func (mute) reach() reach                          { return reach{read: true} }

// answeredInstead is returned by a sink that has sent an error in place of the answer.
type answeredInstead struct{ err error }

func (e *answeredInstead) Error() string { return e.err.Error() }

// answer is what a request is answered with.
type answer struct {
	frame   []byte // nil for a request that gets no answer
	rest    []byte // what follows in the same frame, and then closing; nil for a frame in one piece
	err     error  // that is in it, nil for a result
	refused bool   // the request was not handled
	id      jsonrpc.ID
}

// closing ends a frame that has a rest.
var closing = []byte("}")

// whole returns the frame in one piece, for a sink that cannot send parts.
func (a *answer) whole() []byte {
	if a.rest == nil {
		return a.frame
	}
	return slices.Concat(a.frame, a.rest, closing)
}

// size returns that of the frame, in bytes.
func (a *answer) size() int {
	if a.rest == nil {
		return len(a.frame)
	}
	return len(a.frame) + len(a.rest) + len(closing)
}

// awaitClient makes room for others while a request waits for its client; back takes it again. It reports false if too
// many wait.
func (x *rpcExchange) awaitClient() (back func(), ok bool) {
	if x.place == nil {
		return func() {}, true
	}
	return x.place.await()
}

// take deals with one frame, which it keeps.
func (x *rpcExchange) take(frame []byte) {
	m, err := jsonrpc.Parse(frame)
	if err == nil {
		x.route(&m, x.out)
		return
	}
	v := jsonrpc.ViolationOf(&m, err)
	if v.Reason == jsonrpc.BatchFrame && x.batches() {
		x.takeBatch(frame)
		return
	}
	x.refuse(v, frame, x.out)
}

// route gives a message to what deals with its kind.
func (x *rpcExchange) route(m *jsonrpc.Message, out sink) {
	if m.Kind == jsonrpc.Request {
		x.request(x.server.newCall(), m, out)
		return
	}
	kept := *m // by what it is for, unlike a request: so that one, the caller's, need not be allocated
	if kept.Kind == jsonrpc.Notification {
		_ = x.notification(&kept)
	} else {
		_ = x.response(&kept)
	}
}

// request begins to answer a request, which c becomes.
func (x *rpcExchange) request(c *rpcCall, m *jsonrpc.Message, out sink) {
	w := x.stopwatch()
	params, err := m.Params()
	took := w.stop()
	if err != nil {
		v := jsonrpc.ViolationOf(m, err)
		if took > 0 {
			x.tel.Undecodable(took, v)
		}
		x.refuse(v, m.Frame, out)
		return
	}
	x.begin(c, m, &params, took, out)
}

// begin begins to answer a request whose params have been read, which took so long, zero if that was not measured.
func (x *rpcExchange) begin(c *rpcCall, m *jsonrpc.Message, p *jsonrpc.Params, took time.Duration, out sink) {
	begun := false
	defer func() {
		if !begun {
			c.abandon(m, out)
		}
	}()
	x.newCall(c, m, p, out)
	if took > 0 {
		c.op.Decoded(took, nil)
	}
	begun = true
	switch {
	case c.refused != nil:
	case !c.inline:
		c.here = c.inOrder || x.reading.wants(c)
		err := x.calls.admit(c)
		if err == nil {
			c.admitted()
			return
		}
		c.refused, c.inOrder = err, false
	case x.calls.find(m.ID) != nil:
		c.refused = errDuplicateID
	}
	c.serve()
}

// notification deals with a notification. The error says that it is invalid, or that the client may send it again.
func (x *rpcExchange) notification(m *jsonrpc.Message) error {
	if err := m.Check(); err != nil {
		v := jsonrpc.ViolationOf(m, err)
		x.violation(v, m.Frame, m.Size(), 0)
		return v
	}
	if m.Method == mcp.NotificationCancelled {
		return x.observe(m, func(op *instrument.Op) error { return x.cancelled(m, op) })
	}
	return x.server.notified(m)
}

// response gives a response to the handler that waits for it, and counts it if there is none. The error is as for
// notification.
func (x *rpcExchange) response(m *jsonrpc.Message) error {
	if err := m.Check(); err != nil {
		v := jsonrpc.ViolationOf(m, err)
		x.violation(v, m.Frame, m.Size(), 0)
		_, _ = x.deliver(m.ID, m) // there will be no other
		return v
	}
	if delivered, err := x.deliver(m.ID, m); delivered || err != nil {
		return err
	}
	kind := instrument.KindResponse
	if m.Kind == jsonrpc.Error {
		kind = instrument.KindError
	}
	x.tel.MessageSize(telemetry.Received, kind, m.Size())
	x.tel.Dropped(x.stray(m.ID))
	return nil
}

// refuse counts a frame that breaks the protocol, and answers it if it may have been a request.
func (x *rpcExchange) refuse(v *jsonrpc.Violation, frame []byte, out sink) {
	x.violation(v, frame, len(frame), 0)
	switch {
	case expectsAnswer(v):
		x.answerViolation(v, out)
		return
	case v.Response && !v.ID.IsZero():
		_, _ = x.deliver(v.ID, jsonrpc.Broken(frame)) // there will be no other
	}
	_ = out.answer(x.work, answer{})
}

// answerViolation answers a frame that broke the protocol, by its id as far as that could be read.
func (x *rpcExchange) answerViolation(v *jsonrpc.Violation, out sink) {
	err := &mcp.Error{Code: codeOf(v.Reason), Message: v.Error()}
	id := v.ID
	if id.IsZero() && x.wantsNull() {
		id = jsonrpc.Null
	}
	frame := appendError(nil, id, err)
	x.tel.MessageSize(telemetry.Sent, instrument.KindError, len(frame))
	a := answer{frame: frame, err: err, refused: true, id: v.ID}
	reason := names.RefusalInvalid
	if v.Reason == jsonrpc.FrameTooLarge {
		reason = names.RefusalTooLarge
	}
	x.server.countRefused(reason, a, true) // the record of the violation tells of it
	_ = out.answer(x.work, a)              // a client that is gone has no use for it
}

// wantsNull reports whether an error for what has no id has the id null, as JSON-RPC has it: until 2025-06-18. The
// schemas of later revisions have no null, and leave the id out.
// (specification 2025-11-25, basic/index, "Error Responses")
func (x *rpcExchange) wantsNull() bool {
	if v := x.server.version(); v != "" {
		return v < mcp.Version20251125
	}
	return x.nullID
}

// expectsAnswer reports whether a frame that breaks the protocol is to be answered: not if it was meant as a response
// or as a notification, which has a method and no id.
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

// violation counts a frame that breaks the protocol, of which the head, or all, is there.
func (o *observer) violation(v *jsonrpc.Violation, head []byte, size, limit int) {
	o.tel.Violation(instrument.Violation{
		Reason: v.Reason.String(), Size: size, Limit: limit, Direction: telemetry.Received, Head: head,
	})
}
