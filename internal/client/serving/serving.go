// Package serving answers requests of a server, for both kinds of clients: [mcpclient.Client], which has handlers, and
// the relay, which forwards the requests.
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

// Requests holds the requests of a server that are being answered. A request that waits for a person may take minutes,
// so both the number of requests and the bytes of their frames are limited. The zero value is empty and ready to use.
// Requests is safe for concurrent use.
type Requests struct {
	mu      sync.Mutex
	taken   int             // number of places in use; guarded by mu
	size    int             // bytes of the frames of requests with places; guarded by mu
	running map[ID]*Request // guarded by mu
}

// ID identifies a request of a server. JSON-RPC IDs are unique only within one connection.
type ID struct {
	Link *conn.Link
	ID   jsonrpc.ID
}

// Request is one request of a server.
type Request struct {
	id        ID
	cancel    context.CancelCauseFunc
	cancelled *conn.CancelledByServer // set when the server has cancelled the request; guarded by Requests.mu
}

// ID returns the request's JSON-RPC ID.
func (r *Request) ID() jsonrpc.ID { return r.id.ID }

// Enter reserves a place for a request whose frame has size bytes. It returns false if the number of places in use has
// reached limit, or if the frames of all requests would exceed room bytes. After a successful Enter, the caller must
// release the place with [Requests.Leave].
func (s *Requests) Enter(size, limit, room int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken == limit || s.size+size > room {
		return false
	}
	s.taken++
	s.size += size
	return true
}

// Leave releases the place of a request with a frame of size bytes.
func (s *Requests) Leave(size int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken--
	s.size -= size
}

// Begin registers a request that is being answered, and returns the context for its handler.
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

// Cancel cancels the context of a request's handler with cause. why is the server's cancellation.
func (s *Requests) Cancel(id ID, why *conn.CancelledByServer, cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, ok := s.running[id]; ok {
		r.cancelled = why
		r.cancel(cause)
	}
}

// End unregisters r after its handler has returned. If the server has cancelled r, End returns the cancellation, and
// otherwise nil.
func (s *Requests) End(r *Request) *conn.CancelledByServer {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.cancel(nil)
	if s.running[r.id] == r {
		delete(s.running, r.id)
	}
	return r.cancelled
}

// Len returns the number of requests that are being answered.
func (s *Requests) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.running)
}

// Incoming describes a message of the server for the telemetry. in holds the attributes that the caller sets.
func Incoming(method string, p *jsonrpc.Params, peer *instrument.Peer, size int,
	in instrument.Incoming) instrument.Incoming {
	in.Method, in.Peer, in.Size = method, peer, size
	in.Traceparent, _ = jsonrpc.Text(p.Traceparent)
	in.Tracestate, _ = jsonrpc.Text(p.Tracestate)
	in.Baggage, _ = jsonrpc.Text(p.Baggage)
	in.Meta = p.Meta
	return in
}

// Reply sends the answer to a request and ends the operation. The operation ends with err, which may be nil, or with
// the error of sending if the answer could not be sent.
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
	result.Err = err // the log gets the real error; the server gets only a neutral text
	op.End(result)
}

// lostAnswer returns the attribute error.type of a request whose answer could not be sent.
func lostAnswer(err error) string {
	if errors.Is(err, transport.ErrBusy) {
		return names.ErrorTransportBusy
	}
	return names.ErrorConnectionLost
}

// ErrInternal replaces errors that must not be sent to the server.
var ErrInternal = &mcp.Error{Code: mcp.CodeInternalError, Message: "internal error"}

// FaultOf converts the error of a handler to a Fault, for the telemetry. It returns nil if err is nil.
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
