package mcpproxy

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/mcpotel/mcpotel/internal/broadcast"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// line connects clients to the processes of a server, in memory. A test can delay or lose the messages of the server.
type line struct {
	http    bool
	options []mcpserver.HTTPOptions // options of each process

	mu       sync.Mutex
	ends     []frontEnd               // guarded by mu; one for each process
	handlers []*mcpserver.HTTPHandler // guarded by mu; one for each process, over HTTP
	down     bool                     // guarded by mu; the server is unreachable
	flows    []*flow                  // guarded by mu; open streams
	serving  sync.WaitGroup
}

// serve sets the processes that clients reach.
func (l *line) serve(ends ...frontEnd) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ends, l.handlers = ends, nil
	if l.http {
		for i, end := range ends {
			l.handlers = append(l.handlers, end.HTTPHandler(&l.options[i]))
		}
	}
}

// stop stops the processes like a crash: all streams break, and no client can connect.
func (l *line) stop() {
	l.mu.Lock()
	l.down = true
	flows, handlers := slices.Clone(l.flows), l.handlers
	l.mu.Unlock()
	for _, f := range flows {
		f.end(io.ErrUnexpectedEOF)
	}
	for _, h := range handlers {
		_ = h.Shutdown(context.Background())
	}
	l.serving.Wait()
}

// transport returns the transport for clients.
func (l *line) transport() transport.Transport {
	if l.http {
		return &transport.HTTP{URL: "http://localhost/mcp", Client: &http.Client{Transport: l}}
	}
	return transport.InMemory(l.accept)
}

// each calls f for each open stream that carries changes.
func (l *line) each(f func(*flow)) {
	l.mu.Lock()
	flows := slices.Clone(l.flows)
	l.mu.Unlock()
	for _, one := range flows {
		if one.changes {
			f(one)
		}
	}
}

// open returns a new stream, or nil if the server is unreachable. lost is called when the stream ends.
func (l *line) open(changes bool, lost func()) *flow {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.down {
		return nil
	}
	f := &flow{changes: changes, lost: lost}
	l.flows = append(l.flows, f)
	l.serving.Add(1)
	return f
}

// over removes a stream after its server has returned.
func (l *line) over(f *flow) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flows = slices.DeleteFunc(l.flows, func(other *flow) bool { return other == f })
	l.serving.Done()
}

// accept serves one client on a stream.
func (l *line) accept(ctx context.Context, p *transport.Peer) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	f := l.open(true, func() { _ = p.Close() })
	if f == nil {
		return
	}
	defer l.over(f)
	var pump sync.WaitGroup
	defer pump.Wait()
	pump.Go(func() { // the goroutine ends with the stream
		for {
			frame, err := f.next(ctx)
			if err != nil || p.Send(ctx, frame) != nil {
				_ = p.Close()
				return
			}
		}
	})
	l.mu.Lock()
	end := l.ends[0]
	l.mu.Unlock()
	_ = end.Serve(ctx, &frames{p, f})
	f.end(io.EOF)
}

// frames is the server's side of a stream.
type frames struct {
	*transport.Peer
	f *flow
}

func (s *frames) Send(_ context.Context, frame []byte) error { return s.f.add(frame) }

func (s *frames) Receive(ctx context.Context) ([]byte, error) {
	frame, err := s.Peer.Receive(ctx)
	var m struct {
		ID     json.RawMessage
		Method string
	}
	if err == nil && json.Unmarshal(frame, &m) == nil && m.Method == mcp.MethodSubscriptionsListen {
		s.f.listens(m.ID)
	}
	return frame, err
}

// RoundTrip serves one HTTP request. The last process serves the streams with changes, and the first serves everything
// else.
func (l *line) RoundTrip(r *http.Request) (*http.Response, error) {
	defer func() {
		if r.Body != nil {
			_ = r.Body.Close()
		}
	}()
	changes := r.Method == http.MethodGet || r.Header.Get("Mcp-Method") == mcp.MethodSubscriptionsListen
	ctx, cancel := context.WithCancel(r.Context())
	f := l.open(changes, cancel)
	if f == nil {
		cancel()
		return nil, syscall.ECONNREFUSED
	}
	l.mu.Lock()
	h := l.handlers[0]
	if changes {
		h = l.handlers[len(l.handlers)-1]
	}
	l.mu.Unlock()
	var sent []byte
	if r.Body != nil {
		var err error
		if sent, err = io.ReadAll(r.Body); err != nil {
			l.over(f)
			cancel()
			return nil, err
		}
	}
	in := httptest.NewRequestWithContext(ctx, r.Method, r.URL.String(), bytes.NewReader(sent))
	in.Header = r.Header.Clone()
	w := &response{f: f, header: http.Header{}, status: make(chan int, 1)}
	go func() { // the goroutine ends with the handler
		defer l.over(f)
		h.ServeHTTP(w, in)
		w.WriteHeader(http.StatusOK)
		f.end(io.EOF)
	}()
	status := 0
	select {
	case status = <-w.status:
	case <-ctx.Done():
		select {
		case status = <-w.status: // the response has ended
		default:
		}
	}
	if status > 0 {
		return &http.Response{StatusCode: status, Header: w.sent, Request: r, ProtoMajor: 1, ProtoMinor: 1,
			ContentLength: -1, Body: &body{f: f, ctx: r.Context()}}, nil
	}
	f.end(context.Cause(ctx))
	return nil, cmp.Or(context.Cause(r.Context()), error(syscall.ECONNRESET))
}

// response is the response writer of a handler.
type response struct {
	f      *flow
	header http.Header
	sent   http.Header
	status chan int
	once   sync.Once
}

func (w *response) Header() http.Header { return w.header }

func (w *response) WriteHeader(status int) {
	w.once.Do(func() {
		w.sent = w.header.Clone()
		w.status <- status
	})
}

func (w *response) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return len(b), w.f.add(b)
}

func (w *response) Flush() {}

func (w *response) SetWriteDeadline(time.Time) error { return nil }
func (w *response) SetReadDeadline(time.Time) error  { return nil }

// body is the client's side of a response.
type body struct {
	f    *flow
	ctx  context.Context
	rest []byte
}

func (b *body) Read(p []byte) (n int, err error) {
	if len(b.rest) == 0 {
		if b.rest, err = b.f.next(b.ctx); err != nil {
			return 0, err
		}
	}
	n = copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

func (b *body) Close() error {
	b.f.end(errors.New("the client has closed the body"))
	return nil
}

// flow is a stream of messages from the server.
type flow struct {
	changes bool   // carries changes of lists and resources
	lost    func() // called at the end of the stream

	mu     sync.Mutex
	more   broadcast.Signal
	chunks [][]byte          // guarded by mu; sent but not received yet
	held   bool              // guarded by mu; nothing is delivered
	ended  error             // guarded by mu; error after the last chunk
	open   []json.RawMessage // guarded by mu; ids of subscriptions/listen on a stream for all requests
}

func (f *flow) add(chunk []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended != nil {
		return f.ended
	}
	f.chunks = append(f.chunks, bytes.Clone(chunk))
	f.more.Send()
	return nil
}

// next returns the next chunk.
func (f *flow) next(ctx context.Context) (chunk []byte, err error) {
	err = f.more.Await(ctx, &f.mu, func() bool {
		switch {
		case f.held:
			return false
		case len(f.chunks) > 0:
			chunk, f.chunks = f.chunks[0], f.chunks[1:]
			return true
		}
		return f.ended != nil
	})
	if err == nil && chunk == nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		return nil, f.ended
	}
	return chunk, err
}

// hold stops the delivery of the server's messages, or continues it.
func (f *flow) hold(held bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.held = held
	f.more.Send()
}

// end ends the stream after its chunks. Chunks that are held are lost.
func (f *flow) end(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended == nil {
		f.ended = err
		defer f.lost()
	}
	if f.held {
		f.held, f.chunks = false, nil
	}
	f.more.Send()
}

func (f *flow) listens(id json.RawMessage) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open = append(f.open, id)
}

// cancel drops the held chunks, and ends the subscriptions of a stream that serves all requests.
func (f *flow) cancel() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.held, f.chunks = false, nil
	for _, id := range f.open {
		f.chunks = append(f.chunks, fmt.Appendf(nil,
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, id))
	}
	f.open = nil
	f.more.Send()
}
