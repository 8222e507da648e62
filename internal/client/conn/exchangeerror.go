package conn

import (
	"errors"

	"github.com/mcpotel/mcpotel/internal/client/machine"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// exchangeError reports that one request of a connection gets no answer. err is the reason.
type exchangeError struct {
	request int64 // 0 for a message other than a request
	err     *transport.RequestError
}

func (e *exchangeError) Error() string { return e.err.Error() }
func (e *exchangeError) Unwrap() error { return e.err }

// inHandshake converts the failure of a handshake request to the failure of the attempt to connect.
func (e *exchangeError) inHandshake() *failure {
	f := &failure{event: machine.NegotiationFailed, err: e.err}
	switch e.err.Reason {
	case transport.ReasonUnauthorized:
		f.err = tell(ErrUnauthorized, "%w", e.err)
		if transport.Permanent(e.err) {
			f.event = machine.Refused
		}
	case transport.ReasonBusy:
		f.wait = e.err.RetryAfter
	case transport.ReasonUnreachable:
		f.event = machine.TransportDown
	}
	return f
}

// suggestsLegacy reports whether the failure is typical of an HTTP server that does not know the probed method: an HTTP
// status, a page of HTML, or no answer at all.
func (f *failure) suggestsLegacy() bool {
	e, ok := errors.AsType[*transport.RequestError](f.err)
	if !ok {
		return false
	}
	switch e.Reason {
	case transport.ReasonUnauthorized, transport.ReasonBusy, transport.ReasonUnreachable:
		return false
	}
	return true
}

// refused reports whether the server itself refused the probe. Other failures may be temporary.
func (f *failure) refused() bool {
	status := HTTPStatus(f.err)
	return status >= 400 && status < 500
}

// unreachable reports whether the client could not connect, which reveals nothing about the server.
func (f *failure) unreachable() bool {
	e, ok := errors.AsType[*transport.RequestError](f.err)
	return ok && e.Reason == transport.ReasonUnreachable
}

// failed handles the failure of one request. The connection stays open, unless the server has forgotten the session. If
// failed returns an error, the reader stops.
func (r *Reader) failed(e *exchangeError) error {
	switch e.err.Reason {
	case transport.ReasonBusy:
		r.c.putOff(e.request, e.err)
		return nil
	case transport.ReasonMalformed:
		if r.c.awaits(e.request) { // a server need not answer a request that was given up
			r.c.Violation(&jsonrpc.Violation{Reason: jsonrpc.NoAnswer, Cause: e.err}, nil, 0, 0)
		}
	}
	if e.err.Reason == transport.ReasonSessionGone { // the session ends before the caller gets the error
		return &failure{event: machine.SessionGone, err: e.err, request: e.request, failed: e.err}
	}
	return r.proceed(machine.RequestFailed, &fact{request: e.request, failed: e.err})
}

// awaits reports whether the request with this ID is in flight. The ID 0 belongs to a message other than a request; it
// always counts as in flight, because no caller can have given it up.
func (c *Conn) awaits(id int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.calls.Find(id)
	return ok || id == 0
}

// putOff schedules a retry of a call that the server has refused for now.
func (c *Conn) putOff(id int64, e *transport.RequestError) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cl, ok := c.calls.Find(id); ok {
		select {
		case cl.putOff <- e:
		default: // the call has already been notified
		}
		if cl.pending != nil {
			cl.resume()
		}
	}
}

// adopt assigns an invalid response, or an error without an ID, to the request on whose stream it arrived. A server
// that cannot determine the request of an error sends the ID null. A response with the ID of another request is a
// violation.
func adopt(m *jsonrpc.Message, v *jsonrpc.Violation, request int64) *jsonrpc.Violation {
	own := jsonrpc.IntID(request)
	switch {
	case v != nil && v.Response:
		v.ID = own
		return v
	case v != nil || m.Kind != jsonrpc.Result && m.Kind != jsonrpc.Error || m.ID == own:
		return v
	case m.Kind == jsonrpc.Error && m.ID.IsZero():
		m.ID = own
		return nil
	}
	return &jsonrpc.Violation{
		Reason: jsonrpc.ForeignAnswer, ID: own, Response: true,
		Cause: errors.New("the answer is for request " + m.ID.String()),
	}
}
