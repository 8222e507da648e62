// Package serving has what both kinds of clients need to answer requests of a server: [mcpclient.Client], which has
// handlers, and the relay, which passes the requests on.
//
// [mcpclient.Client]: https://pkg.go.dev/github.com/mcpotel/mcpotel/mcpclient#Client
package serving

import (
	"context"
	"errors"
	"sync"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// Requests holds the requests of a server that are being answered. Requests that wait for a person take long, so their
// frames are bounded in bytes as well as in number. The zero value holds none; it is safe for concurrent use.
type Requests struct {
	mu      sync.Mutex
	taken   int             // guarded by mu; places
	size    int             // guarded by mu; of the frames of the requests that have places, in bytes
	running map[ID]*Request // guarded by mu
}

// ID names a request of a server: its ids begin anew with each connection.
type ID struct {
	Link *conn.Link
	ID   jsonrpc.ID
}

// Request is one request of a server.
type Request struct {
	id        ID
	cancel    context.CancelCauseFunc
	cancelled *conn.CancelledByServer // guarded by Requests.mu; by the server, which wants no answer; nil if not
}

// ID returns the id that the server has given the request.
func (r *Request) ID() jsonrpc.ID { return r.id.ID }

// Enter takes a place for a request in a frame of this size, and reports false if there is none: at most so many
// requests have places, with at most room bytes. The caller gives the place back by [Requests.Leave].
func (s *Requests) Enter(size, most, room int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken == most || s.size+size > room {
		return false
	}
	s.taken++
	s.size += size
	return true
}

// Leave gives back the place of a request in a frame of this size.
func (s *Requests) Leave(size int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken--
	s.size -= size
}

// Begin notes that a request is being answered and returns the context of its handler.
func (s *Requests) Begin(ctx context.Context, id ID) (context.Context, *Request) {
	ctx, cancel := context.WithCancelCause(ctx)
	r := &Request{id: id, cancel: cancel}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == nil {
		s.running = map[ID]*Request{}
	}
	s.running[id] = r
	return ctx, r
}

// Cancel ends the context of the handler of one request, with cause.
func (s *Requests) Cancel(id ID, why *conn.CancelledByServer, cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, ok := s.running[id]; ok {
		r.cancelled = why
		r.cancel(cause)
	}
}

// End notes that the handler of r has returned. It returns why the server has cancelled the request, nil if it has not.
func (s *Requests) End(r *Request) *conn.CancelledByServer {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.cancel(nil)
	if s.running[r.id] == r {
		delete(s.running, r.id)
	}
	return r.cancelled
}

// Len returns how many requests are being answered.
func (s *Requests) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.running)
}

// Incoming describes a message of the server for telemetry; in has what the caller knows besides.
func Incoming(method string, p *jsonrpc.Params, peer *instrument.Peer, size int,
	in instrument.Incoming) instrument.Incoming {
	in.Method, in.Peer, in.Size = method, peer, size
	in.Traceparent, _ = jsonrpc.Text(p.Traceparent)
	in.Tracestate, _ = jsonrpc.Text(p.Tracestate)
	in.Baggage, _ = jsonrpc.Text(p.Baggage)
	in.Meta = p.Meta
	return in
}

// Reply sends the answer to a request, which carries err unless that is nil, and ends the operation: as lost if the
// answer is lost.
func Reply(op *instrument.Op, method string, frame []byte, err error, answer conn.Answerer, patient bool) {
	defer op.End(conn.BrokenOff)
	op.Sending()
	lost := answer(frame, patient)
	if lost != nil {
		op.End(instrument.Result{ErrorType: lostAnswer(lost), Err: lost})
		return
	}
	op.Sent(len(frame))
	result := FaultOf(method, err).Result()
	result.Err = err // the server sees a neutral text, the log the error itself
	op.End(result)
}

// lostAnswer is the error.type of a request whose answer could not be sent.
func lostAnswer(err error) string {
	if errors.Is(err, transport.ErrBusy) {
		return names.ErrorTransportBusy
	}
	return names.ErrorConnectionLost
}

// ErrInternal is what the server gets to see of an error that is not meant for it.
var ErrInternal = &mcp.Error{Code: mcp.CodeInternalError, Message: "internal error"}

// FaultOf gives the error of a handler the form that telemetry takes, nil for nil.
func FaultOf(method string, err error) *conn.Fault {
	if err == nil {
		return nil
	}
	e, ok := errors.AsType[*mcp.Error](err)
	if !ok {
		e = ErrInternal
	}
	return &conn.Fault{Kind: conn.KindJSONRPC, Op: method, Server: e}
}
