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

// Engine is the state that the exchanges of one connection or one HTTP handler share. It is immutable once the first
// frame is read.
type Engine struct {
	Calls      Admission
	Group      *Group  // runs the requests of a connection, and other tasks
	Reader     *Reader // reads the frames of a connection; nil if the frames do not come from a connection
	FrameLimit int     // limits the answers to a batch, in bytes
	NullID     bool    // errors without an id have the id null until the client agrees on a revision
}

// Exchange carries the messages between one client and the server. It is immutable, and any number of goroutines may
// pass messages to it. The goroutine that passes a message handles the message or hands it to the group.
type Exchange struct {
	*Engine
	Peer   *Peer // the client, for telemetry
	Server Server
	Asks   *Asks // unanswered requests of the server; nil if the server cannot send requests
	Out    Sink  // sink for answers to requests without a sink of their own
	Place  Place // occupied by the requests; nil for none

	Work context.Context // parent of the handlers' contexts; ends when the server stops working for the client
	Life context.Context // context for sending; ends when the client can no longer receive
}

// Server handles the messages that the core does not handle.
type Server interface {
	// NewCall returns a call with its handler for a request of the client.
	NewCall() *Call
	// Notified handles a valid notification of any method except notifications/cancelled. After an error, the client may
	// send the notification again.
	Notified(m *jsonrpc.Message) error
	// Describe describes a notification for telemetry.
	Describe(m *jsonrpc.Message) instrument.Incoming
	// Version returns the revision that client and server have agreed on, or the empty string.
	Version() mcp.Version
	// Cancellation returns the error for a request that the client has cancelled. reason is the text in the client's
	// notification; it may be empty.
	Cancellation(reason string) error
	// CountRefused counts a message that the core refuses with an answer. recorded means that a log record exists.
	CountRefused(reason string, a Answer, recorded bool)
	// Elsewhere returns the other processes that know the client, or nil.
	Elsewhere() Elsewhere
}

// Elsewhere sends messages of a client to the other processes that know the client.
type Elsewhere interface {
	// Cancel cancels a request that another process may be answering.
	Cancel(ctx context.Context, id jsonrpc.ID, reason string) error
	// Deliver delivers a response to a request of another process. It reports false if there is no such request. After an
	// error, the client may send the response again.
	Deliver(ctx context.Context, m *jsonrpc.Message) (bool, error)
}

// Place is a share of a limit, for example of the requests that an HTTP handler processes at once. A client's requests
// occupy it until they are answered, even if the client disconnects earlier.
type Place interface {
	// Retain adds a request to the place.
	Retain()
	// Release removes an answered request from the place.
	Release()
	// Wait gives the place to other requests while a request waits for its client. retake takes the place again. Wait
	// reports false if too many requests are waiting.
	Wait() (retake func(), ok bool)
}

// Sink sends frames to the client: on the connection, in a batch, or on a stream of one request. The caller may reuse a
// frame after the call.
type Sink interface {
	// Notify sends a notification.
	Notify(ctx context.Context, frame []byte) error
	// Answer sends the answer to a request. The core calls Answer once for each request.
	Answer(ctx context.Context, a Answer) error
	// Ask sends a request of the server. The core calls Ask only if Reach allows it.
	Ask(ctx context.Context, frame []byte) error
	// Reach returns what the sink can do at this moment.
	Reach() Reach
}

// Reach describes what a sink can do.
type Reach struct {
	Asks    bool // the server can send requests to the client
	Read    bool // the client reads the frames, as far as the server knows
	Batched bool // the answers go into a batch
	// Resumable reports whether the client has read earlier frames and can resume after the last of them.
	Resumable bool
}

// Mute is the part of a sink that cannot send the server's requests.
type Mute struct{}

func (Mute) Ask(context.Context, []byte) error { return ErrNoStream }
func (Mute) Reach() Reach                      { return Reach{Read: true} }

// AnsweredInstead is the error of a sink that has sent Err to the client in place of the answer.
type AnsweredInstead struct{ Err error }

func (e *AnsweredInstead) Error() string { return e.Err.Error() }

// Answer is the answer to a request, or to a frame that breaks the protocol.
type Answer struct {
	Frame   []byte     // the frame, or its beginning; nil for no answer
	Rest    []byte     // follows Frame, and Closing follows Rest; nil for a frame in one piece
	Err     error      // the error in the frame; nil for a result
	Refused bool       // the request never reached a handler
	ID      jsonrpc.ID // id of the request; zero if it is unknown
}

// Closing ends a frame that has a Rest.
var Closing = []byte("}")

// Whole returns the frame in one piece.
func (a *Answer) Whole() []byte {
	if a.Rest == nil {
		return a.Frame
	}
	return slices.Concat(a.Frame, a.Rest, Closing)
}

// Size returns the size of the frame in bytes.
func (a *Answer) Size() int {
	if a.Rest == nil {
		return len(a.Frame)
	}
	return len(a.Frame) + len(a.Rest) + len(Closing)
}

// WaitForClient frees the place of the exchange for other requests, before a request waits for its client. After the
// wait, retake takes the place again. ok is false, and the place is not freed, if too many requests are waiting.
func (x *Exchange) WaitForClient() (retake func(), ok bool) {
	if x.Place == nil {
		return func() {}, true
	}
	return x.Place.Wait()
}

// Receive handles one frame of the client. The exchange retains the frame.
func (x *Exchange) Receive(frame []byte) {
	m, err := jsonrpc.Parse(frame)
	if err == nil {
		x.route(&m, x.Out)
		return
	}
	v := jsonrpc.ViolationOf(&m, err)
	if v.Reason == jsonrpc.BatchFrame && x.Batches() {
		x.receiveBatch(frame)
		return
	}
	x.refuse(v, frame, x.Out)
}

// route handles a message by its kind.
func (x *Exchange) route(m *jsonrpc.Message, out Sink) {
	if m.Kind == jsonrpc.Request {
		x.Request(x.Server.NewCall(), m, out)
		return
	}
	kept := *m // a copy on the heap, so that the message of a request stays on the stack
	if kept.Kind == jsonrpc.Notification {
		_ = x.Notification(&kept)
	} else {
		_ = x.Response(&kept)
	}
}

// Request handles a request with the call c. The answer goes to out.
func (x *Exchange) Request(c *Call, m *jsonrpc.Message, out Sink) {
	w := x.Peer.decodeTimer()
	params, err := m.Params()
	took := w.stop()
	if err != nil {
		v := jsonrpc.ViolationOf(m, err)
		if took > 0 {
			x.Peer.Tel.Undecodable(took, v)
		}
		x.refuse(v, m.Frame, out)
		return
	}
	x.Begin(c, m, &params, took, out)
}

// Begin is like Request, for a request whose params the caller has already decoded. took is the decoding time, zero if
// it was not measured.
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
		c.OnReader = c.InOrder || x.Reader.wants(c)
		c.keepsPlace = c.InOrder
		err := x.Calls.Admit(c)
		if err == nil {
			c.serveOnReader()
			return
		}
		c.Refused, c.keepsPlace = err, false
	case x.Calls.Find(m.ID) != nil:
		c.Refused = errDuplicateID
	}
	c.serve()
}

// Notification handles a notification. It returns the violation if the notification is invalid. For a valid
// notification it may return an error, after which the client may send the notification again.
func (x *Exchange) Notification(m *jsonrpc.Message) error {
	if err := m.Check(); err != nil {
		v := jsonrpc.ViolationOf(m, err)
		x.Peer.Violation(v, m.Frame, m.Size(), 0)
		return v
	}
	if m.Method == mcp.NotificationCancelled {
		return x.Observe(m, func(op *instrument.Op) error { return x.cancelled(m, op) })
	}
	return x.Server.Notified(m)
}

// Response delivers a response to the handler that waits for it, and counts a response that no handler waits for. It
// returns the same errors as Notification.
func (x *Exchange) Response(m *jsonrpc.Message) error {
	if err := m.Check(); err != nil {
		v := jsonrpc.ViolationOf(m, err)
		x.Peer.Violation(v, m.Frame, m.Size(), 0)
		_, _ = x.deliver(m.ID, m) // best effort: the client sends no other response
		return v
	}
	if delivered, err := x.deliver(m.ID, m); delivered || err != nil {
		return err
	}
	kind := instrument.KindResponse
	if m.Kind == jsonrpc.Error {
		kind = instrument.KindError
	}
	x.Peer.Tel.MessageSize(telemetry.DirectionReceived, kind, m.Size())
	x.Peer.Tel.Dropped(x.stray(m.ID))
	return nil
}

// refuse counts a frame that violates the protocol. It answers the frame if the frame may have been a request.
func (x *Exchange) refuse(v *jsonrpc.Violation, frame []byte, out Sink) {
	x.Peer.Violation(v, frame, len(frame), 0)
	switch {
	case expectsAnswer(v):
		x.answerViolation(v, out)
		return
	case v.Response && !v.ID.IsZero():
		_, _ = x.deliver(v.ID, jsonrpc.Broken(frame)) // best effort: the client sends no other response
	}
	_ = out.Answer(x.Work, Answer{})
}

// answerViolation answers a frame that violates the protocol. The answer has the frame's id if the id was readable.
func (x *Exchange) answerViolation(v *jsonrpc.Violation, out Sink) {
	err := &mcp.Error{Code: CodeOf(v.Reason), Message: v.Error()}
	id := v.ID
	if id.IsZero() && x.WantsNull() {
		id = jsonrpc.Null
	}
	frame := AppendError(nil, id, err)
	x.Peer.Tel.MessageSize(telemetry.DirectionSent, instrument.KindError, len(frame))
	a := Answer{Frame: frame, Err: err, Refused: true, ID: v.ID}
	reason := names.RefusalInvalid
	if v.Reason == jsonrpc.FrameTooLarge {
		reason = names.RefusalTooLarge
	}
	x.Server.CountRefused(reason, a, true) // a log record of the violation exists
	_ = out.Answer(x.Work, a)              // best effort
}

// WantsNull reports whether an error without an id has the id null, as in JSON-RPC. Revisions until 2025-06-18 use
// null. In the schemas of later revisions, the id is absent. (specification 2025-11-25, basic/index, "Error Responses")
func (x *Exchange) WantsNull() bool {
	if v := x.Server.Version(); v != "" {
		return v < mcp.Version20251125
	}
	return x.NullID
}

// expectsAnswer reports whether the client expects an answer to a frame that violates the protocol. The client expects
// none if the frame looks like a response, or like a notification. A frame with a method and no id looks like a
// notification, unless the violation may be the reason why the id is missing.
func expectsAnswer(v *jsonrpc.Violation) bool {
	switch {
	case v.Response:
		return false
	case v.Method == "" || !v.ID.IsZero():
		return true
	}
	return v.Reason != jsonrpc.InvalidParams && v.Reason != jsonrpc.InvalidVersion
}

// CodeOf returns the error code for the answer to a frame that violates the protocol. (JSON-RPC 2.0, section 5.1)
func CodeOf(r jsonrpc.Reason) int64 {
	switch r {
	case jsonrpc.InvalidJSON, jsonrpc.TooDeep:
		return mcp.CodeParseError
	case jsonrpc.InvalidParams:
		return mcp.CodeInvalidParams
	}
	return mcp.CodeInvalidRequest
}

// Violation counts and logs a frame that violates the protocol. head is the frame, or its beginning.
func (o *Observer) Violation(v *jsonrpc.Violation, head []byte, size, limit int) {
	o.Tel.Violation(instrument.Violation{
		Reason: v.Reason.String(), Size: size, Limit: limit, Direction: telemetry.DirectionReceived, Head: head,
	})
}
