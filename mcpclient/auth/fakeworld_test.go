package auth_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mcpotel/mcpotel/mcpclient/auth"
)

// world is a network of servers by host and port. It needs no sockets, so that it works in a synctest bubble. All
// hosts are loopback addresses, which need no name resolution.
type world struct {
	t  *testing.T
	mu sync.Mutex // guards the fields below

	hosts map[string]http.Handler
	down  map[string]bool // unreachable hosts, or paths of hosts
	seen  []*seen
}

// seen is a received request.
type seen struct {
	host, method, path string
	header             http.Header
	form               url.Values // query, or form in the body
	body               string
}

const (
	mcpHost  = "127.0.0.1:1000"
	asHost   = "127.0.0.1:2000"
	as2Host  = "127.0.0.1:3000"
	idpHost  = "127.0.0.1:4000"
	mcpURL   = "http://" + mcpHost + "/mcp"
	redirect = "http://127.0.0.1:5000/callback"
)

func newWorld(t *testing.T) *world {
	return &world{t: t, hosts: map[string]http.Handler{}, down: map[string]bool{}}
}

func (w *world) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	in := req.Clone(req.Context())
	u, err := url.Parse(req.URL.String())
	if err != nil {
		return nil, err
	}
	in.URL = u
	s := &seen{host: req.URL.Host, method: req.Method, path: u.Path, header: req.Header.Clone(), form: req.URL.Query()}
	if req.Body != nil {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		_ = req.Body.Close()
		s.body = string(body)
		if strings.HasPrefix(req.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
			s.form, _ = url.ParseQuery(s.body)
		}
		in.Body = io.NopCloser(strings.NewReader(s.body))
	}
	w.mu.Lock()
	h, down := w.hosts[req.URL.Host], w.down[req.URL.Host] || w.down[req.URL.Host+u.Path]
	w.seen = append(w.seen, s)
	w.mu.Unlock()
	if h == nil || down {
		return nil, errors.New("connection refused")
	}
	in.Host, in.RequestURI = req.URL.Host, req.URL.RequestURI()
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, in)
	resp := rec.Result()
	resp.Request = req
	return resp, nil
}

// requests returns the requests for a path, oldest first.
func (w *world) requests(host, path string) []*seen {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(w.seen), func(s *seen) bool { return s.host != host || s.path != path })
}

// only returns the request for a path, and fails the test unless there is exactly one.
func (w *world) only(host, path string) *seen {
	w.t.Helper()
	all := w.requests(host, path)
	if len(all) != 1 {
		w.t.Fatalf("want one request to %s%s, got %d", host, path, len(all))
	}
	return all[0]
}

func (w *world) setDown(host string, down bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down[host] = down
}

// call sends one message as a transport does. It sends the message and passes the response to Review, at most five
// times.
func (w *world) call(ctx context.Context, a *auth.Authorizer, method string) (status int, err error) {
	for attempt := 1; attempt <= 5; attempt++ {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, mcpURL, strings.NewReader(method))
		if err != nil {
			return 0, err
		}
		if err := a.Authorize(req); err != nil {
			return 0, err
		}
		resp, err := w.RoundTrip(req)
		if err != nil {
			return 0, err
		}
		again, err := a.Review(resp, attempt)
		if err != nil || !again {
			return resp.StatusCode, err
		}
	}
	return 0, errors.New("sent five times")
}

// person is a user at a browser.
type person struct {
	w *world

	mu       sync.Mutex // guards the fields below
	asked    []auth.InteractionRequest
	context  context.Context // context of the latest request
	uri      string          // redirect URI; empty: redirect
	wait     chan struct{}
	declines error
	edit     func(*auth.Redirect)
}

func (p *person) RedirectURI(context.Context) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.uri == "" {
		return redirect, nil
	}
	return p.uri, nil
}

func (p *person) Authorize(ctx context.Context, r auth.InteractionRequest) (auth.Redirect, error) {
	p.mu.Lock()
	p.asked, p.context = append(p.asked, r), ctx
	wait, declines, edit := p.wait, p.declines, p.edit
	p.mu.Unlock()
	if wait != nil {
		select {
		case <-wait:
		case <-ctx.Done():
			return auth.Redirect{}, context.Cause(ctx)
		}
	}
	if declines != nil {
		return auth.Redirect{}, declines
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.URL, nil)
	if err != nil {
		return auth.Redirect{}, err
	}
	resp, err := p.w.RoundTrip(req)
	if err != nil {
		return auth.Redirect{}, err
	}
	back, err := resp.Location()
	if err != nil {
		return auth.Redirect{}, err
	}
	q := back.Query()
	answer := auth.Redirect{
		Code: q.Get("code"), State: q.Get("state"), Issuer: q.Get("iss"), HasIssuer: q.Has("iss"),
		Error: q.Get("error"), ErrorDescription: q.Get("error_description"),
	}
	if edit != nil {
		edit(&answer)
	}
	return answer, nil
}

// times returns the number of prompts.
func (p *person) times() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.asked)
}

// bench is a world with an MCP server, its authorization server and a person.
type bench struct {
	*world
	mcp    *mcpServer
	as     *authServer
	person *person
	other  *authServer // another authorization server, to which the MCP server may move
}

func newBench(t *testing.T) *bench {
	w := newWorld(t)
	b := &bench{world: w, as: newAuthServer(w, asHost), person: &person{w: w}}
	b.mcp = newMCPServer(w, b.as)
	return b
}

// authorizer returns an Authorizer for this world.
func (b *bench) authorizer(change ...func(*auth.Options)) *auth.Authorizer {
	b.t.Helper()
	o := auth.Options{Interact: b.person, HTTPClient: &http.Client{Transport: b.world}}
	for _, c := range change {
		c(&o)
	}
	if o.Grant != nil {
		o.Interact = nil
	}
	a, err := auth.New(&o)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = a.Close() })
	return a
}

// ok sends a message and fails the test unless it succeeds.
func (b *bench) ok(a *auth.Authorizer, method string) {
	b.t.Helper()
	status, err := b.call(b.t.Context(), a, method)
	if err != nil || status != http.StatusOK {
		b.t.Fatalf("%s: want HTTP 200, got %d, %v", method, status, err)
	}
}

// fails sends a message and fails the test unless it returns an *auth.Error.
func (b *bench) fails(a *auth.Authorizer, method string) *auth.Error {
	b.t.Helper()
	status, err := b.call(b.t.Context(), a, method)
	e, ok := errors.AsType[*auth.Error](err)
	if !ok {
		b.t.Fatalf("%s: want an *auth.Error, got HTTP %d, %v", method, status, err)
	}
	return e
}
