package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mcpotel/mcpotel/internal/otlpcheck"
	"github.com/mcpotel/mcpotel/internal/otlpsink"
)

// serves starts the demo's server over HTTP: see servesBy.
func serves(t *testing.T, address string) (url string, stop func() int) {
	t.Helper()
	return servesBy(t, "serve-demo", "--http", address)
}

// servesBy runs a command that serves over HTTP, and returns its URL. stop ends the command like a signal, and returns
// the exit code.
func servesBy(t *testing.T, args ...string) (url string, stop func() int) {
	t.Helper()
	return servesAndLogs(t, new(buffer), args...)
}

// servesAndLogs is servesBy with a buffer for standard error.
func servesAndLogs(t *testing.T, stderr *buffer, args ...string) (url string, stop func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	var code int
	done := make(chan struct{})
	go func() {
		defer close(done)
		code = run(ctx, streams{strings.NewReader(""), in, stderr, false}, args)
		in.Close()
	}()
	stop = func() int {
		cancel()
		<-done
		return code
	}
	t.Cleanup(func() { stop() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the server printed no URL: %v, exit code %d: %s", err, stop(), stderr)
	}
	return strings.TrimSpace(line), stop
}

// dividesInEveryVersion calls divide of the demo's server at a URL with every protocol version, and then stops the
// server.
func dividesInEveryVersion(t *testing.T, url string, stop func() int) {
	t.Helper()
	if !strings.HasPrefix(url, "http://127.0.0.1:") || !strings.HasSuffix(url, "/mcp") {
		t.Errorf("URL: got %q, want one on loopback that ends with /mcp", url)
	}
	for _, version := range []string{"", "2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"} {
		args := []string{"call", "--url", url, "--pin-version", version, "divide", `{"a":6,"b":3}`}
		if code, out, stderr := runs(t, args...); code != exitOK || out != "{\"quotient\":2}\n" {
			t.Errorf("a call with version %q: got exit code %d and %q, want 0 and the quotient: %s", version, code, out, stderr)
		}
	}
	if code := stop(); code != exitOK {
		t.Errorf("exit code of the stopped server: got %d, want 0", code)
	}
}

// TestTheProxyListens starts a proxy that serves hosts over HTTP, in front of a server on standard input and output.
func TestTheProxyListens(t *testing.T) {
	noCollector(t)
	url, stop := servesBy(t, append([]string{"proxy", "--listen", ":0"}, demoServerCommand(t)...)...)
	dividesInEveryVersion(t, url, stop)
	if code, _, stderr := runs(t, "proxy", "--listen", "here", "--url", url); code != exitUsage ||
		!strings.Contains(stderr, "no address") {
		t.Errorf("an invalid address: got exit code %d and %q", code, stderr)
	}
}

func TestDemoServerServesEveryVersionOverHTTPUntilItIsStopped(t *testing.T) {
	noCollector(t)
	url, stop := serves(t, "0")
	dividesInEveryVersion(t, url, stop)
	if code, _, stderr := runs(t, "tools", "--url", url); code != exitConnection || !strings.Contains(stderr, "refused") {
		t.Errorf("after the stop: got exit code %d and %q, want %d and a refused connection", code, stderr, exitConnection)
	}
}

func TestCallsOverHTTPBehaveAsOverPipes(t *testing.T) {
	noCollector(t)
	url, _ := serves(t, "127.0.0.1:0")
	for name, tc := range map[string]struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		"a list":          {[]string{"tools", "--url", url}, exitOK, "forecast(city string, days? integer)", ""},
		"a tool error":    {[]string{"call", "--url", url, "divide", `{"a":6,"b":0}`}, exitTool, "", "division by zero"},
		"an unknown tool": {[]string{"call", "--url", url, "nosuch"}, exitTool, "", "server error -32602"},
		"a timeout": {[]string{"call", "--url", url, "--timeout", "300ms", "wait", `{"seconds":30}`}, exitConnection,
			"", "--timeout 300ms has expired"},
		"a negative timeout": {[]string{"tools", "--url", url, "--timeout", "-1s"}, exitUsage, "", "must not be negative"},
		"an invalid timeout": {[]string{"tools", "--url", url, "--timeout", "soon"}, exitUsage, "", "soon"},
		"a trace": {[]string{"call", "--url", url, "--trace", "divide", `{"a":6,"b":3}`}, exitOK, "2",
			"transport=tcp"},
		"no such path":          {[]string{"tools", "--url", url + "/nosuch"}, exitConnection, "", "404"},
		"an unreachable server": {[]string{"tools", "--url", "http://127.0.0.1:1/mcp"}, exitConnection, "", "refused"},
		"another scheme":        {[]string{"tools", "--url", "ftp://127.0.0.1/"}, exitConnection, "", "scheme"},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := runs(t, tc.args...)
			if code != tc.code || !strings.Contains(stdout, tc.stdout) || !strings.Contains(stderr, tc.stderr) {
				t.Errorf("got exit code %d, want %d; want %q on standard output and %q on standard error, got:\n%s\n%s",
					code, tc.code, tc.stdout, tc.stderr, stdout, stderr)
			}
		})
	}
}

func TestFlagsForHTTPAreChecked(t *testing.T) {
	noCollector(t)
	for name, tc := range map[string]struct {
		args   []string
		stderr string
	}{
		"more than one server":    {[]string{"tools", "--url", "http://x/", "--", "server"}, "more than one server"},
		"a header without URL":    {[]string{"tools", "--header", "A=secret", "--", "server"}, "--url"},
		"auth without URL":        {[]string{"tools", "--auth", "--", "server"}, "--url"},
		"no-browser without auth": {[]string{"tools", "--url", "http://x/", "--no-browser"}, "--auth"},
		"resource without auth":   {[]string{"tools", "--url", "http://x/", "--auth-resource", "http://x"}, "--auth"},
		"no resource":             {[]string{"tools", "--url", "http://x/", "--auth", "--auth-resource", "x"}, "URL"},
		"a header without value":  {[]string{"tools", "--url", "http://x/", "--header", "secret"}, "header 1"},
		"a header without name": {[]string{"tools", "--url", "http://x/", "--header", "A=1", "--header", "=secret"},
			"header 2"},
		"another notation": {[]string{"tools", "--url", "http://x/", "--header", "Authorization: secret="},
			"header 1"},
		"a header of two lines":   {[]string{"tools", "--url", "http://x/", "--header", "A=b\r\nB: secret"}, "header 1"},
		"a header without quotes": {[]string{"tools", "--url", "http://x/", "--header", "A=Bearer", "secret"}, "quote"},
		"no address":              {[]string{"serve-demo", "--http", "here"}, "no address"},
		"a surplus argument":      {[]string{"serve-demo", "--http", ":0", "x"}, "unexpected argument"},
		"an unknown flag":         {[]string{"serve-demo", "--bearer"}, "bearer"},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := runs(t, tc.args...)
			if code != exitUsage || !strings.Contains(stderr, tc.stderr) {
				t.Errorf("got exit code %d and %q, want %d and a text with %q", code, stderr, exitUsage, tc.stderr)
			}
			if strings.Contains(stdout+stderr, "secret") {
				t.Errorf("the output quotes a header: %s%s", stdout, stderr)
			}
		})
	}
}

// forwardsTo forwards requests to the server at this URL.
func forwardsTo(t *testing.T, address string) http.Handler {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Scheme, r.Out.URL.Host, r.Out.URL.Path = u.Scheme, u.Host, u.Path
	}}
}

func TestHeadersAreSentWithEveryRequestButNotPrinted(t *testing.T) {
	noCollector(t)
	address, _ := serves(t, ":0")
	demo := forwardsTo(t, address)
	var requests, without atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		if got := r.Header["Authorization"]; len(got) != 1 || got[0] != "Bearer s3cret=" || len(r.Header["X-Two"]) != 2 {
			without.Add(1)
		}
		demo.ServeHTTP(w, r)
	}))
	defer proxy.Close()
	headers := []string{"--header", "Authorization=Bearer s3cret=", "--header", "X-Two=s3cret", "--header", "X-Two=s3cret"}
	for _, args := range [][]string{
		{"tools", "-v", "--trace", "--pin-version", "2025-06-18", "--url", proxy.URL},
		{"call", "-v", "--json", "--url", proxy.URL, "divide", `{"a":6,"b":0}`},
	} {
		at := len(args)
		if args[0] == "call" {
			at -= 2
		}
		args = append(args[:at:at], append(headers, args[at:]...)...)
		_, stdout, stderr := runs(t, args...)
		if strings.Contains(stdout+stderr, "s3cret") {
			t.Errorf("%v: the output shows a header:\n%s\n%s", args, stdout, stderr)
		}
	}
	if requests.Load() < 4 || without.Load() > 0 {
		t.Errorf("requests: got %d, %d of them without the headers; want several, all with the headers", requests.Load(),
			without.Load())
	}
}

func TestUnauthorizedErrorExplainsHowToAuthorize(t *testing.T) {
	noCollector(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer server.Close()
	code, _, stderr := runs(t, "tools", "--url", server.URL)
	if code != exitConnection || !strings.Contains(stderr, "--auth") {
		t.Errorf("got exit code %d and %q, want %d and a hint to --auth", code, stderr, exitConnection)
	}
}

func TestAddressesWithoutAHostAreOnLoopback(t *testing.T) {
	for given, want := range map[string]string{
		":8080": "127.0.0.1:8080", "8080": "127.0.0.1:8080", "0": "127.0.0.1:0", "localhost:1": "localhost:1",
		"0.0.0.0:8080": "0.0.0.0:8080", "[::1]:80": "[::1]:80", "127.0.0.2:http": "127.0.0.2:http",
	} {
		if got, err := onLoopback(given); err != nil || got != want {
			t.Errorf("onLoopback(%q): got %q, error %v; want %q", given, got, err, want)
		}
	}
}

// TestCallOverHTTPIsOneTrace checks the spans that a collector receives for a call in each era.
func TestCallOverHTTPIsOneTrace(t *testing.T) {
	noCollector(t)
	sink, err := otlpsink.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer sink.Close(context.Background())
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"+sink.Endpoint())
	address, stop := serves(t, "0")
	tools := map[string]string{"2026-07-28": "forecast", "2025-11-25": "divide"}
	for version, tool := range tools {
		if code, _, stderr := runs(t, "call", "--url", address, "--pin-version", version, tool,
			`{"city":"Oslo","a":1,"b":1}`); code == exitConnection {
			t.Fatalf("a call of %s with version %s: %s", tool, version, stderr)
		}
	}
	stop() // the server exports its remaining spans
	otlpcheck.Check(t, sink.Snapshot())
	spans := sink.Snapshot().Spans
	for version, tool := range tools {
		caller := spanNamed(t, spans, "INTERNAL", "mcpotel call "+tool, "")
		client := spanNamed(t, spans, "CLIENT", "tools/call "+tool, caller.TraceID)
		server := spanNamed(t, spans, "SERVER", "tools/call "+tool, caller.TraceID)
		if client.ParentID != caller.SpanID || server.ParentID != client.SpanID {
			t.Errorf("version %s: want caller %s > client > server, got client below %s and server below %s (client %s)",
				version, caller.SpanID, client.ParentID, server.ParentID, client.SpanID)
		}
	}
}

// TestExpiredSessionDoesNotSuggestAuthorization uses a server that answers the handshake, and in some cases one page of
// tools, and then rejects the session.
func TestExpiredSessionDoesNotSuggestAuthorization(t *testing.T) {
	noCollector(t)
	const forgotten = "the server no longer knows the session"
	for name, tc := range map[string]struct {
		status    int
		challenge string
		served    bool // the server answers one request of the session first
		want      string
		auth      bool
	}{
		"404":                                {404, "", false, forgotten, false},
		"401 after a page":                   {401, "", true, forgotten, false},
		"401 after the handshake":            {401, "", false, "it may have forgotten the session", false},
		"401 with a challenge":               {401, "Bearer", false, "not authorized", true},
		"401 with a challenge, after a page": {401, "Bearer", true, "not authorized", true},
		"404 after a page":                   {404, "", true, forgotten, false},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var m struct {
					ID     json.RawMessage
					Method string
					Params struct{ Cursor string }
				}
				_ = json.NewDecoder(r.Body).Decode(&m) // a GET request has no body
				w.Header().Set("Content-Type", "application/json")
				answer := func(result string) { fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result) }
				switch {
				case m.Method == "initialize":
					w.Header().Set("Mcp-Session-Id", "s")
					answer(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`)
				case r.Header.Get("Mcp-Session-Id") == "":
					w.WriteHeader(http.StatusBadRequest)
				case m.Method == "notifications/initialized":
					w.WriteHeader(http.StatusAccepted)
				case m.Method == "tools/list" && tc.served && m.Params.Cursor == "":
					answer(`{"tools":[],"nextCursor":"2"}`)
				default:
					if tc.challenge != "" {
						w.Header().Set("WWW-Authenticate", tc.challenge)
					}
					w.WriteHeader(tc.status)
				}
			}))
			defer server.Close()
			code, _, stderr := runs(t, "tools", "--url", server.URL)
			if code != exitConnection || !strings.Contains(stderr, tc.want) || strings.Contains(stderr, "--auth") != tc.auth {
				t.Errorf("want %q, and --auth %v, got %d: %s", tc.want, tc.auth, code, stderr)
			}
			if strings.Contains(tc.want, forgotten) && strings.Contains(stderr, "--header") {
				t.Errorf("want no request for credentials, got %s", stderr)
			}
		})
	}
}
