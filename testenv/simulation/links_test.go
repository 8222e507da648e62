package simulation

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// link is the transport of a network connection.
type link string

const (
	stream   link = "stream" // like standard input and output
	overHTTP link = "http"
	overH2   link = "http/2"
	overSSE  link = "sse" // HTTP+SSE, of 2024-11-05
)

// links returns the possible links of a revision.
func links(v mcp.Version) []link {
	if v == mcp.Version20241105 {
		return []link{stream, overSSE}
	}
	return []link{stream, overHTTP, overH2}
}

// protocols returns the HTTP versions of the link.
func (l link) protocols() *http.Protocols {
	var p http.Protocols
	p.SetHTTP1(l != overH2)
	p.SetUnencryptedHTTP2(l == overH2)
	return &p
}

// end is the server's end of a network.
type end struct {
	*network
	link link
	site *site // proxy in front of the HTTP handlers; nil for a stream
	stop func()
}

// serve serves streams or HTTP, depending on the link, until stop.
func serve(n *network, l link, s *site, stream func(context.Context, mcpserver.Conn) error) *end {
	e := &end{network: n, link: l, site: s}
	var running sync.WaitGroup
	if l != "stream" {
		web := &http.Server{Handler: s, Protocols: l.protocols()}
		running.Go(func() { _ = web.Serve(n) })
		e.stop = func() {
			_ = web.Close()
			running.Wait()
			n.cut()
			n.running.Wait()
		}
		return e
	}
	running.Go(func() {
		for c, err := n.Accept(); err == nil; c, err = n.Accept() {
			running.Go(func() { _ = stream(context.Background(), mcpserver.NewStreamConn(c, c, 0)) })
		}
	})
	e.stop = func() {
		_ = n.Close()
		n.cut()
		running.Wait()
		n.running.Wait()
	}
	return e
}

// transport returns a transport to the end. If own is set, the transport has its own HTTP client, which release closes.
func (e *end) transport(own bool) (t transport.Transport, release func()) {
	if e.link == stream {
		return transport.StreamsFrom(transport.Network{}, e.dial), func() {}
	}
	h := &transport.HTTP{URL: "http://simulation.test/mcp"}
	if e.link == overSSE {
		h.Mode = transport.ModeSSE
	}
	if !own {
		return h, func() {}
	}
	pool := e.pool()
	h.Client = &http.Client{Transport: pool}
	return h, pool.CloseIdleConnections
}

// pool returns a net/http transport with connections to the end.
func (e *end) pool() *http.Transport {
	return &http.Transport{
		Protocols: e.link.protocols(),
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			c, err := e.dial(ctx)
			if err != nil {
				return nil, err
			}
			return c.(net.Conn), nil
		},
	}
}

// site is a proxy in front of HTTP handlers. It alternates between them, and fails as faulty proxies do.
type site struct {
	mu       sync.Mutex
	draw     *rand.Rand // mu guards this and all fields below
	handlers []http.Handler
	turn     int
	trouble  float64 // probability that a request fails
}

// next returns the next handler, and whether the request fails before or after the handler runs.
func (s *site) next() (h http.Handler, before, behind bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turn++
	h = s.handlers[s.turn%len(s.handlers)]
	switch p := s.draw.Float64() / 2; {
	case p < s.trouble/2:
		before = true
	case p < s.trouble:
		behind = true
	}
	return h, before, behind
}

// replace replaces a handler.
func (s *site) replace(i int, h http.Handler) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handlers[i] = h
}

// setTrouble sets the probability that a request fails.
func (s *site) setTrouble(p float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trouble = p
}

// ServeHTTP passes a request on, or answers 502 before or after the handler.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h, before, behind := s.next()
	if !before && !behind {
		h.ServeHTTP(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if behind && bytes.Contains(body, []byte(`"tools/call"`)) {
		r.Body = io.NopCloser(bytes.NewReader(body))
		h.ServeHTTP(httptest.NewRecorder(), r)
	}
	time.Sleep(time.Millisecond)
	http.Error(w, "bad gateway", http.StatusBadGateway)
}
