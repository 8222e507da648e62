package auth_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpotel/mcpotel/mcpclient/auth"
)

// visit requests a URL as a browser does after a redirect.
func visit(t *testing.T, address string, change ...func(*http.Request)) (status int, page string, header http.Header) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range change {
		c(req)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Errorf("the browser got no page: %v", err)
		return 0, "", nil
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Errorf("the browser got no whole page: %v", err)
	}
	return resp.StatusCode, string(data), resp.Header
}

func redirectURI(t *testing.T, ctx context.Context, l *auth.Loopback) string {
	t.Helper()
	uri, err := l.RedirectURI(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return uri
}

func TestLoopbackReturnsTheRedirectAndShowsAPage(t *testing.T) {
	for query, want := range map[string]auth.Redirect{
		"?code=c%20d&state=s&iss=https%3A%2F%2Fas.example": {Code: "c d", State: "s", Issuer: "https://as.example",
			HasIssuer: true},
		"?code=c&state=s&iss=": {Code: "c", State: "s", HasIssuer: true},
		"?error=access_denied&error_description=%3Cb%3E&state=s": {Error: "access_denied", ErrorDescription: "<b>",
			State: "s"},
	} {
		shown := ""
		l := &auth.Loopback{Show: func(_ context.Context, url string) error {
			shown = url
			return nil
		}}
		uri := redirectURI(t, t.Context(), l)
		l.Show = func(_ context.Context, url string) error {
			shown = url
			status, page, header := visit(t, uri+query)
			if status != http.StatusOK || !strings.Contains(page, "You can close this window") {
				t.Errorf("%s: the page is %d %s, want the text that the window can be closed", query, status, page)
			}
			checkPage(t, page, header)
			return nil
		}
		got, err := l.Authorize(t.Context(),
			auth.InteractionRequest{URL: "https://as.example/authorize?x=y&z", RedirectURI: uri, State: "s"})
		if err != nil || got != want {
			t.Errorf("%s: redirect is code %q, %+v, %v, want code %q, %+v", query, got.Code, got, err, want.Code, want)
		}
		if shown != "https://as.example/authorize?x=y&z" {
			t.Errorf("shown is %s, want the unchanged URL", shown)
		}
		if c, err := net.Dial("tcp", strings.TrimPrefix(strings.TrimSuffix(uri, "/callback"), "http://")); err == nil {
			_ = c.Close()
			t.Errorf("something listens at %s after the redirect, want nothing", uri)
		}
	}
}

// checkPage fails the test if a page contains text of the request or loads anything.
func checkPage(t *testing.T, page string, header http.Header) {
	t.Helper()
	for _, bad := range []string{"access_denied", "<b>", "src=", "href=", "url(", "@import", "<script"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %q in it: %s", bad, page)
		}
	}
	got := map[string]string{}
	for _, name := range []string{"Content-Security-Policy", "Cache-Control", "Referrer-Policy",
		"X-Content-Type-Options"} {
		got[name] = header.Get(name)
	}
	want := map[string]string{
		"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
		"Cache-Control":           "no-store",
		"Referrer-Policy":         "no-referrer",
		"X-Content-Type-Options":  "nosniff",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("headers of the page, want - got +:\n%s", diff)
	}
}

func TestLoopbackRejectsOtherRequests(t *testing.T) {
	l := &auth.Loopback{}
	uri := redirectURI(t, t.Context(), l)
	at, err := url.Parse(uri)
	if err != nil {
		t.Fatal(err)
	}
	early, _, _ := visit(t, uri+"?code=early&state=")
	if early != http.StatusBadRequest {
		t.Errorf("a redirect before the browser was opened has status %d, want 400", early)
	}
	l.Show = func(context.Context, string) error {
		for _, tt := range []struct {
			what, path string
			status     int
			change     func(*http.Request)
		}{
			{"another state", "/callback?code=evil&state=x", 400, nil},
			{"no state", "/callback?code=evil", 400, nil},
			{"neither code nor error", "/callback?state=s", 400, nil},
			{"two codes", "/callback?code=a&code=b&state=s", 400, nil},
			{"another path", "/favicon.ico", 404, nil},
			{"a longer path", "/callback/?code=evil&state=s", 404, nil},
			{"another method", "/callback?code=evil&state=s", 405, func(r *http.Request) { r.Method = http.MethodPost }},
			{"another host", "/callback?code=evil&state=s", 421, func(r *http.Request) { r.Host = "evil.example:" + at.Port() }},
			{"another port", "/callback?code=evil&state=s", 421, func(r *http.Request) { r.Host = "127.0.0.1:1" }},
			{"no port", "/callback?code=evil&state=s", 421, func(r *http.Request) { r.Host = "127.0.0.1" }},
		} {
			var change []func(*http.Request)
			if tt.change != nil {
				change = append(change, tt.change)
			}
			if status, _, _ := visit(t, "http://"+at.Host+tt.path, change...); status != tt.status {
				t.Errorf("%s: status is %d, want %d", tt.what, status, tt.status)
			}
		}
		visit(t, uri+"?code=good&state=s", func(r *http.Request) { r.Host = "localhost:" + at.Port() })
		return nil
	}
	got, err := l.Authorize(t.Context(), auth.InteractionRequest{URL: "https://as.example", RedirectURI: uri, State: "s"})
	if err != nil || got.Code != "good" {
		t.Errorf("redirect has code %q, error %v, want the redirect with the state", got.Code, err)
	}
}

func TestLoopbackServesConcurrentAuthorizations(t *testing.T) {
	l := &auth.Loopback{}
	var uris []string
	for range 3 {
		uris = append(uris, redirectURI(t, t.Context(), l))
	}
	l.Show = func(_ context.Context, shown string) error {
		u, err := url.Parse(shown)
		if err != nil {
			return err
		}
		visit(t, u.Query().Get("back")+"?code="+u.Query().Get("name"))
		return nil
	}
	var tasks sync.WaitGroup
	for i, uri := range uris {
		tasks.Go(func() {
			name := strconv.Itoa(i)
			page := "https://as.example/?" + url.Values{"back": {uri}, "name": {name}}.Encode()
			r, err := l.Authorize(t.Context(), auth.InteractionRequest{URL: page, RedirectURI: uri})
			if err != nil || r.Code != name {
				t.Errorf("authorization %s got code %q, error %v, want its own", name, r.Code, err)
			}
		})
	}
	tasks.Wait()
}

func TestLoopbackFixedPortServesOneAuthorizationAtATime(t *testing.T) {
	l, port := fixedPort(t)
	l.Path, l.Hostname = "/back", "localhost"
	first, cancelFirst := context.WithCancel(t.Context())
	uri := redirectURI(t, first, l)
	if want := "http://localhost:" + port + "/back"; uri != want {
		t.Errorf("redirect URI is %s, want %s", uri, want)
	}
	second := make(chan string, 1)
	go func() {
		uri, err := l.RedirectURI(t.Context())
		if err != nil {
			t.Error(err)
		}
		second <- uri
	}()
	third, cancelThird := context.WithCancelCause(t.Context())
	cause := errors.New("the third caller has left")
	cancelThird(cause)
	if _, err := l.RedirectURI(third); !errors.Is(err, cause) {
		t.Errorf("error is %v, want the context's cause", err)
	}
	cancelFirst()
	if got := <-second; got != uri {
		t.Errorf("the second redirect URI is %s, want %s", got, uri)
	}
	if _, err := l.Authorize(t.Context(),
		auth.InteractionRequest{URL: "https://as.example", RedirectURI: "http://127.0.0.1:1/"}); err == nil {
		t.Error("got success for a URI without a listener, want an error")
	}
	l.Show = func(context.Context, string) error { visit(t, uri+"?code=c"); return nil }
	if got, err := l.Authorize(t.Context(),
		auth.InteractionRequest{URL: "https://as.example", RedirectURI: uri}); err != nil || got.Code != "c" {
		t.Errorf("redirect has code %q, error %v, want c", got.Code, err)
	}
}

// fixedPort returns a Loopback on a port that was free a moment ago.
func fixedPort(t *testing.T) (*auth.Loopback, string) {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	at := listener.Addr().(*net.TCPAddr)
	_, port, _ := net.SplitHostPort(at.String())
	return &auth.Loopback{Port: at.Port}, port
}

func TestLoopbackReportsAPortInUse(t *testing.T) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	l := &auth.Loopback{Port: listener.Addr().(*net.TCPAddr).Port}
	for range 2 {
		if _, err := l.RedirectURI(t.Context()); err == nil ||
			!strings.Contains(err.Error(), "in use") && runtime.GOOS == "linux" {
			t.Errorf("error is %v, want an error that the address is in use", err)
		}
	}
}

func TestLoopbackEndsWithItsContext(t *testing.T) {
	cause := errors.New("the person is gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	l := &auth.Loopback{}
	uri := redirectURI(t, t.Context(), l)
	l.Show = func(context.Context, string) error { cancel(cause); return nil }
	if _, err := l.Authorize(ctx, auth.InteractionRequest{URL: "https://as.example", RedirectURI: uri}); !errors.Is(err,
		cause) {
		t.Errorf("error is %v, want the context's cause", err)
	}
	refused := errors.New("nobody looks")
	l.Show = func(context.Context, string) error { return refused }
	uri = redirectURI(t, t.Context(), l)
	if _, err := l.Authorize(t.Context(),
		auth.InteractionRequest{URL: "https://as.example", RedirectURI: uri}); !errors.Is(err, refused) {
		t.Errorf("error is %v, want the one of Show", err)
	}
}

func TestLoopbackRejectsInvalidSettings(t *testing.T) {
	for _, l := range []*auth.Loopback{{Port: -1}, {Port: 70000}, {Path: "x"}, {Path: "/x?y"}, {Hostname: "example.com"},
		{Hostname: "0.0.0.0"}} {
		if uri, err := l.RedirectURI(t.Context()); err == nil {
			t.Errorf("%+v listens at %s, want an error", l.Hostname, uri)
		}
	}
}

func TestLoopbackOpensOnlyHTTPURLs(t *testing.T) {
	for _, address := range []string{"file:///etc/passwd", "javascript:alert(1)", "--help", "calc.exe", "", "https://",
		"http://a b/"} {
		l := &auth.Loopback{Show: func(_ context.Context, url string) error { return errors.New("shown: " + url) }}
		uri := redirectURI(t, t.Context(), l)
		_, err := l.Authorize(t.Context(), auth.InteractionRequest{URL: address, RedirectURI: uri})
		if err == nil || strings.Contains(err.Error(), "shown") {
			t.Errorf("%q: error is %v, want it refused before it is shown", address, err)
		}
	}
}

// opener replaces the system's opener with a script.
func opener(t *testing.T, script string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the opener of another system is found elsewhere")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "xdg-open"), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
}

func TestLoopbackOpensTheBrowser(t *testing.T) {
	file := filepath.Join(t.TempDir(), "args")
	opener(t, "echo \"$# $1\" > "+file+"\nexit 1\n")
	l := &auth.Loopback{}
	uri := redirectURI(t, t.Context(), l)
	_, err := l.Authorize(t.Context(),
		auth.InteractionRequest{URL: "https://as.example/a?b=c&d=$(e)'\"", RedirectURI: uri})
	if err == nil || !strings.Contains(err.Error(), "exit status 1") || strings.Contains(err.Error(), "as.example") {
		t.Errorf("error is %v, want the opener's failure without the URL", err)
	}
	args, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(args), "1 https://as.example/a?b=c&d=$(e)'\"\n"; got != want {
		t.Errorf("the opener got %q, want %q", got, want)
	}
	t.Setenv("PATH", "")
	uri = redirectURI(t, t.Context(), l)
	if _, err := l.Authorize(t.Context(),
		auth.InteractionRequest{URL: "https://as.example", RedirectURI: uri}); err == nil {
		t.Error("an authorization without an opener succeeded, want an error")
	}
}

func TestLoopbackWaitsForTheRedirectAfterTheOpenerExits(t *testing.T) {
	opener(t, "exit 0\n")
	l := &auth.Loopback{}
	ctx, cancel := context.WithCancel(t.Context())
	uri := redirectURI(t, ctx, l)
	done := make(chan error, 1)
	go func() {
		_, err := l.Authorize(ctx, auth.InteractionRequest{URL: "https://as.example", RedirectURI: uri})
		done <- err
	}()
	status := 0
	// 400 until Authorize has been called
	for try := 0; status != http.StatusOK && try < 10_000 && !t.Failed(); try++ {
		status, _, _ = visit(t, uri+"?code=x")
	}
	if status != http.StatusOK {
		cancel()
	}
	if err := <-done; err != nil {
		t.Errorf("error is %v, want the redirect", err)
	}
	cancel()
}
