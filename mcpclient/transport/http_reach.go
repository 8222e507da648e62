package transport

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
)

// reach records the progress of a request, as httptrace reports it, which is more precise than the errors of
// net/http. A request through a RoundTripper that does not report counts as having reached the server.
type reach struct {
	trace     httptrace.ClientTrace
	asked     atomic.Bool   // net/http has asked for a connection
	got       atomic.Bool   // net/http has got a connection
	sent      atomic.Bool   // the body was sent, or part of it
	connected *atomic.Int32 // counts the requests that have a connection

	plain bool         // the body has a type that net/http knows, and does not record that it was read
	first bytes.Reader // reader of the first plain body
	begun bool         // first is in use

	io.ReadCloser // body of the latest response; the request counts as connected until it is closed
}

// watch returns a copy of ctx with which net/http reports to r. While the request has a network connection, r counts it
// in connected.
func (r *reach) watch(ctx context.Context, connected *atomic.Int32) context.Context {
	r.connected = connected
	r.trace.GetConn = func(string) { r.asked.Store(true) }
	r.trace.GotConn = func(httptrace.GotConnInfo) { r.connect() }
	r.trace.WroteHeaders = func() { r.sent.Store(true) }
	return httptrace.WithClientTrace(ctx, &r.trace)
}

// dials reports whether net/http is still dialling for the request.
func (r *reach) dials() bool { return r.asked.Load() && !r.got.Load() }

func (r *reach) connect() {
	if !r.got.Swap(true) {
		r.connected.Add(1)
	}
}

// leave prepares r for another request.
func (r *reach) leave() {
	r.asked.Store(false)
	if r.got.Swap(false) {
		r.connected.Add(-1)
	}
}

func (r *reach) Close() error {
	r.leave()
	return r.ReadCloser.Close()
}

// over releases the closed body, and with it the buffers of the network connection. r itself may outlive the
// request by half a minute: the timer of net/http's dialer holds the context of the request, and the runtime keeps
// stopped timers until they are a quarter of all timers.
func (r *reach) over() { r.ReadCloser = closedBody{} }

// closedBody replaces the body of a response after the end of its exchange.
type closedBody struct{}

func (closedBody) Read([]byte) (int, error) { return 0, http.ErrBodyReadAfterClose }
func (closedBody) Close() error             { return nil }
