package conn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/machine"
	"github.com/mcpotel/mcpotel/internal/client/seam"
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/keepalive"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// InvalidStreak is the number of consecutive invalid frames after which the client closes the connection.
const InvalidStreak = 1000

// OwnStream reports whether the latest message arrived on the stream of a single request.
func (r *Reader) OwnStream() bool { return r.request != 0 }

// Request returns the content of the request on whose stream the latest message arrived. It returns nil if there is no
// such request or it has ended.
func (r *Reader) Request() Content {
	if r.request == 0 {
		return nil
	}
	r.c.mu.Lock()
	defer r.c.mu.Unlock()
	if q, ok := r.c.calls.Find(r.request); ok {
		return q.Content
	}
	return nil
}

// failure is the reason why a connection or an attempt to connect ends, with the event for the state machine.
type failure struct {
	event machine.Event
	err   error
	wait  time.Duration // delay that the server requests; 0 for none

	request int64                   // ID of the request that failed; 0 for none
	failed  *transport.RequestError // error for the caller of request; nil if that caller gets err, like all others
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// ErrorType returns the attribute error.type of an attempt that ended with f.
func (f *failure) ErrorType() string {
	server, isServer := errors.AsType[*mcp.Error](f.err)
	typed, isTyped := errors.AsType[interface {
		error
		ErrorType() string
	}](f.err)
	switch status := HTTPStatus(f.err); {
	case status != 0:
		return strconv.Itoa(status)
	case isTyped:
		return typed.ErrorType()
	case isServer:
		return strconv.FormatInt(server.Code, 10)
	case errors.Is(f.err, ErrSlow):
		return names.ErrorTimeout
	case errors.Is(f.err, ErrShutdown):
		return names.ErrorShutdown
	case f.event == machine.FrameTooLarge || f.event == machine.InvalidStreak:
		return names.ErrorViolation
	case f.event == machine.TransportDown || f.event == machine.ProbeLost:
		return names.ErrorConnectionLost
	}
	return "_OTHER"
}

// failureOf returns the failure that err wraps. If err wraps none, failureOf returns a failure whose event is the
// argument otherwise.
func failureOf(err error, otherwise machine.Event) *failure {
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	return &failure{event: otherwise, err: err}
}

// Reader parses the frames of one connection into messages. It reads a frame only after it has handled the previous
// one, refuses invalid frames, and splits batches. The connection's goroutine owns the Reader. Only the methods direct
// and own may run in other goroutines.
type Reader struct {
	c       *Conn
	Link    *Link
	Session *Session         // nil during the handshake
	silent  bool             // the server process has sent no output yet
	heard   bool             // a valid message has arrived
	invalid atomic.Int32     // number of consecutive invalid frames; direct resets it too
	spoken  func()           // called when silent becomes false; nil for none
	alive   *keepalive.Watch // nil without keep-alive, and during the handshake
	turn    *turn            // nil if only the connection's goroutine may read
	request int64            // request on whose stream the latest frame arrived; 0 for a shared stream
}

// next returns the next message of the handshake. An *exchangeError means that one request gets no answer. If ctx ends,
// next returns the error of ctx. Any other error is a *failure, and means that the connection has ended.
func (r *Reader) next(ctx context.Context) (m jsonrpc.Message, err error) {
	for {
		frame, err := r.Link.Conn.Receive(ctx)
		if errors.Is(err, seam.ErrInterrupted) { // the interrupt was meant for a caller that read in the previous session
			continue
		}
		if err != nil && ctx.Err() != nil && r.Link.Ctx.Err() == nil {
			return m, ctx.Err()
		}
		if r.silent && err == nil {
			r.silent = false
			r.c.spoke(r.Link.Epoch)
			if r.spoken != nil {
				r.spoken()
			}
		}
		if what, err := r.look(&m, frame, err); what == aMessage || err != nil {
			return m, err
		}
	}
}

// looks is the kind of a frame's content.
type looks uint8

const (
	nothing  looks = iota // nothing to route
	aMessage              // a valid message
	aBatch                // a batch, in a session whose version has batches
)

// look parses the result of Receive. It returns the same errors as next.
func (r *Reader) look(m *jsonrpc.Message, frame transport.Frame, err error) (looks, error) {
	switch {
	case err != nil:
		return nothing, r.over(err)
	case frame.Err != nil && frame.Err.Reason == transport.ReasonTooLarge:
		v, err := r.skipped(&frame)
		if err != nil {
			return nothing, err
		}
		return nothing, r.unanswered(v, frame.Err)
	case frame.Err != nil:
		return nothing, &exchangeError{frame.Request, frame.Err}
	}
	r.request = frame.Request
	var v *jsonrpc.Violation
	switch *m, v = r.parse(frame.Data); {
	case v == nil:
		return aMessage, nil
	case v.Reason == jsonrpc.BatchFrame && r.batches():
		return aBatch, nil
	}
	if err := r.refused(v, frame.Data); err != nil {
		return nothing, err
	}
	return nothing, r.unanswered(v, &transport.RequestError{Reason: transport.ReasonMalformed, Err: v})
}

// unanswered returns the error for a request of the handshake if its answer is invalid, and nil otherwise.
func (r *Reader) unanswered(v *jsonrpc.Violation, why *transport.RequestError) error {
	if id, ok := v.ID.Int(); ok && v.Response && r.Session == nil {
		return &exchangeError{id, why}
	}
	return nil
}

// errHungUp ends a reader after the client has closed the connection.
var errHungUp = &failure{event: machine.TransportDown, err: errors.New("the client closed the connection")}

// parse parses one message. A response on the stream of a request must belong to that request; otherwise it is a
// violation.
func (r *Reader) parse(data []byte) (jsonrpc.Message, *jsonrpc.Violation) {
	m, v := r.parseAny(data)
	if r.request != 0 {
		v = adopt(&m, v, r.request)
	}
	return m, v
}

func (r *Reader) parseAny(data []byte) (jsonrpc.Message, *jsonrpc.Violation) {
	m, err := jsonrpc.Parse(data)
	if err != nil {
		return m, jsonrpc.ViolationOf(&m, err)
	}
	if m.Kind == jsonrpc.Request && r.Session != nil && !r.Session.Era.Serves() && !r.c.Settings.AnyRequests {
		return m, &jsonrpc.Violation{Reason: jsonrpc.UnexpectedRequest, ID: m.ID, Method: m.Method}
	}
	if m.Kind == jsonrpc.Request || m.Kind == jsonrpc.Notification {
		if err := m.Check(); err != nil {
			return m, jsonrpc.ViolationOf(&m, err)
		}
	}
	r.heard = true
	r.invalid.Store(0)
	return m, nil
}

// batches reports whether the session's version has batches. (specification 2025-03-26, basic, "Batching")
func (r *Reader) batches() bool { return r.Session != nil && r.Session.Version == mcp.Version20250326 }

// run reads and routes messages until the connection ends, and returns the reason. The stacks of run and Receive exist
// in every idle client. To keep them small, run leaves the handling of frames to other functions.
func (r *Reader) run() error {
	answer := Answerer(r.Answer)
	for {
		var got received
		if r.turn.due() {
			got = r.turn.lend(r.Link.Ctx.Done(), r.c.anyInFlight)
		} else {
			got.frame, got.err = r.Link.Conn.Receive(context.Background()) // cheaper than a wait with a context that can end
		}
		if errors.Is(got.err, seam.ErrInterrupted) {
			continue
		}
		if err := r.take(got.frame, got.err, answer); err != nil {
			return err
		}
	}
}

// runUntilRest is like run, for a connection that can report that no frame is expected. In that case, runUntilRest
// returns [seam.ErrResting], and the connection later calls wake when there is something to read. Another goroutine may
// own the reader by then.
func (r *Reader) runUntilRest(conn rester, wake func()) error {
	for {
		frame, err := conn.ReceiveOrRest(wake)
		if err == seam.ErrResting {
			return err
		}
		if err := r.take(frame, err, r.Answer); err != nil {
			return err
		}
	}
}

// messages is a pool of unused messages. No function that a reader calls may keep a message of the pool.
var messages = sync.Pool{New: func() any { return new(jsonrpc.Message) }}

func newMessage() *jsonrpc.Message { return messages.Get().(*jsonrpc.Message) }

func freeMessage(m *jsonrpc.Message) {
	*m = jsonrpc.Message{} // also drops the reference to the frame
	messages.Put(m)
}

// take routes the content of a frame. An error means that the connection has ended.
func (r *Reader) take(frame transport.Frame, err error, answer Answerer) error {
	if err == nil && (frame.Err == nil || frame.Err.Status != 0) {
		r.alive.Heard()
	}
	m := newMessage()
	defer freeMessage(m)
	what, err := r.look(m, frame, err)
	switch {
	case err != nil:
		return r.survive(err)
	case what == aBatch:
		return r.runBatch(frame.Data, answer)
	case what == aMessage && !r.c.route(r, m, answer):
		return errHungUp
	}
	return nil
}

// survive handles an error of the reader. If err concerns a single request, only that request fails, and the reader
// continues.
func (r *Reader) survive(err error) error {
	if failed, ok := errors.AsType[*exchangeError](err); ok {
		return r.failed(failed)
	}
	return err
}

// direct routes a frame that is a complete, valid answer to a request. It runs in the goroutine that received the
// frame, which saves a switch to the connection's goroutine. direct returns false for any other frame, and leaves that
// frame to next or take.
func (r *Reader) direct(f transport.Frame) bool { return r.answers(f.Data, f.Request) }

// own routes the frame if it answers the request with this ID, whose caller holds the turn. take handles other frames.
func (r *Reader) own(f transport.Frame, id int64) bool {
	return f.Err == nil && f.Request == 0 && r.answers(f.Data, id)
}

// answers routes a frame that answers the request with this ID. It returns false for any other frame.
func (r *Reader) answers(frame []byte, id int64) bool {
	m := newMessage()
	defer freeMessage(m)
	var err error
	*m, err = jsonrpc.Parse(frame)
	if err != nil || m.Kind != jsonrpc.Result && m.Kind != jsonrpc.Error || m.ID != jsonrpc.IntID(id) {
		return false
	}
	r.alive.Heard()
	r.invalid.Store(0)
	r.c.route(r, m, nil)
	return true
}

// MaxBatchRequests is the maximum number of requests in a batch. A limit is necessary because the client keeps the
// answers until the last one is complete.
const MaxBatchRequests = 1024

var errBatchRequests = fmt.Errorf("the batch has more than %d requests", MaxBatchRequests)

// runBatch routes the messages of a batch. It sends the answers to the batch's requests together, and refuses each
// request above MaxBatchRequests.
func (r *Reader) runBatch(frame []byte, answer Answerer) error {
	elements, err := jsonrpc.Batch(frame)
	if err != nil {
		return r.refused(jsonrpc.ViolationOf(nil, err), frame)
	}
	answers := &batchAnswer{waiting: 1, send: answer}
	defer r.c.InBackground(r.Link, func() { answers.answer(nil, true) }) // sends the answers, unless a handler still runs
	requests := 0
	for element := range elements {
		data := bytes.Clone(element) // a copy, so that a stored message does not keep the whole batch
		m, v := r.parse(data)
		if v == nil && m.Kind == jsonrpc.Request {
			if requests++; requests > MaxBatchRequests {
				v = &jsonrpc.Violation{Reason: jsonrpc.InvalidEnvelope, ID: m.ID, Method: m.Method, Cause: errBatchRequests}
			}
		}
		if v != nil {
			if err := r.refused(v, data); err != nil {
				return err
			}
			continue
		}
		if m.Kind == jsonrpc.Request {
			answers.expect()
		}
		if !r.c.route(r, &m, answers.answer) {
			return errHungUp
		}
	}
	return nil
}

// refused counts an invalid frame, and returns an error if the frame ends the connection. If the frame was meant to
// answer a call, refused fails that call, because no other answer will come.
func (r *Reader) refused(v *jsonrpc.Violation, frame []byte) error {
	streak := r.invalid.Add(1)
	r.c.Violation(v, frame, len(frame), 0)
	if r.Session == nil {
		r.c.note(r.Link, fmt.Errorf("the server sent an invalid message: %w", v))
	}
	r.answerInvalid(v)
	if streak >= InvalidStreak {
		return &failure{event: machine.InvalidStreak, err: fmt.Errorf("%w; %d consecutive messages were invalid; write only "+
			"MCP messages to standard output, and write logs to standard error", v, InvalidStreak)}
	}
	return r.proceed(machine.FrameInvalid, &fact{violation: v})
}

// answerInvalid answers an invalid request if its ID is known and the server may send requests.
func (r *Reader) answerInvalid(v *jsonrpc.Violation) {
	if v.ID.IsZero() || v.Method == "" || v.Response || r.Session == nil || !r.Session.Era.Serves() {
		return
	}
	_ = r.Answer(ErrorFrame(v.ID, &mcp.Error{Code: mcp.CodeInvalidParams, Message: v.Error()}), false)
}

// skipped counts a frame above the limit that the transport skipped.
func (r *Reader) skipped(f *transport.Frame) (*jsonrpc.Violation, error) {
	v := jsonrpc.TooLarge(f.Err.Head, f.Err.Tail)
	v.Cause = f.Err
	if f.Request != 0 {
		v.ID, v.Response = jsonrpc.IntID(f.Request), true
	}
	r.c.Violation(v, f.Err.Head, f.Err.Size, f.Err.Limit)
	return v, r.proceed(machine.FrameSkipped, &fact{violation: v})
}

// proceed reports a frame to the machine. It returns an error if the reader must not read the next frame.
func (r *Reader) proceed(event machine.Event, f *fact) error {
	effects, _ := r.c.step(machine.Input{Event: event, Epoch: r.Link.Epoch}, f)
	if !slices.Contains(effects, machine.Pull) {
		return errHungUp
	}
	return nil
}

// over returns the reason why the connection has ended.
func (r *Reader) over(err error) *failure {
	if r.Link.Ctx.Err() != nil { // the client hung up
		return &failure{event: machine.TransportDown, err: context.Cause(r.Link.Ctx)}
	}
	if tooLarge, ok := errors.AsType[*transport.FrameTooLargeError](err); ok {
		v := jsonrpc.TooLarge(tooLarge.Head, nil)
		v.Cause = tooLarge
		r.c.Violation(v, tooLarge.Head, tooLarge.Size, tooLarge.Limit)
		return &failure{event: machine.FrameTooLarge, err: tooLarge}
	}
	if exit, ok := errors.AsType[*transport.ExitError](err); ok {
		r.c.Telemetry.ProcessExit(instrument.ProcessExit{PID: exit.PID, Code: exit.Code, Signal: exit.Signal,
			InAttempt: r.Session == nil})
	}
	return &failure{event: machine.TransportDown, err: err}
}
