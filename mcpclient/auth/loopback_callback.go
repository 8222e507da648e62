package auth

import (
	"crypto/subtle"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/hostname"
)

// callbackTimeout is how long a browser may take for its request, and for the page.
const callbackTimeout = 10 * time.Second

// callback listens for one redirect.
type callback struct {
	path     string
	server   http.Server
	serving  sync.WaitGroup
	leave    func()
	forget   func() bool   // ends the wait for the end of RedirectURI's context
	redirect chan Redirect // of one element: the handler does not wait for Authorize

	mu       sync.Mutex
	expected bool   // Authorize has been called; guarded by mu
	state    string // that the redirect has to carry; guarded by mu
	done     bool   // a redirect has been taken; guarded by mu
}

// newCallback answers on the listeners until close, which calls leave.
func newCallback(listeners []net.Listener, path string, leave func()) *callback {
	c := &callback{path: path, leave: leave, redirect: make(chan Redirect, 1)}
	c.server = http.Server{
		Handler:           c,
		ReadHeaderTimeout: callbackTimeout,
		ReadTimeout:       callbackTimeout,
		WriteTimeout:      callbackTimeout,
		MaxHeaderBytes:    1 << 16,
	}
	c.server.SetKeepAlivesEnabled(false)
	for _, l := range listeners {
		c.serving.Go(func() { _ = c.server.Serve(l) })
	}
	return c
}

func (c *callback) expect(state string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.expected, c.state = true, state
}

// close waits for no browser: the handler that passes a redirect on has written its page.
func (c *callback) close() {
	_ = c.server.Close()
	c.serving.Wait()
	c.leave()
}

// ServeHTTP answers GET at one path, for a browser that means this machine: a page that has its name resolved to
// 127.0.0.1 sends the name as Host.
func (c *callback) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case !fromLoopback(r):
		http.Error(w, "not for this host", http.StatusMisdirectedRequest)
	case r.URL.Path != c.path:
		http.NotFound(w, r)
	case r.Method != http.MethodGet:
		w.Header().Set("Allow", http.MethodGet)
		http.Error(w, "only GET", http.StatusMethodNotAllowed)
	default:
		c.answer(w, r.URL.Query())
	}
}

func (c *callback) answer(w http.ResponseWriter, q url.Values) {
	if !c.accept(q) {
		writePage(w, http.StatusBadRequest, pageStranger)
		return
	}
	writePage(w, http.StatusOK, pageReceived)
	c.redirect <- Redirect{
		Code:             q.Get("code"),
		State:            q.Get("state"),
		Issuer:           q.Get("iss"),
		HasIssuer:        q.Has("iss"),
		Error:            q.Get("error"),
		ErrorDescription: q.Get("error_description"),
	}
}

// accept reports whether q is the redirect that is expected, which only one is. A parameter may be there once (RFC 6749
// §3.1).
func (c *callback) accept(q url.Values) bool {
	for _, values := range q {
		if len(values) > 1 {
			return false
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	answers := q.Has("code") || q.Has("error")
	if !c.expected || c.done || !answers || subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(c.state)) == 0 {
		return false
	}
	c.done = true
	return true
}

func fromLoopback(r *http.Request) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	_, port, err := net.SplitHostPort(r.Host)
	return ok && err == nil && port == strconv.Itoa(local.Port) && hostname.Loopback(hostname.Host(r.Host))
}
