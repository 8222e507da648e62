package mcpotel_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"time"

	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// shaky is a transport. One of its methods fails.
type shaky struct {
	transport.Transport
	w      *world
	method string
	ready  bool        // fails only once the client is ready
	ended  atomic.Bool // the test has ended the first connection
}

func (s *shaky) strike(method string) {
	if method == s.method && (!s.ready || s.w.isReady()) {
		s.w.strike()
	}
}

func (s *shaky) Dial(ctx context.Context, cfg transport.Config) (transport.Conn, error) {
	s.strike("Dial")
	conn, err := s.Transport.Dial(ctx, cfg)
	return &shakyConn{conn, s}, err
}

type shakyConn struct {
	transport.Conn
	s *shaky
}

func (c *shakyConn) Send(ctx context.Context, m transport.Message) error {
	c.s.strike("Send")
	return c.Conn.Send(ctx, m)
}

func (c *shakyConn) Receive(ctx context.Context) (transport.Frame, error) {
	f, err := c.Conn.Receive(ctx)
	c.s.strike("Receive")
	if c.s.method == "Close" && c.s.w.isReady() && c.s.ended.CompareAndSwap(false, true) {
		return transport.Frame{}, io.EOF
	}
	return f, err
}

func (c *shakyConn) Cancel(id int64, notice transport.Message) {
	c.s.strike("Cancel")
	c.Conn.Cancel(id, notice)
}

func (c *shakyConn) Info() transport.Info {
	c.s.strike("Info")
	return c.Conn.Info()
}

func (c *shakyConn) Close(ctx context.Context) error {
	defer c.s.strike("Close")
	return c.Conn.Close(ctx)
}

// shakes returns a case for one method of a transport.
func shakes(method string, ready bool, e ends, do func(w *world) error) failing {
	name, callback := method+" of a handshake", "transport.Conn."+method
	if ready {
		name = method + " of a session"
	}
	if method == "Dial" {
		callback = "transport.Transport.Dial"
	}
	return failing{name: name, callbacks: []string{callback}, ends: e, do: do, set: func(w *world) {
		speaks(w)
		_ = mcpserver.AddTool(w.server, &mcp.Tool{Name: "wait"}, func(ctx context.Context, _ struct{}) (struct{}, error) {
			<-ctx.Done()
			return struct{}{}, ctx.Err()
		})
		w.transport = func(tr transport.Transport) transport.Transport {
			return &shaky{Transport: tr, w: w, method: method, ready: ready}
		}
	}}
}

func ping(w *world) error {
	if err := w.client.WaitForReady(w.ctx()); err != nil {
		return err
	}
	return w.client.Ping(w.ctx())
}

func leave(w *world) error {
	if err := w.client.WaitForReady(w.ctx()); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(w.ctx(), time.Second)
	defer cancel()
	if _, err := w.client.CallTool(ctx, "wait", struct{}{}); err == nil {
		return errOops
	}
	return nil
}

func inspected(w *world) error {
	if err := w.client.WaitForReady(w.ctx()); err != nil {
		return err
	}
	_ = w.client.Inspect()
	return nil
}

// inProcess passes each HTTP request to a handler in the same process, as if a server of net/http had received it.
type inProcess struct {
	h      http.Handler
	strike func()
}

func (p inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	p.strike()
	w := httptest.NewRecorder()
	if failure := usercode.Apart(func() { p.h.ServeHTTP(w, r) }); failure != nil && w.Body.Len() == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	return w.Result(), nil
}

// overHTTP makes the client use HTTP, with a handler that o configures.
func overHTTP(w *world, o *mcpserver.HTTPOptions, strike func(), auth transport.Authorizer) {
	h := w.server.HTTPHandler(o)
	w.around = func(h http.Handler) http.Handler { return h }
	w.transport = func(transport.Transport) transport.Transport {
		return &transport.HTTP{URL: "http://127.0.0.1", Client: &http.Client{Transport: inProcess{w.around(h), strike}},
			Authorizer: auth, NoListening: true}
	}
	w.closing = append(w.closing, func() error { return h.Shutdown(w.ctx()) })
}

func nothing() {}

// authorizer calls a function in each of its methods.
type authorizer struct{ authorize, review func() }

func (a authorizer) Authorize(*http.Request) error { a.authorize(); return nil }
func (a authorizer) Review(*http.Response, int) (again bool, err error) {
	a.review()
	return false, nil
}

var transportCases = []failing{
	shakes("Dial", false, goesOn, nil),
	shakes("Send", false, goesOn, nil),
	shakes("Receive", false, goesOn, nil),
	shakes("Receive", true, fails, ping),
	shakes("Send", true, likewise, ping),
	shakes("Cancel", true, likewise, leave),
	shakes("Info", true, likewise, inspected),
	shakes("Close", false, fails, ping),
	{name: "server in memory", callbacks: []string{"transport.InMemory accept"}, set: func(w *world) {
		w.wrap = func(c mcpserver.Conn) mcpserver.Conn { w.strike(); return c }
	}},
	{name: "HTTP client", callbacks: []string{"transport.HTTP.Client"},
		set: func(w *world) { overHTTP(w, nil, w.strike, nil) }},
	{name: "HTTP client in a session", callbacks: []string{"transport.HTTP.Client"}, ends: fails, do: ping,
		set: func(w *world) {
			overHTTP(w, nil, whenReady(w), nil)
		}},
	{name: "authorizer", callbacks: []string{"transport.Authorizer.Authorize"}, ends: fails, do: ping,
		set: func(w *world) {
			overHTTP(w, nil, nothing, authorizer{whenReady(w), nothing})
		}},
	{name: "review of an authorizer", callbacks: []string{"transport.Authorizer.Review"}, ends: fails, do: ping,
		set: func(w *world) {
			overHTTP(w, nil, nothing, authorizer{nothing, whenReady(w)})
		}},
}

// whenReady returns a function that fails only once the client is ready.
func whenReady(w *world) func() {
	return func() {
		if w.isReady() {
			w.strike()
		}
	}
}
