package metadata

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

// site is a server on loopback that serves some paths and records its requests.
type site struct {
	*httptest.Server
	mu    sync.Mutex
	asked []*http.Request
	pages map[string]http.HandlerFunc
}

func newSite(t *testing.T) *site {
	s := &site{pages: map[string]http.HandlerFunc{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked = append(s.asked, r)
	page := s.pages[r.URL.RequestURI()]
	s.mu.Unlock()
	if page == nil {
		http.NotFound(w, r)
		return
	}
	page(w, r)
}

func (s *site) paths() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for _, r := range s.asked {
		all = append(all, r.URL.RequestURI())
	}
	return all
}

func (s *site) page(path string, h http.HandlerFunc) { s.pages[path] = h }

func (s *site) text(path string, status int, body string) {
	s.page(path, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	})
}

func (s *site) json(path string, doc map[string]any) {
	data, err := json.Marshal(doc)
	if err != nil {
		panic(err)
	}
	s.text(path, http.StatusOK, string(data))
}

func (s *site) at(t *testing.T, path string) *url.URL {
	t.Helper()
	u, err := url.Parse(s.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func (s *site) wantPaths(t *testing.T, want ...string) {
	t.Helper()
	if got := s.paths(); !slices.Equal(got, want) {
		t.Errorf("the server was asked for %q, want %q", got, want)
	}
}

// localFetcher returns a Fetcher that may connect to loopback.
func localFetcher(t *testing.T, o Options) *Fetcher {
	t.Helper()
	f := New(o)
	t.Cleanup(f.Close)
	return f.For(&url.URL{Scheme: "http", Host: "localhost"})
}

// resolveAs makes every name resolve to ip during the test.
func resolveAs(t *testing.T, ip string) {
	t.Helper()
	answer := netip.MustParseAddr(ip)
	before := net.DefaultResolver
	t.Cleanup(func() { net.DefaultResolver = before })
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go serveDNS(server, answer) // ends with the connection
		return client, nil
	}}
}

// resolveNothing makes every name unresolvable during the test: with a negative answer, or without an answer. It
// counts the queries.
func resolveNothing(t *testing.T, answers bool) *atomic.Int64 {
	t.Helper()
	before := net.DefaultResolver
	t.Cleanup(func() { net.DefaultResolver = before })
	var asked atomic.Int64 // queries for IPv4 and IPv6 are concurrent
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		asked.Add(1)
		if !answers {
			return nil, errors.New("no name server")
		}
		client, server := net.Pipe()
		go serveDNS(server, netip.Addr{}) // ends with the connection
		return client, nil
	}}
	return &asked
}

// serveDNS answers one query of one connection in the TCP format: a length precedes each message.
func serveDNS(c net.Conn, answer netip.Addr) {
	defer func() { _ = c.Close() }()
	buf := make([]byte, 4096)
	n, err := c.Read(buf)
	if err != nil {
		return
	}
	if n == 2 { // the first read returned only the length
		more, _ := c.Read(buf[2:])
		n += more
	}
	q := buf[2:n]
	end := 12
	for q[end] != 0 {
		end += int(q[end]) + 1
	}
	end += 5 // skip the root label, the type and the class
	kind := q[end-3]
	r := append([]byte{q[0], q[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, q[12:end]...)
	data := answer.AsSlice()
	if data == nil {
		r[3] = 0x83 // NXDOMAIN
	}
	if want := map[int]byte{4: 1, 16: 28}[len(data)]; want == kind {
		r[7] = 1
		r = append(r, 0xc0, 12, 0, kind, 0, 1, 0, 0, 0, 0, 0, byte(len(data)))
		r = append(r, data...)
	}
	_, _ = c.Write(append([]byte{byte(len(r) >> 8), byte(len(r))}, r...))
}
