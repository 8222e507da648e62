package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/inspect"
	"github.com/mcpotel/mcpotel/internal/command/demoserver"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// A screen is the output of a command so far.
type screen struct {
	mu   sync.Mutex
	text strings.Builder // guarded by mu
	news chan struct{}   // closed and replaced at each change; guarded by mu
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.news)
	s.news = make(chan struct{})
	return s.text.Write(p)
}

func (s *screen) now() (string, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String(), s.news
}

// stays starts a command that runs until it is stopped, waits for output that matches the pattern, and returns the
// first group of the match. stop ends the command like a signal, and returns the exit code and the whole output.
func stays(t *testing.T, pattern string, args ...string) (matched string, stop func() (int, string)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	s := &screen{news: make(chan struct{})}
	var code int
	done := make(chan struct{})
	go func() {
		defer close(done)
		code = run(ctx, streams{strings.NewReader(""), s, s, false}, args)
	}()
	stop = func() (int, string) {
		cancel()
		<-done
		text, _ := s.now()
		return code, text
	}
	t.Cleanup(func() { stop() })
	deadline := time.After(time.Minute)
	for {
		text, news := s.now()
		if m := regexp.MustCompile(pattern).FindStringSubmatch(text); m != nil {
			return m[1], stop
		}
		select {
		case <-news:
		case <-done:
			t.Fatalf("%q ended with %d before it printed %s:\n%s", args, code, pattern, text)
		case <-deadline:
			t.Fatalf("%q has not printed %s:\n%s", args, pattern, text)
		}
	}
}

// traces returns the traces on a page: the number of spans by the name of the trace.
func traces(t *testing.T, page string) map[string]int {
	t.Helper()
	answer, err := http.Get(page + "traces.json")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var list struct {
		Traces []struct {
			Name  string
			Spans int
		}
	}
	if err := json.NewDecoder(answer.Body).Decode(&list); err != nil {
		t.Fatal(err)
	}
	all := map[string]int{}
	for _, x := range list.Traces {
		all[x.Name] = x.Spans
	}
	return all
}

const ended = `The traces are at (\S+)\nCtrl-C`

func TestDemoKeepsItsPageOpen(t *testing.T) {
	noCollector(t)
	url, stop := stays(t, ended, "demo", "--web")
	all := traces(t, url)
	for _, scene := range []string{"a call that succeeds", "a tool that reports an error",
		"a call that times out", "a server that is killed during a call"} {
		if all["demo: "+scene] < 3 {
			t.Errorf("want the trace of %s with the spans of client and server, got %v", scene, all)
		}
	}
	answer, err := http.Get(url + strings.TrimPrefix(debugPath, "/"))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"of this process ended", `href="/metrics"`, `href="/logs"`} {
		if !strings.Contains(string(body), want) {
			t.Errorf("page of clients after the end of the demo: want %q, got\n%s", want, body)
		}
	}
	code, text := stop()
	if !regexp.MustCompile(`Call its tools yourself at http://\S+\.localhost:\d+/\?token=`).MatchString(text) {
		t.Errorf("want the address of the pages on which the server can be used, got\n%s", text)
	}
	if code != exitOK || !strings.Contains(text, "Their telemetry is shown at "+url) {
		t.Errorf("want exit code 0, and the URL of the page at the beginning, got %d:\n%s", code, text)
	}
	if _, err := http.Get(url); err == nil {
		t.Error("the page is still reachable after the command")
	}
}

func TestCallKeepsItsPageOpenAndItsExitCode(t *testing.T) {
	noCollector(t)
	url, stop := stays(t, ended, append([]string{"call", "--web", "divide", `{"a":1,"b":0}`}, demoServerCommand(t)...)...)
	// The trace includes the server's spans, because the server exports here too.
	if all := traces(t, url); all["mcpotel call divide"] < 5 {
		t.Errorf("want the trace of the call with the spans of the server, got %v", all)
	}
	if code, text := stop(); code != exitTool || strings.Count(text, "division by zero") != 1 {
		t.Errorf("want exit code %d and the error exactly once, got %d:\n%s", exitTool, code, text)
	}
}

func TestCallReportsItsErrorBeforeThePage(t *testing.T) {
	noCollector(t)
	_, stop := stays(t, `(?s)mcpotel: (.*SIGKILL).*The traces are at`,
		append([]string{"call", "--web", "crash"}, demoServerCommand(t)...)...)
	if code, text := stop(); code != exitConnection || strings.Count(text, "SIGKILL") != 1 {
		t.Errorf("want exit code %d and the error exactly once, got %d:\n%s", exitConnection, code, text)
	}
}

func TestTraceOfACallHasTheSpansOfTheServer(t *testing.T) {
	noCollector(t)
	_, _, stderr := runs(t, append([]string{"call", "--trace", "divide", `{"a":6,"b":3}`}, demoServerCommand(t)...)...)
	if !strings.Contains(stderr, demoserver.Name[:10]) || !strings.Contains(stderr, "SERVER") {
		t.Errorf("want spans of client and server, got:\n%s", stderr)
	}
}

func TestViewShowsTelemetryOfOtherPrograms(t *testing.T) {
	noCollector(t)
	page, stop := stays(t, `(?s)The traces are at (\S+)\n.*Ctrl-C`, "view", "--grpc=127.0.0.1:0", "--http=127.0.0.1:0",
		"--web=127.0.0.1:0")
	_, text := fetch(t, page)
	grpc := regexp.MustCompile(`ENDPOINT=http://(127\S+)\n`).FindStringSubmatch(text)
	if grpc == nil {
		t.Fatalf("want the endpoint for exports, got:\n%s", text)
	}
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"+grpc[1])
	if code, _, stderr := runs(t, append([]string{"tools"}, demoServerCommand(t)...)...); code != exitOK {
		t.Fatalf("tools: want exit code 0, got %d: %s", code, stderr)
	}
	if all := traces(t, page); all["mcpotel tools"] < 3 {
		t.Errorf("want the trace of the other command, got %v", all)
	}
	if code, text := stop(); code != exitOK || !strings.Contains(text, "OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf") {
		t.Errorf("want exit code 0, and both endpoints, got %d:\n%s", code, text)
	}
}

// fetch gets a page. header may have the name and the value of a header.
func fetch(t *testing.T, page string, header ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, page, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(header) > 0 {
		r.Header.Set(header[0], header[1])
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(raw)
}

func TestViewShowsATraceFromJaeger(t *testing.T) {
	noCollector(t)
	const id = "450a6458619ee611e4ea03ffb833d2db"
	jaeger := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/v3/services" {
			fmt.Fprint(w, `{"services":["shop"]}`)
			return
		}
		if r.URL.Path != "/api/v3/traces/"+id {
			http.NotFound(w, r)
			return
		}
		fmt.Fprintf(w, `{"result":{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":%q,"spanId":"9742f0686140fd91",`+
			`"name":"from afar"}]}]}]}}`, id)
	}))
	defer jaeger.Close()
	url, stop := stays(t, `The trace is at (\S+)\n\nCtrl-C`, "view", "--web=127.0.0.1:0", "--jaeger", jaeger.URL, id)
	if code, text := fetch(t, url); code != http.StatusOK || !strings.Contains(text, "from afar") {
		t.Errorf("want the trace, got %d", code)
	}
	if code, text := stop(); code != exitOK || strings.Contains(text, "OTEL_EXPORTER") {
		t.Errorf("want exit code 0, and no endpoint, because the command receives nothing, got %d:\n%s", code, text)
	}
}

// TestViewReportsAnInvalidJaeger uses servers with other answers, a silent server, and an unreachable server.
func TestViewReportsAnInvalidJaeger(t *testing.T) {
	noCollector(t)
	for name, tc := range map[string]struct {
		answer http.HandlerFunc // nil for an unreachable server
		stderr string
	}{
		"no server":   {nil, "no Jaeger answers at "},
		"no such API": {http.NotFound, "/api/v3/services: 404 Not Found"},
		"a web site": {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") },
			"is not a Jaeger with the API of version 3: /api/v3/services: invalid character"},
		"silence": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
			"no answer within " + jaegerPatience.String()},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(tc.answer)
			defer server.Close()
			if tc.answer == nil {
				server.Close()
			}
			code, stdout, stderr := runs(t, "view", "--web=127.0.0.1:0", "--jaeger", server.URL)
			if code != exitConnection || stdout != "" || !strings.Contains(stderr, tc.stderr) ||
				!strings.Contains(stderr, server.URL) {
				t.Errorf("want exit code %d, %q and no page, got %d, %q and %q", exitConnection, tc.stderr, code, stdout, stderr)
			}
		})
	}
}

func TestMisuseOfWebPagesIsExplained(t *testing.T) {
	noCollector(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	taken := l.Addr().String()
	server := demoServerCommand(t)
	for name, tc := range map[string]struct {
		args   []string
		stderr string
	}{
		"gRPC taken": {[]string{"view", "--grpc", taken},
			"--grpc: " + taken + " is in use by another program; --grpc=127.0.0.1:0 selects a free port"},
		"HTTP taken": {[]string{"view", "--grpc=127.0.0.1:0", "--http", taken}, "--http: " + taken + " is in use"},
		"page taken": {[]string{"view", "--grpc=127.0.0.1:0", "--http=", "--web", taken},
			"--web: " + taken + " is in use"},
		"demo taken": {[]string{"demo", "--web=" + taken}, "--web: " + taken + " is in use"},
		"call taken": {append([]string{"call", "--web=" + taken, "divide"}, server...),
			"--web: " + taken + " is in use"},
		"all addresses":   {[]string{"view", "--grpc=0.0.0.0:0"}, "is not a loopback address"},
		"no host":         {[]string{"demo", "--web=:8080"}, "is not a loopback address"},
		"no address":      {[]string{"view", "--grpc=127.0.0.1:0", "--http=", "--web=nonsense"}, "--web: "},
		"no Jaeger":       {[]string{"view", "abc"}, "give --jaeger URL"},
		"no URL":          {[]string{"view", "--jaeger", "localhost"}, "--jaeger: "},
		"two traces":      {[]string{"view", "--jaeger", "http://localhost", "abc", "def"}, `unexpected argument "def"`},
		"an unknown flag": {[]string{"view", "--frob"}, `"mcpotel help view" lists the flags`},
	} {
		t.Run(name, func(t *testing.T) {
			if code, _, stderr := runs(t, tc.args...); code != exitUsage || !strings.Contains(stderr, tc.stderr) {
				t.Errorf("want exit code %d and %q, got %d and %q", exitUsage, tc.stderr, code, stderr)
			}
		})
	}
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	if code, _, stderr := runs(t, "demo", "--web"); code != exitUsage ||
		!strings.Contains(stderr, "the environment names a collector") {
		t.Errorf("with a collector: want exit code %d and the reason, got %d and %q", exitUsage, code, stderr)
	}
}

func TestDemoServerHasADebugPage(t *testing.T) {
	noCollector(t)
	url, _ := serves(t, "0")
	if code, _, stderr := runs(t, "call", "--url", url, "divide", `{"a":6,"b":0}`); code != exitTool {
		t.Fatalf("a call of divide by zero: got exit code %d, want %d: %s", code, exitTool, stderr)
	}
	resp, err := http.Get(strings.TrimSuffix(url, servedPath) + debugPath + "?format=json")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var page struct{ Servers []inspect.Server }
	if err := json.NewDecoder(resp.Body).Decode(&page); err != nil {
		t.Fatal(err)
	}
	divides := func(s inspect.Server) bool {
		return slices.ContainsFunc(s.Networks, func(n inspect.Network) bool {
			return slices.ContainsFunc(n.Operations, func(o telemetry.Operation) bool {
				return o.Target == "divide" && o.Count == 1 && o.Errors[names.ErrorToolError] == 1
			})
		})
	}
	if !slices.ContainsFunc(page.Servers, divides) {
		t.Errorf("servers on the page: got %+v, want one with one failed divide", page.Servers)
	}
}
