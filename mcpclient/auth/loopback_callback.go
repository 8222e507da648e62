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

// callbackTimeout bounds how long a browser may take to send its request, and how long it may take to read the page.
const callbackTimeout = 10 * time.Second

// callback is a server that waits for one redirect.
type callback struct {
	path     string
	server   http.Server
	serving  sync.WaitGroup
	leave    func()
	forget   func() bool   // stops the AfterFunc on RedirectURI's context
	redirect chan Redirect // has room for one element, so the handler does not wait for Authorize

	mu       sync.Mutex
	expected bool   // Authorize has been called; guarded by mu
	state    string // state that the redirect must carry; guarded by mu
	done     bool   // a redirect has been accepted; guarded by mu
}

// newCallback serves the listeners until close, which calls leave.
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

// close closes the server without waiting for browsers. A handler that has accepted a redirect has already written
// its page.
func (c *callback) close() {
	_ = c.server.Close()
	c.serving.Wait()
	c.leave()
}

// ServeHTTP answers GET requests for the callback path whose Host is a loopback name. It thereby rejects a web page
// that makes its own host name resolve to 127.0.0.1: the requests of that page carry the page's host name.
func (c *callback) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case !fromLoopback(r):
		http.Error(w, "this server answers only requests to its loopback address", http.StatusMisdirectedRequest)
	case r.URL.Path != c.path:
		http.NotFound(w, r)
	case r.Method != http.MethodGet:
		w.Header().Set("Allow", http.MethodGet)
		http.Error(w, "only GET is allowed", http.StatusMethodNotAllowed)
	default:
		c.answer(w, r.URL.Query())
	}
}

func (c *callback) answer(w http.ResponseWriter, q url.Values) {
	if !c.accept(q) {
		writePage(w, http.StatusBadRequest, pageRejected)
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

// accept reports whether q is the expected redirect. It accepts one redirect only, and no repeated parameters (RFC
// 6749 §3.1).
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
