package metadata

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// secure returns a TLS server on loopback that counts connections, and a client transport that trusts it for every
// name.
func secure(t *testing.T) (*httptest.Server, *http.Transport, *atomic.Int32) {
	t.Helper()
	var connections atomic.Int32
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "{}")
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s, &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}, &connections
}

func get(t *testing.T, f *Fetcher, address string) (*http.Response, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := f.Do(req)
	if err == nil {
		t.Cleanup(func() { _ = resp.Body.Close() })
	}
	return resp, err
}

// TestAddressIsCheckedWhenDialling covers all ways in which a Client may dial.
func TestAddressIsCheckedWhenDialling(t *testing.T) {
	server, own, connections := secure(t)
	resolveAs(t, "127.0.0.1")
	dialling := own.Clone()
	dialling.DialContext = (&net.Dialer{}).DialContext
	tlsDialling := own.Clone()
	tlsDialling.DialTLSContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		return (&tls.Dialer{Config: own.TLSClientConfig}).DialContext(ctx, network, address)
	}
	address := "https://innocent.example:" + server.URL[strings.LastIndexByte(server.URL, ':')+1:]
	for name, client := range map[string]*http.Client{
		"nil":                          nil,
		"without transport":            {},
		"with a transport":             {Transport: own},
		"with a dialer":                {Transport: dialling},
		"with a TLS dialer":            {Transport: tlsDialling},
		"with another kind of tripper": {Transport: struct{ http.RoundTripper }{own}},
	} {
		f := New(Options{Client: client})
		_, err := get(t, f, address)
		if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "127.0.0.1 is a loopback address") {
			t.Errorf("client %s: error is %v, want it refused", name, err)
		}
		f.Close()
	}
	if n := connections.Load(); n != 0 {
		t.Errorf("%d connections were made, want none", n)
	}
}

// TestAllowedClientsConnect proves that the clients of the previous test can connect, so that only the check makes them
// fail there.
func TestAllowedClientsConnect(t *testing.T) {
	server, own, _ := secure(t)
	resolveAs(t, "127.0.0.1")
	dialled := ""
	dialling := own.Clone()
	dialling.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		dialled = address
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	for name, transport := range map[string]http.RoundTripper{
		"transport": own, "dialer": dialling, "tripper": struct{ http.RoundTripper }{own},
	} {
		f := localFetcher(t, Options{Client: &http.Client{Transport: transport}})
		if _, err := get(t, f, "https://innocent.example:"+port); err != nil {
			t.Errorf("%s: %v, want an answer", name, err)
		}
	}
	if want := "127.0.0.1:" + port; dialled != want {
		t.Errorf("the user's dialer was given %q, want the checked address %q", dialled, want)
	}
}

func TestPrivateAddressesAreReachedOnlyIfAllowed(t *testing.T) {
	resolveAs(t, "10.1.2.3")
	reached := errors.New("dialled")
	client := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn,
		error) {
		return nil, reached
	}}}
	if _, err := get(t, New(Options{Client: client}), "https://intranet.example"); !errors.Is(err, ErrRefused) {
		t.Errorf("error is %v, want it refused", err)
	}
	if _, err := get(t, localFetcher(t, Options{Client: client}), "https://intranet.example"); !errors.Is(err,
		ErrRefused) {
		t.Errorf("for a server on loopback: error is %v, want it refused: only loopback is allowed", err)
	}
	if _, err := get(t, New(Options{Client: client, AllowPrivateAddresses: true}),
		"https://intranet.example"); !errors.Is(err, reached) {
		t.Errorf("allowed: error is %v, want it dialled", err)
	}
}

func TestRedirectTargetsAreChecked(t *testing.T) {
	s := newSite(t)
	for path, to := range map[string]string{
		"/down": "http://as.example/x", "/private": "https://10.0.0.1/x", "/cloud": "http://169.254.169.254/x",
		"/file": "file:///etc/passwd",
	} {
		s.page(path, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) })
		if _, err := get(t, localFetcher(t, Options{}), s.URL+path); !errors.Is(err, ErrRefused) {
			t.Errorf("redirect to %s: error is %v, want it refused", to, err)
		}
	}
}

func TestRedirectsCarryNoCredentialsAndAreBounded(t *testing.T) {
	s := newSite(t)
	s.page("/loop", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/loop", http.StatusFound) })
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/loop", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Authorization", "Cookie", "DPoP", "X-Api-Key", "Accept"} {
		req.Header.Set(name, "secret")
	}
	resp, err := localFetcher(t, Options{}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusFound || len(s.asked) != 1+maxRedirects {
		t.Errorf("the answer is %d after %d requests, want 302 after %d", resp.StatusCode, len(s.asked), 1+maxRedirects)
	}
	for i, r := range s.asked[1:] {
		for _, name := range []string{"Authorization", "Cookie", "DPoP", "X-Api-Key", "Referer"} {
			if v := r.Header.Get(name); v != "" {
				t.Errorf("redirect %d carries %s: %s, want the header removed", i+1, name, v)
			}
		}
		if r.Header.Get("Accept") == "" {
			t.Errorf("redirect %d carries no Accept", i+1)
		}
	}
}

func TestRequestBodyIsNotRedirected(t *testing.T) {
	s := newSite(t)
	s.page("/token", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/other", http.StatusTemporaryRedirect)
	})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/token",
		strings.NewReader("client_secret=x"))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := localFetcher(t, Options{}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusTemporaryRedirect {
		t.Errorf("status is %d, want the redirect itself", resp.StatusCode)
	}
	s.wantPaths(t, "/token")
}

func TestCookieJarOfTheClientIsNotUsed(t *testing.T) {
	s := newSite(t)
	s.page("/", func(w http.ResponseWriter, _ *http.Request) { http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"}) })
	client := &http.Client{Jar: panickingJar{}}
	if _, err := get(t, localFetcher(t, Options{Client: client}), s.URL+"/"); err != nil {
		t.Error(err)
	}
}

type panickingJar struct{}

func (panickingJar) SetCookies(*url.URL, []*http.Cookie) { panic("a cookie was stored") }
func (panickingJar) Cookies(*url.URL) []*http.Cookie     { panic("cookies were asked for") }

func TestResponsesOverTheSizeLimitAreErrors(t *testing.T) {
	const limit = 1000
	for size, good := range map[int]bool{limit: true, limit + 1: false, 100 * limit: false} {
		s := newSite(t)
		doc := fmt.Sprintf(`{"issuer":%q,"token_endpoint":%q}`, s.URL, s.URL+"/token")
		doc += strings.Repeat(" ", size-len(doc))
		s.text(oauth, http.StatusOK, doc)
		f := localFetcher(t, Options{SizeLimit: limit})
		if _, err := f.Server(t.Context(), s.URL); (err == nil) != good {
			t.Errorf("document of %d bytes: error is %v, want success: %v", size, err, good)
		}
		resp, err := get(t, f, s.URL+oauth)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(resp.Body)
		if (err == nil) != good || len(data) != limit {
			t.Errorf("answer of %d bytes: %d bytes and error %v, want %d and success: %v", size, len(data), err, limit, good)
		}
	}
}

func TestErrorsContainNoQuery(t *testing.T) {
	f := New(Options{})
	_, err := get(t, f, "https://10.0.0.1/token?client_secret=hush")
	if err == nil || strings.Contains(err.Error(), "hush") || !strings.Contains(err.Error(), "https://10.0.0.1/token: ") {
		t.Errorf("error is %v, want an error with the URL without its query", err)
	}
}

// TestSlowServerTimesOut runs on the clock of a bubble.
func TestSlowServerTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := tripper(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		f := localFetcher(t, Options{Client: &http.Client{Transport: stuck}})
		start := time.Now()
		_, err := f.Server(t.Context(), "http://127.0.0.1")
		if took := time.Since(start); took != DefaultTimeout {
			t.Errorf("given up after %v, want %v in total for all locations", took, DefaultTimeout)
		}
		if e, ok := errors.AsType[*Error](err); !ok || e.Permanent() {
			t.Errorf("error is %v, want a temporary error", err)
		}
	})
}

type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestBodyOfARefusedRequestIsClosed(t *testing.T) {
	body := &closing{Reader: strings.NewReader("x")}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://as.example", body)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newTransport(nil, guard{}).RoundTrip(req); !errors.Is(err, ErrRefused) || !body.closed {
		t.Errorf("error %v, body closed: %v, want the request refused and the body closed", err, body.closed)
	}
}

type closing struct {
	io.Reader
	closed bool
}

func (c *closing) Close() error { c.closed = true; return nil }

// TestProxyMayHaveAnyAddress: the user chooses the proxy, so its address is not checked; the URL still is.
func TestProxyMayHaveAnyAddress(t *testing.T) {
	var got string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Method + " " + r.RequestURI
		http.Error(w, "no", http.StatusForbidden)
	}))
	defer proxy.Close()
	at, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(at)}}
	if _, err := get(t, New(Options{Client: client}), "https://as.example/x"); err == nil || errors.Is(err, ErrRefused) {
		t.Errorf("error is %v, want the proxy's refusal", err)
	}
	if want := "CONNECT as.example:443"; got != want {
		t.Errorf("the proxy got a request for %q, want %q", got, want)
	}
	if _, err := get(t, New(Options{Client: client}), "https://10.0.0.1/x"); !errors.Is(err, ErrRefused) {
		t.Errorf("error is %v, want the URL refused", err)
	}
}

// A name that does not resolve cannot be checked, and a RoundTripper may resolve it to loopback.
func TestUnresolvableNameIsNotPassedToARoundTripper(t *testing.T) {
	var reached atomic.Int32
	fake := tripper(func(r *http.Request) (*http.Response, error) {
		reached.Add(1)
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: r}, nil
	})
	client := &http.Client{Transport: fake}
	for name, permanent := range map[string]bool{"nowhere.invalid": true, "lost.example": false} {
		asked := resolveNothing(t, permanent)
		_, err := get(t, New(Options{Client: client}), "https://"+name)
		e, ok := errors.AsType[*Error](err)
		if !ok || e.Permanent() != permanent || errors.Is(err, ErrRefused) != permanent || asked.Load() == 0 ||
			reached.Load() != 0 {
			t.Errorf("%s: error is %v after %d queries and %d requests, want a permanent error: %t, and no request",
				name, err, asked.Load(), reached.Load(), permanent)
		}
		asked.Store(0)
		if _, err := get(t, New(Options{Client: client, AllowPrivateAddresses: true}), "https://"+name); err != nil ||
			asked.Load() != 0 {
			t.Errorf("%s: error is %v after %d queries, want no query where private addresses are allowed", name, err,
				asked.Load())
		}
		reached.Store(0)
	}
}

// TestHostWithMappedCharactersIsRefused: net/http maps the characters of such hosts to ASCII when it dials, after the
// guard has checked the original characters.
func TestHostWithMappedCharactersIsRefused(t *testing.T) {
	server, own, connections := secure(t)
	port := server.URL[strings.LastIndexByte(server.URL, ':')+1:]
	resolveNothing(t, true)
	for _, client := range []*http.Client{nil, {Transport: own}, {Transport: struct{ http.RoundTripper }{own}}} {
		for _, host := range []string{
			"①②⑦.0.0.1", "127。0。0。1", "loc\u00adalhost", "ⓛocalhost", "１２７.0.0.1", "%E2%91%A0%E2%91%A1%E2%91%A6.0.0.1",
			"127.1", "0x7f.0.0.1", "2130706433", "127.0.0.1.",
		} {
			for _, o := range []Options{{Client: client}, {Client: client, AllowPrivateAddresses: true}} {
				u, err := url.Parse("https://" + host + ":" + port)
				if err != nil {
					t.Fatal(err)
				}
				f := New(o)
				_, err = f.Do((&http.Request{Method: http.MethodGet, URL: u, Header: http.Header{}}).WithContext(t.Context()))
				if !errors.Is(err, ErrRefused) {
					t.Errorf("%s, private addresses allowed %t: error is %v, want it refused", host, o.AllowPrivateAddresses, err)
				}
				f.Close()
			}
		}
	}
	if n := connections.Load(); n != 0 {
		t.Errorf("%d connections were made, want none", n)
	}
}
