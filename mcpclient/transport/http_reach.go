package transport

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
)

// reach finds out how far a request has got. net/http knows better than its errors tell; other clients that do not say
// are believed to have reached the server.
type reach struct {
	trace     httptrace.ClientTrace
	asked     atomic.Bool   // for a connection
	got       atomic.Bool   // one
	sent      atomic.Bool   // its body, or part of it
	connected *atomic.Int32 // counts the requests that have one

	plain bool         // the body cannot tell that it was read
	first bytes.Reader // of the first such body
	begun bool         // it is used

	io.ReadCloser // the body of the latest response, which is connected until it is closed
}

// watch returns ctx with which net/http reports to r, which counts in connected.
func (r *reach) watch(ctx context.Context, connected *atomic.Int32) context.Context {
	r.connected = connected
	r.trace.GetConn = func(string) { r.asked.Store(true) }
	r.trace.GotConn = func(httptrace.GotConnInfo) { r.connect() }
	r.trace.WroteHeaders = func() { r.sent.Store(true) }
	return httptrace.WithClientTrace(ctx, &r.trace)
}

// dials reports whether net/http has yet to get a network connection for the request.
func (r *reach) dials() bool { return r.asked.Load() && !r.got.Load() }

func (r *reach) connect() {
	if !r.got.Swap(true) {
		r.connected.Add(1)
	}
}

// leave makes r ready for another request.
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

// over lets go of the body, which has been closed, and with it of the buffers of the network connection. r itself may
// outlive the request by half a minute: the timer of net/http's dialer has its context, and the runtime keeps timers
// that were stopped until they are a quarter of all.
func (r *reach) over() { r.ReadCloser = goneBody{} }

// goneBody is the body of a response after the end of its exchange.
type goneBody struct{}

func (goneBody) Read([]byte) (int, error) { return 0, http.ErrBodyReadAfterClose }
func (goneBody) Close() error             { return nil }
