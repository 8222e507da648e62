package mcpserver_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mcpotel/mcpotel/internal/sse"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// web is a server over HTTP in memory, and a client of it. It works in a bubble of testing/synctest.
type web struct {
	t       testing.TB
	handler *mcpserver.HTTPHandler
	client  *http.Client
	end     func()
}

// memoryListener accepts connections that are pipes in memory.
type memoryListener struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (l *memoryListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *memoryListener) Close() error {
	close(l.closed)
	return nil
}

func (l *memoryListener) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "unix"} }

func (l *memoryListener) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// serveWeb serves s over HTTP until the test ends, or end is called.
func serveWeb(t testing.TB, s *mcpserver.Server, o *mcpserver.HTTPOptions) *web {
	t.Helper()
	h := s.HTTPHandler(o)
	return serveHandler(t, h, h)
}

// serveHandler serves h, which wraps inner.
func serveHandler(t testing.TB, h http.Handler, inner *mcpserver.HTTPHandler) *web {
	t.Helper()
	return serveProtocols(t, h, inner, nil)
}

// serveProtocols serves h, which wraps inner, over these protocols.
func serveProtocols(t testing.TB, h http.Handler, inner *mcpserver.HTTPHandler, protocols *http.Protocols) *web {
	t.Helper()
	l := &memoryListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	srv := &http.Server{Handler: h, Protocols: protocols}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(l) }()
	tr := &http.Transport{DialContext: l.dial, Protocols: protocols}
	w := &web{t: t, handler: inner, client: &http.Client{Transport: tr}}
	var ending atomic.Bool
	ended := make(chan struct{})
	w.end = func() {
		t.Helper()
		if ending.Swap(true) {
			<-ended
			return
		}
		defer close(ended)
		if err := inner.Shutdown(context.Background()); err != nil {
			t.Errorf("Shutdown returned %v, want nil", err)
		}
		tr.CloseIdleConnections()
		if err := srv.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("Serve returned %v, want %v", err, http.ErrServerClosed)
		}
	}
	t.Cleanup(w.end)
	return w
}

// dial returns a connection to the server.
func (w *web) dial() net.Conn {
	w.t.Helper()
	conn, err := w.client.Transport.(*http.Transport).DialContext(w.t.Context(), "", "")
	if err != nil {
		w.t.Fatal(err)
	}
	return conn
}

// page is an HTTP response whose body has been read to its end.
type page struct {
	status int
	header http.Header
	body   string
}

// request returns an HTTP request with the usual headers. headers are names and values of additional headers; an empty
// value removes a header.
func request(t testing.TB, ctx context.Context, method, body string, headers ...string) *http.Request {
	t.Helper()
	target := "http://localhost/mcp"
	if len(headers)%2 == 1 {
		target, headers = headers[0], headers[1:]
	}
	r, err := http.NewRequestWithContext(ctx, method, target, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
	} else {
		r.Header.Set("Accept", "text/event-stream")
	}
	for i := 0; i < len(headers); i += 2 {
		switch {
		case headers[i] == "Host":
			r.Host = headers[i+1]
		case headers[i+1] == "":
			r.Header.Del(headers[i])
		default:
			r.Header.Add(headers[i], headers[i+1])
			if one := r.Header.Values(headers[i]); headers[i] == "Accept" || headers[i] == "Content-Type" {
				r.Header.Set(headers[i], one[len(one)-1])
			}
		}
	}
	return r
}

// do sends a request and reads the response.
func (w *web) do(method, body string, headers ...string) page {
	w.t.Helper()
	resp, err := w.client.Do(request(w.t, context.Background(), method, body, headers...))
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatalf("the response broke off: %v", err)
	}
	return page{resp.StatusCode, resp.Header, string(text)}
}

func (w *web) post(body string, headers ...string) page {
	w.t.Helper()
	return w.do(http.MethodPost, body, headers...)
}

// open initializes a session of a revision and returns its id.
func (w *web) open(version string) string {
	w.t.Helper()
	p := w.post(initializeAs(version))
	id := p.header.Get("Mcp-Session-Id")
	if p.status != http.StatusOK || id == "" {
		w.t.Fatalf("initialize got %d with session %q: %s", p.status, id, p.body)
	}
	if p := w.post(initialized, "Mcp-Session-Id", id); p.status != http.StatusAccepted {
		w.t.Fatalf("notifications/initialized got %d: %s", p.status, p.body)
	}
	return id
}

func initializeAs(version string) string {
	return strings.Replace(initialize, "2025-11-25", version, 1)
}

// events is a response that is a stream.
type events struct {
	t      testing.TB
	resp   *http.Response
	reader *sse.Reader
	leave  context.CancelFunc
	primed string // the id of a GET stream's first event, if that event is empty
}

// stream sends a request and returns the response, which must be a stream.
func (w *web) stream(method, body string, headers ...string) *events {
	w.t.Helper()
	ctx, leave := context.WithCancel(context.Background())
	w.t.Cleanup(leave)
	resp, err := w.client.Do(request(w.t, ctx, method, body, headers...))
	if err != nil {
		w.t.Fatal(err)
	}
	if got := resp.Header.Get("Content-Type"); resp.StatusCode != http.StatusOK || got != "text/event-stream" {
		text, _ := io.ReadAll(resp.Body)
		w.t.Fatalf("the response is %d, %s, want a stream: %s", resp.StatusCode, got, text)
	}
	return &events{t: w.t, resp: resp, reader: sse.NewReader(resp.Body, 1<<20, false), leave: leave}
}

// read returns the next event. It skips an empty first event of a GET stream.
func (e *events) read() (sse.Event, error) {
	event, err := e.reader.Next()
	if err == nil && e.resp.Request.Method == http.MethodGet && e.primed == "" && event.HasID && len(event.Data) == 0 {
		e.primed = event.ID
		return e.reader.Next()
	}
	return event, err
}

// next returns the next event. If there is none, the test fails.
func (e *events) next() sse.Event {
	e.t.Helper()
	event, err := e.read()
	if err != nil {
		e.t.Fatalf("the stream ended with %v, want another event", err)
	}
	return event
}

// message returns the message in the next event.
func (e *events) message() message {
	e.t.Helper()
	return decoded(e.t, string(e.next().Data))
}

// over checks that the stream ends without another message.
func (e *events) over() {
	e.t.Helper()
	if event, err := e.read(); err != io.EOF {
		e.t.Errorf("the stream goes on with %q, %v, want its end", event.Data, err)
	}
	_ = e.resp.Body.Close()
}
