package transport_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// dialWith returns a connection that uses a user's client and has made two calls.
func dialWith(t *testing.T, url string, client *http.Client) transport.Conn {
	t.Helper()
	conn := dialHTTP(t, &transport.HTTP{URL: url, Client: client}, transport.Config{})
	for range 2 {
		ask(t, conn)
	}
	return conn
}

func answerAll(w http.ResponseWriter, r *http.Request) {
	answerJSON(w, http.StatusOK, result(readSent(r).ID))
}

// A RoundTripper that changes a request must not affect the next request.
func TestHTTPToleratesUserClientThatChangesRequests(t *testing.T) {
	const want = "application/json, text/event-stream"
	url := serve(t, answerAll)
	conn := dialHTTP(t, &transport.HTTP{
		URL: url, Header: http.Header{"X-Own": {"mine"}},
		Client: &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			if r.Header.Get("Accept") != want || r.Header.Get("X-Own") != "mine" || r.Header.Get("Mcp-Name") == "" ||
				r.Header.Get("X-Left") != "" || r.URL.String() != url {
				t.Errorf("want an unchanged request, got %v to %v", r.Header, r.URL)
			}
			sent := r.Clone(r.Context())
			r.Header["Accept"][0], r.Header["X-Own"][0], r.Header["Mcp-Name"][0] = "*/*", "yours", "other"
			r.Header.Set("X-Left", "1")
			r.Header.Del("Content-Type")
			r.URL.Host, r.URL.Path = "elsewhere.test", "/x"
			return http.DefaultTransport.RoundTrip(sent)
		})},
	}, transport.Config{})
	for range 3 {
		ask(t, conn)
	}
}

func TestHTTPReportsAMissingResponseOfTheUsersClient(t *testing.T) {
	for name, resp := range map[string]*http.Response{
		"no response": nil, "no body": {StatusCode: http.StatusOK, ContentLength: 7},
	} {
		conn := dialHTTP(t, &transport.HTTP{URL: "http://server.test",
			Client: &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
				_, _ = io.Copy(io.Discard, r.Body)
				return resp, nil
			})}}, transport.Config{})
		send(t, conn, modernCall(1))
		e := receiveError(t, conn, 1)
		if e.Reason != transport.ReasonLost || e.Unsent || !strings.Contains(e.Error(), "roundTripper") {
			t.Errorf("%s: want the request lost, with the type of the RoundTripper, got %v, unsent %v", name, e, e.Unsent)
		}
	}
}

func TestHTTPNilBodyIsAnEmptyAnswer(t *testing.T) {
	conn := dialHTTP(t, &transport.HTTP{URL: "http://server.test",
		Client: &http.Client{Transport: roundTripper(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK}, nil
		})}}, transport.Config{})
	send(t, conn, modernCall(1))
	if e := receiveError(t, conn, 1); e.Reason != transport.ReasonMalformed {
		t.Errorf("want a malformed answer, got %v", e)
	}
}

func TestHTTPTimeoutOfTheUsersClientApplies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		conn := dialHTTP(t, &transport.HTTP{URL: "http://server.test", Client: &http.Client{
			Timeout: 3 * time.Second,
			Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
				<-r.Context().Done()
				return nil, context.Cause(r.Context())
			}),
		}}, transport.Config{})
		send(t, conn, modernCall(1))
		if e := receiveError(t, conn, 1); e.Reason != transport.ReasonLost || time.Since(begun) != 3*time.Second {
			t.Errorf("want the request lost after 3 s, got %v after %v", e, time.Since(begun))
		}
	})
}

func TestHTTPKeepsTheCookiesOfTheUsersClient(t *testing.T) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	var cookies atomic.Int32
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		cookies.Store(int32(len(r.Cookies())))
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
		answerAll(w, r)
	})
	dialWith(t, url, &http.Client{Jar: jar})
	if n := cookies.Load(); n != 1 {
		t.Errorf("want the cookie of the first answer in the second request, got %d cookies", n)
	}
}

func TestHTTPUserClientWithoutTransportUsesDefaultTransport(t *testing.T) {
	conn := dialWith(t, serve(t, answerAll), new(http.Client))
	old := http.DefaultTransport
	t.Cleanup(func() { http.DefaultTransport = old })
	var calls atomic.Int32
	http.DefaultTransport = roundTripper(func(r *http.Request) (*http.Response, error) {
		calls.Add(1)
		return old.RoundTrip(r)
	})
	ask(t, conn)
	http.DefaultTransport = nil
	send(t, conn, modernCall(2))
	if e := receiveError(t, conn, 2); e.Reason != transport.ReasonLost || calls.Load() != 1 {
		t.Errorf("want one call by the new default transport and a failure without one, got %d and %v", calls.Load(), e)
	}
}

// Instrumented RoundTrippers give each request a context of their own, with a value.
func TestContextsDerivedByUserClientStartNoGoroutine(t *testing.T) {
	var more int
	dialWith(t, serve(t, answerAll), &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		const derived = 100
		before := runtime.NumGoroutine()
		for range derived {
			ctx, cancel := context.WithCancel(context.WithValue(r.Context(), t, t))
			defer cancel()
			defer context.AfterFunc(ctx, func() {})()
		}
		if more = runtime.NumGoroutine() - before; more > derived/2 {
			t.Errorf("want no goroutine for a context, got %d more for %d", more, derived)
		}
		return http.DefaultTransport.RoundTrip(r)
	})})
}

// countedConn counts calls of Write.
type countedConn struct {
	net.Conn
	writes *atomic.Int32
}

func (c countedConn) Write(p []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(p)
}

// A server that gets header and body in two writes is woken twice. A request takes one write; with an unknown client,
// the first request takes two.
func TestHTTPSendsARequestWithOneWrite(t *testing.T) {
	var writes atomic.Int32
	dial := new(net.Dialer).DialContext
	counting := func() *http.Transport {
		return &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			return countedConn{conn, &writes}, err
		}}
	}
	old := http.DefaultTransport
	t.Cleanup(func() { http.DefaultTransport = old })
	http.DefaultTransport = counting()
	wrapped := counting()
	for name, client := range map[string]*http.Client{
		"the shared client":       nil,
		"a user's http.Transport": {Transport: counting()},
		"an unknown RoundTripper": {Transport: roundTripper(wrapped.RoundTrip)},
		"a client with a Timeout": {Transport: counting(), Timeout: time.Hour},
	} {
		conn := dialWith(t, serve(t, answerAll), client)
		writes.Store(0)
		for range 10 {
			ask(t, conn)
		}
		if n := writes.Load(); n != 10 {
			t.Errorf("%s: want 10 requests in 10 writes, got %d", name, n)
		}
	}
	wrapped.CloseIdleConnections()
}

// A RoundTripper that has used net/http so far may send a request in another way. The transport cannot observe that
// request, so the request may have reached the server. The next request is observed again.
func TestHTTPUnobservedRequestMayHaveReachedServer(t *testing.T) {
	var elsewhere, read atomic.Bool
	client := roundTripper(func(r *http.Request) (*http.Response, error) {
		if !elsewhere.Load() {
			return http.DefaultTransport.RoundTrip(r)
		}
		if read.Load() {
			_, _ = io.Copy(io.Discard, r.Body)
		}
		return nil, errors.New("lost outside of net/http")
	})
	conn := dialWith(t, serve(t, answerAll), &http.Client{Transport: client})
	elsewhere.Store(true)
	for i, step := range []struct{ read, unsent bool }{{true, false}, {true, false}, {false, true}, {true, false}} {
		read.Store(step.read)
		send(t, conn, modernCall(1))
		if e := receiveError(t, conn, 1); e.Reason != transport.ReasonLost || e.Unsent != step.unsent {
			t.Errorf("request %d, read %v: want it lost, unsent %v, got %v, unsent %v", i, step.read, step.unsent, e, e.Unsent)
		}
	}
	elsewhere.Store(false)
	ask(t, conn)
	elsewhere.Store(true)
	read.Store(false)
	send(t, conn, modernCall(1))
	if e := receiveError(t, conn, 1); e.Reason != transport.ReasonLost || e.Unsent {
		t.Errorf("want the first unobserved request not to count as unsent, got %v, unsent %v", e, e.Unsent)
	}
}
