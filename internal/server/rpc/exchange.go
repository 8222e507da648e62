package rpc

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

// Engine answers the messages of one connection, or those that an HTTP handler gets outside of sessions. It is immutable
// once it reads.
type Engine struct {
	Calls      Admission
	Group      *Group  // of what the server does besides
	Reader     *Reader // that brings the messages of a stream; nil for messages that come in any other way
	FrameLimit int     // of the answers to a batch, in bytes
	NullID     bool    // before a revision is agreed on, an error for a message without an id has the id null
}

// Exchange carries the messages between a client and a server: the client's messages come in, and answers go to a
// sink. It is immutable, and any number of goroutines may bring messages: each message is dealt with by the goroutine
// that brings it.
type Exchange struct {
	*Engine
	*Peer
	Server Server
	Asks   *Asks // the server's requests that the client has yet to answer; nil for a client that cannot be asked
	Out    Sink
	Place  Place // that the messages occupy; nil for none

	Work context.Context // of handlers and of what the read loop sends: ends when no more is to be done
	Life context.Context // of what handlers send: ends when nothing can be sent any more
}

// Server is the server behind an exchange.
type Server interface {
	// NewCall returns the call that a request of the client becomes, with its handler.
	NewCall() *Call
	// Notified handles a notification that is valid, but for notifications/cancelled. The error says that the client
	// may send it again.
	Notified(m *jsonrpc.Message) error
	// Describe describes a notification for telemetry.
	Describe(m *jsonrpc.Message) instrument.Incoming
	// Version returns the revision that client and server have agreed on, empty for none.
	Version() mcp.Version
	// Cancellation returns the cause for the end of a request that the client has cancelled, for a reason of its own.
	Cancellation(reason string) error
	// CountRefused counts a message that was refused with an answer. told says that another record tells of it.
	CountRefused(reason string, a Answer, told bool)
	// Elsewhere returns the other processes that know the client, nil for none.
	Elsewhere() Elsewhere
}

// Elsewhere are the other processes that know a client.
type Elsewhere interface {
	// Cancel passes on that the client has cancelled a request which is not answered here.
	Cancel(ctx context.Context, id jsonrpc.ID, reason string) error
	// Deliver passes on a response to a request from another process, and reports whether there is one. The error says
	// that the process is not known now or the store fails: the client may try again.
	Deliver(ctx context.Context, m *jsonrpc.Message) (bool, error)
}

// Place is what requests occupy until they are concluded, where those that bring them may be gone before.
type Place interface {
	// Retain says that a request has begun.
	Retain()
	// Release says that it is concluded.
	Release()
	// Wait makes room for others while a request waits for its client; back takes it again. It reports false if too
	// many wait.
	Wait() (back func(), ok bool)
}

// Sink is where that goes which a message leads to: the connection, a batch, or a stream of its own. Frames may be used
// again after the call.
type Sink interface {
	// Notify sends a notification.
	Notify(ctx context.Context, frame []byte) error
	// Answer is called once for each request.
	Answer(ctx context.Context, a Answer) error
	// Ask sends a request of the server's. It is called only where reach says that the client can be asked.
	Ask(ctx context.Context, frame []byte) error
	// Reach says what the sink can do now.
	Reach() Reach
}

// Reach is what a sink can do.
type Reach struct {
	Asks    bool // a client that waits for what goes there can be sent a request
	Read    bool // what is sent is read, as far as one can tell
	Batched bool // what goes there comes in a batch, with others
}

// Mute is a part of a sink by which no client can be asked.
type Mute struct{}

func (Mute) Ask(context.Context, []byte) error { return ErrNoStream }
func (Mute) Reach() Reach                      { return Reach{Read: true} }

// AnsweredInstead is returned by a sink that has sent an error in place of the answer.
type AnsweredInstead struct{ Err error }

func (e *AnsweredInstead) Error() string { return e.Err.Error() }

// Answer is what a request is answered with.
type Answer struct {
	Frame   []byte // nil for a request that gets no answer
	Rest    []byte // what follows in the same frame, and then closing; nil for a frame in one piece
	Err     error  // that is in it, nil for a result
	Refused bool   // the request was not handled
	ID      jsonrpc.ID
}

// Closing ends a frame that has a rest.
var Closing = []byte("}")

// Whole returns the frame in one piece, for a sink that cannot send parts.
func (a *Answer) Whole() []byte {
	if a.Rest == nil {
		return a.Frame
	}
	return slices.Concat(a.Frame, a.Rest, Closing)
}

// Size returns that of the frame, in bytes.
func (a *Answer) Size() int {
	if a.Rest == nil {
		return len(a.Frame)
	}
	return len(a.Frame) + len(a.Rest) + len(Closing)
}

// WaitForClient makes room for others while a request waits for its client; back takes it again. It reports false if too
// many wait.
func (x *Exchange) WaitForClient() (back func(), ok bool) {
	if x.Place == nil {
		return func() {}, true
	}
	return x.Place.Wait()
}

// Receive deals with one frame, which it keeps.
func (x *Exchange) Receive(frame []byte) {
	m, err := jsonrpc.Parse(frame)
	if err == nil {
		x.route(&m, x.Out)
		return
	}
	v := jsonrpc.ViolationOf(&m, err)
	if v.Reason == jsonrpc.BatchFrame && x.Batches() {
		x.takeBatch(frame)
		return
	}
	x.refuse(v, frame, x.Out)
}

// route gives a message to what deals with its kind.
func (x *Exchange) route(m *jsonrpc.Message, out Sink) {
	if m.Kind == jsonrpc.Request {
		x.Request(x.Server.NewCall(), m, out)
		return
	}
	kept := *m // by what it is for, unlike a request: so that one, the caller's, need not be allocated
	if kept.Kind == jsonrpc.Notification {
		_ = x.Notification(&kept)
	} else {
		_ = x.Response(&kept)
	}
}

// Request begins to answer a request, which c becomes.
func (x *Exchange) Request(c *Call, m *jsonrpc.Message, out Sink) {
	w := x.stopwatch()
	params, err := m.Params()
	took := w.stop()
	if err != nil {
		v := jsonrpc.ViolationOf(m, err)
		if took > 0 {
			x.Tel.Undecodable(took, v)
		}
		x.refuse(v, m.Frame, out)
		return
	}
	x.Begin(c, m, &params, took, out)
}

// Begin begins to answer a request whose params have been read, which took so long, zero if that was not measured.
func (x *Exchange) Begin(c *Call, m *jsonrpc.Message, p *jsonrpc.Params, took time.Duration, out Sink) {
	begun := false
	defer func() {
		if !begun {
			c.abandon(m, out)
		}
	}()
	x.newCall(c, m, p, out)
	if took > 0 {
		c.Op.Decoded(took, nil)
	}
	begun = true
	switch {
	case c.Refused != nil:
	case !c.Inline:
		c.Here = c.InOrder || x.Reader.wants(c)
		err := x.Calls.Admit(c)
		if err == nil {
			c.keepsPlace = c.InOrder
			c.admitted()
			return
		}
		c.Refused = err
	case x.Calls.Find(m.ID) != nil:
		c.Refused = errDuplicateID
	}
	c.serve()
}

// Notification deals with a notification. The error says that it is invalid, or that the client may send it again.
func (x *Exchange) Notification(m *jsonrpc.Message) error {
	if err := m.Check(); err != nil {
		v := jsonrpc.ViolationOf(m, err)
		x.Violation(v, m.Frame, m.Size(), 0)
		return v
	}
	if m.Method == mcp.NotificationCancelled {
		return x.Observe(m, func(op *instrument.Op) error { return x.cancelled(m, op) })
	}
	return x.Server.Notified(m)
}

// Response gives a response to the handler that waits for it, and counts it if there is none. The error is as for
// notification.
func (x *Exchange) Response(m *jsonrpc.Message) error {
	if err := m.Check(); err != nil {
		v := jsonrpc.ViolationOf(m, err)
		x.Violation(v, m.Frame, m.Size(), 0)
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
	x.Tel.MessageSize(telemetry.Received, kind, m.Size())
	x.Tel.Dropped(x.stray(m.ID))
	return nil
}

// refuse counts a frame that breaks the protocol, and answers it if it may have been a request.
func (x *Exchange) refuse(v *jsonrpc.Violation, frame []byte, out Sink) {
	x.Violation(v, frame, len(frame), 0)
	switch {
	case expectsAnswer(v):
		x.answerViolation(v, out)
		return
	case v.Response && !v.ID.IsZero():
		_, _ = x.deliver(v.ID, jsonrpc.Broken(frame)) // there will be no other
	}
	_ = out.Answer(x.Work, Answer{})
}

// answerViolation answers a frame that broke the protocol, by its id as far as that could be read.
func (x *Exchange) answerViolation(v *jsonrpc.Violation, out Sink) {
	err := &mcp.Error{Code: CodeOf(v.Reason), Message: v.Error()}
	id := v.ID
	if id.IsZero() && x.WantsNull() {
		id = jsonrpc.Null
	}
	frame := AppendError(nil, id, err)
	x.Tel.MessageSize(telemetry.Sent, instrument.KindError, len(frame))
	a := Answer{Frame: frame, Err: err, Refused: true, ID: v.ID}
	reason := names.RefusalInvalid
	if v.Reason == jsonrpc.FrameTooLarge {
		reason = names.RefusalTooLarge
	}
	x.Server.CountRefused(reason, a, true) // the record of the violation tells of it
	_ = out.Answer(x.Work, a)              // a client that is gone has no use for it
}

// WantsNull reports whether an error for what has no id has the id null, as JSON-RPC has it: until 2025-06-18. The
// schemas of later revisions have no null, and leave the id out.
// (specification 2025-11-25, basic/index, "Error Responses")
func (x *Exchange) WantsNull() bool {
	if v := x.Server.Version(); v != "" {
		return v < mcp.Version20251125
	}
	return x.NullID
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

// CodeOf returns the code that answers a frame which breaks a rule. (JSON-RPC 2.0, section 5.1)
func CodeOf(r jsonrpc.Reason) int64 {
	switch r {
	case jsonrpc.InvalidJSON, jsonrpc.TooDeep:
		return mcp.CodeParseError
	case jsonrpc.InvalidParams:
		return mcp.CodeInvalidParams
	}
	return mcp.CodeInvalidRequest
}

// Violation counts a frame that breaks the protocol, of which the head, or all, is there.
func (o *Observer) Violation(v *jsonrpc.Violation, head []byte, size, limit int) {
	o.Tel.Violation(instrument.Violation{
		Reason: v.Reason.String(), Size: size, Limit: limit, Direction: telemetry.Received, Head: head,
	})
}
