package debugpage_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/inspect"
	"github.com/mcpotel/mcpotel/inspect/debugpage"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// client and server return themselves when they are inspected.
type (
	client inspect.Client
	server inspect.Server
)

func (c client) Inspect() inspect.Client { return inspect.Client(c) }
func (s server) Inspect() inspect.Server { return inspect.Server(s) }

// noon is the time at which the tests render the page.
var noon = time.Date(2026, time.July, 28, 12, 0, 0, 0, time.UTC)

// get requests a page of h under the usual path.
func get(t testing.TB, h http.Handler, query string, change ...func(*http.Request)) *http.Response {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "http://localhost/debug/mcp/"+query, nil)
	for _, c := range change {
		c(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

// page requests a page, requires status 200, and returns the page's <main>.
func page(t *testing.T, h http.Handler, query string) *node {
	t.Helper()
	w := get(t, h, query)
	body := text(t, w)
	if w.StatusCode != http.StatusOK {
		t.Fatalf("%q: want 200, got %d: %s", query, w.StatusCode, body)
	}
	return mainOf(t, body)
}

func text(t *testing.T, w *http.Response) string {
	t.Helper()
	body, err := io.ReadAll(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestEachStateIsExplained(t *testing.T) {
	for _, tt := range []struct {
		name        string
		c           client
		badge, lead string
		failed      bool
	}{
		{"starting", client{State: connstate.Starting, InState: 2 * time.Second, Due: noon.Add(8 * time.Second), Attempt: 1},
			"starting", "Opening a connection for 2.00s, attempt 1, which times out in 8.00s.", true},
		{"initializing", client{State: connstate.Initializing, InState: 3 * time.Second, Due: noon.Add(7 * time.Second),
			Attempt: 4},
			"initializing", "Negotiating with the server for 3.00s, attempt 4, which times out in 7.00s.", true},
		{"ready", client{State: connstate.Ready, InState: 3*time.Hour + 5*time.Minute}, "ready", "Ready for 3h05m.", false},
		{"backoff after a loss", client{
			State: connstate.Backoff, Reason: connstate.ReasonTransportDown, InState: time.Second,
			Due: noon.Add(30 * time.Second),
			Err: "EOF",
		}, "backoff", "The connection was lost 1.00s ago (transport down). The next attempt begins in 30.0s.", true},
		{"backoff after attempts", client{
			State: connstate.Backoff, Reason: connstate.ReasonOpenFailed, InState: time.Second, Due: noon.Add(30 * time.Second),
			Attempt: 7, Err: "refused",
		}, "backoff", "Attempt 7 failed 1.00s ago (open failed). The next begins in 30.0s.", true},
		{"backoff whose end has passed", client{State: connstate.Backoff, Attempt: 7, Due: noon.Add(-time.Second)},
			"backoff", "Attempt 7 failed 0ns ago ( OTHER). The next begins in 0ns.", true},
		{"closing", client{State: connstate.Closing, InState: 50 * time.Millisecond}, "closing", "Closes for 50.0ms.", false},
		{"stopped", client{State: connstate.Closing, Ended: true, InState: time.Minute}, "stopped",
			"It was stopped 1m00s ago.", false},
		{"given up", client{State: connstate.Closing, Ended: true, Reason: connstate.ReasonRefused, GaveUp: "no such file",
			InState: time.Minute},
			"gave up", "It gave up 1m00s ago and does not reconnect: refused.", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.c.Time, tt.c.Number, tt.c.Name = noon, 7, "files"
			h := debugpage.Handler(debugpage.WithClients(tt.c), debugpage.WithServers())
			p := page(t, h, "?client=7")
			if got := p.one("state").text(); got != tt.badge {
				t.Errorf("state: got %q, want %q", got, tt.badge)
			}
			if got := strings.TrimSuffix(p.one("lead").text(), " JSON"); got != tt.lead {
				t.Errorf("explanation: got %q, want %q", got, tt.lead)
			}
			if got, want := p.one("error").text(), tt.c.GaveUp+tt.c.Err; !strings.HasSuffix(got, want) ||
				(got == "") != (want == "") {
				t.Errorf("error: got %q, want %q", got, want)
			}
			row := page(t, h, "").one("client-7")
			if row == nil || row.has("failed") != tt.failed || !strings.Contains(row.text(), tt.badge) {
				t.Errorf("on the overview: got %q with failed %v, want %q with %v", row.text(), row != nil && row.has("failed"),
					tt.badge, tt.failed)
			}
		})
	}
}

func TestAClientsCallsAndOperationsAreShown(t *testing.T) {
	c := client{
		Time: noon, Number: 3, Name: "weather", InstanceID: "00c0ffee00c0ffee",
		State: connstate.Ready, InFlight: 3, Tombstones: 2, Sessions: 5,
		Server: "weather", ServerVersion: "2.4", Version: mcp.Version20260728, Era: "modern", Transport: "pipe", PID: 4711,
		Waiting: 2, Tools: &inspect.ToolList{Tools: 81, Bytes: 90_773, EstimatedTokens: 20_116},
		Calls: []inspect.Call{
			{ID: 41, Method: "tools/call", Target: "radar", Since: noon.Add(-58 * time.Second), Age: 58 * time.Second,
				Deadline: noon.Add(2 * time.Second),
				CorrID:   strings.Repeat("ab", 16), TraceID: strings.Repeat("cd", 16), Retries: 2, Round: 1},
			{ID: 42, Method: "resources/read", URI: "file:///etc/motd", Since: noon.Add(-time.Second), Age: time.Second},
			{ID: 43, Method: "subscriptions/listen", Age: time.Hour, Stream: true},
		},
		Operations: []telemetry.Operation{
			{Direction: "received", Method: "sampling/createMessage", Count: 2, P50: time.Second},
			{Direction: "sent", Method: "server/discover", Count: 1, Failed: 1, Errors: map[string]uint64{"-32601": 1}},
			{Direction: "sent", Method: "tools/call", Target: "radar", Count: 200, Failed: 14,
				Errors: map[string]uint64{"tool_error": 3, "timeout": 7, "cancelled": 4}, P50: 12 * time.Millisecond,
				P95: 80 * time.Millisecond,
				P99: 1200 * time.Millisecond, Max: 30 * time.Second},
		},
		Recent: []telemetry.FlightEntry{
			{Time: noon.Add(-time.Minute), Kind: "transition", From: "initializing", To: "ready", Reason: "negotiated", Epoch: 5,
				Attempt: 1},
			{Time: noon.Add(-58 * time.Second), Kind: "request", Direction: "sent", Method: "tools/call", Target: "radar",
				Pending: true, ID: "41"},
			{Time: noon.Add(-time.Second), Kind: "request", Direction: "sent", Method: "tools/call", Target: "radar",
				Failed: true,
				Reason: "timeout", Elapsed: 2 * time.Second, TraceID: strings.Repeat("ef", 16)},
		},
	}
	h := debugpage.Handler(debugpage.WithClients(c), debugpage.WithTraceURL("http://jaeger:16686/trace/{trace_id}"))
	p := page(t, h, "?client=3")

	for name, want := range map[string]string{
		"calls in flight": "3", "requests": "203", "failed": "4.9 %", "unanswered": "2", "reconnections": "4",
	} {
		if got := p.tile(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	calls := p.rows("calls")
	if len(calls) != 3 || !calls[0].has("failed") || calls[0].cell("age") != "58.0s" ||
		calls[0].cell("deadline in") != "2.00s" ||
		!strings.Contains(calls[0].text(), "radar sent again 2× round 1") ||
		calls[0].cell("correlation") != strings.Repeat("ab", 16) {
		t.Errorf("the first call: got %q, want it close to its deadline", calls[0].text())
	}
	if calls[1].has("failed") || calls[1].cell("deadline in") != "none" ||
		!strings.Contains(calls[1].text(), "file:///etc/motd") ||
		!strings.Contains(calls[2].text(), "subscription") {
		t.Errorf("the others: got %q and %q", calls[1].text(), calls[2].text())
	}
	var links []string
	for _, a := range p.all(func(n *node) bool { return n.name == "a" && strings.HasPrefix(n.attrs["href"], "http") }) {
		links = append(links, a.attrs["href"])
	}
	if want := []string{"http://jaeger:16686/trace/" + strings.Repeat("cd", 16),
		"http://jaeger:16686/trace/" + strings.Repeat("ef", 16)}; !slices.Equal(links, want) {
		t.Errorf("traces: got %q, want %q", links, want)
	}
	ops := p.rows("operations")
	if got, want := ops[0].text(),
		"tools/call radar 200 5.0 % timeout × 7 cancelled × 4 tool_error × 3 12.0ms 80.0ms 1.20s 30.0s"; got != want {
		t.Errorf("the busiest operation: got %q, want %q", got, want)
	}
	if ops[1].has("failed") || ops[1].cell("failed") != "0 %" {
		t.Errorf("a failed probe must not count as a failure, got %q", ops[1].text())
	}
	last := p.rows("recent")
	if len(last) != 3 || !strings.Contains(last[0].text(), "1.00s ago request tools/call radar timeout 2.00s") ||
		!last[0].has("failed") ||
		!strings.Contains(last[1].text(), "in flight id 41") ||
		!strings.Contains(last[2].text(), "initializing → ready ready negotiated") {
		t.Errorf("recent entries, newest first: got %q, %q, %q", last[0].text(), last[1].text(), last[2].text())
	}
	facts := p.text()[strings.LastIndex(p.text(), "Connection"):]
	for _, want := range []string{"weather 2.4", "2026-07-28 (modern)", "pipes of a process", "4711",
		"Instance 00c0ffee00c0ffee", "Tools listed 81, 88.6 KiB, about 20116 tokens"} {
		if !strings.Contains(facts, want) {
			t.Errorf("want %q among the facts, got %q", want, facts)
		}
	}
	row := page(t, h, "").one("client-3")
	if row.cell("oldest") != "58.0s" || row.cell("in flight") != "3 2 waiting" {
		t.Errorf("on the overview: got %q, want the oldest call that is not a subscription, and the number of waiting "+
			"goroutines", row.text())
	}
}

func TestAServersRequestsAndConnectionsAreShown(t *testing.T) {
	s := server{
		Time: noon, Number: 2, Name: "weather", InstanceID: "pod-7",
		Server: "weather", Version: "2", Versions: mcp.SupportedVersions(), Tools: 3, Prompts: 1,
		Limits: inspect.Limits{MaxConcurrent: 4, MaxTotal: 8, FrameLimit: 16 << 20}, Places: inspect.Places{Used: 8},
		Connected: 3, InFlight: 2, RunningTasks: 1, MaxTasks: 1024, Subscriptions: 6,
		Connections: []inspect.Connection{{Number: 9, Client: "ide", ClientVersion: "1.0", Version: mcp.Version20251125,
			Running: 4, Waiting: 2, Bytes: 2048,
			Session: "ABCDEF…", Transport: "tcp", Protocol: "http", Age: time.Hour}},
		Handlers: []inspect.HTTP{{Requests: 5, MaxRequests: 1024, Sessions: 3, MaxSessions: 10_000}},
		Requests: []inspect.Request{
			{Connection: 9, ID: "17", Method: "tools/call", Target: "radar", Age: 3 * time.Second,
				TraceID: strings.Repeat("ab", 16)},
			{Method: "tools/call", Target: "forecast", Waiting: true},
		},
		Tasks: []inspect.Task{{Tool: "climate", Status: mcp.TaskWorking, Age: time.Minute}},
		Networks: []inspect.Network{
			{Transport: "tcp", Protocol: "http", Version: "1.1",
				Operations: []telemetry.Operation{{Direction: "received", Method: "tools/list", Count: 12}}}},
	}
	h := debugpage.Handler(debugpage.WithClients(), debugpage.WithServers(s))
	p := page(t, h, "?server=2")
	if r := p.rows("requests"); len(r) != 2 || r[0].cell("age") != "3.00s" || r[0].cell("connection") != "9" ||
		r[0].cell("trace") != strings.Repeat("ab", 16) ||
		!strings.Contains(r[1].text(), "waits for a place") || r[1].cell("connection") != "HTTP" {
		t.Errorf("requests: got %v", r)
	}
	if c := p.one("connection-9"); c.cell("running") != "4" || c.cell("waiting") != "2 2.00 KiB" ||
		!strings.Contains(c.text(), "ide 1.0 2025-11-25 http over tcp session ABCDEF…") {
		t.Errorf("connection: got %q", c.text())
	}
	if got := p.tile("places taken"); got != "8 / 8" {
		t.Errorf("places: got %q, want 8 / 8", got)
	}
	for _, want := range []string{"Instance pod-7", "climate working 1m00s", "and 2 more", "3 tools, 1 prompt",
		"3 of 10000 sessions", "tools/list 12 0 %", "http 1.1 over tcp"} {
		if !strings.Contains(p.text(), want) {
			t.Errorf("want %q on the page, got %q", want, p.text())
		}
	}
	if row := page(t, h, "").one("server-2"); row.cell("connected") != "3" || row.cell("requests") != "12" {
		t.Errorf("on the overview: got %q", row.text())
	}
}

func TestThePageIsBounded(t *testing.T) {
	var all []debugpage.Client
	for n := range 10_000 {
		c := client{Time: noon, Number: uint64(n + 1), Name: "c", State: connstate.Ready}
		if n == 9_999 {
			c.State, c.Name, c.InFlight = connstate.Backoff, "in trouble", 10_000
			for id := range inspect.MaxListed {
				c.Calls = append(c.Calls, inspect.Call{ID: int64(id), Method: "tools/call", Target: "x", Age: time.Minute})
			}
		}
		all = append(all, c)
	}
	h := debugpage.Handler(debugpage.WithClients(all...), debugpage.WithServers())
	w := get(t, h, "")
	body := text(t, w)
	p := mainOf(t, body)
	if rows := p.rows("clients"); len(rows) != 100 || !strings.Contains(rows[0].text(), "in trouble") ||
		len(body) > 300_000 {
		t.Errorf("got %d clients, the first %q, and %d bytes, want 100, the one in trouble first", len(rows), rows[0].text(),
			len(body))
	}
	if p.tile("clients") != "10000" || p.one("pages").text() != "1 to 100 of 10000 · next →" ||
		!strings.Contains(p.text(), "and 9980 more") {
		t.Errorf("want the page to show the number of the rest, got %.300q", p.text())
	}
	if p := page(t, h, "?client=10000"); len(p.rows("calls")) != inspect.MaxListed ||
		!strings.Contains(p.text(), "and 9900 more") {
		t.Errorf("got %d calls, want %d and the number of the rest", len(p.rows("calls")), inspect.MaxListed)
	}
}

// hostile tries to break out of text, attributes, quotation marks and lines.
const hostile = "</main><script>alert(1)</script><img src=x onerror=alert(1)>\"' onload='x' " +
	"javascript:alert(1)\x00\x1b[31m\u202e{{.}}"

// fill sets every string of v to the hostile text, and adds elements to every list.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(hostile)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for _, field := range v.Fields() {
			fill(field)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			fill(v.Index(i))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf(hostile), reflect.ValueOf(uint64(3)))
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint64:
		v.SetUint(1)
	case reflect.Bool:
		v.SetBool(true)
	}
}

func TestHostileTextIsShownHarmlessly(t *testing.T) {
	var c client
	var s server
	fill(reflect.ValueOf(&c).Elem())
	fill(reflect.ValueOf(&s).Elem())
	c.Ended, c.GaveUp = false, ""
	c.Recent = nil
	for _, kind := range []string{
		"request", "handler", "notification", "attempt", "transition", "backoff", "violation", "drop", "lost", "panic",
		"exit", "stream",
		"session", "task", "failure", hostile,
	} {
		var e telemetry.FlightEntry
		fill(reflect.ValueOf(&e).Elem())
		e.Kind = kind
		c.Recent = append(c.Recent, e)
	}
	h := debugpage.Handler(debugpage.WithClients(c), debugpage.WithServers(s),
		debugpage.WithTraceURL("http://jaeger/{trace_id}"))
	safe := map[string]bool{}
	for name := range strings.FieldsSeq(
		"main h1 h2 p a ul li b div span table thead tbody tr th td time details summary dl dt dd") {
		safe[name] = true
	}
	for _, query := range []string{"", "?client=1", "?server=1", "?client=" + strings.ReplaceAll(hostile[:60], "=", ""),
		"?server=%3Cscript%3E"} {
		w := get(t, h, "", func(r *http.Request) { r.URL.RawQuery = strings.TrimPrefix(query, "?") })
		body := text(t, w)
		p := mainOf(t, body)
		for _, n := range p.all(func(*node) bool { return true }) {
			if !safe[n.name] {
				t.Errorf("%s: want no <%s> on the page", query, n.name)
			}
			for key, value := range n.attrs {
				switch ok := key == "id" || key == "class" || key == "title" || key == "datetime" || key == "data-label" ||
					key == "href" && (strings.HasPrefix(value, "?") || strings.HasPrefix(value, "http://jaeger/")); {
				case !ok:
					t.Errorf("%s: want no %s=%q on the page", query, key, value)
				}
			}
		}
		if w.StatusCode == http.StatusOK && !strings.Contains(p.text(), "</main><script>alert(1)</script>") {
			t.Errorf("%s: want the text unchanged, got %.200q", query, p.text())
		}
		if bad := regexp.MustCompile("[\x00\x1b\u202e]").FindString(body); bad != "" {
			t.Errorf("%s: want no %q on the page", query, bad)
		}
		if policy := w.Header.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'") {
			t.Errorf("%s: policy: got %q", query, policy)
		}
	}
}

func TestThePageWorksUnderAnyPrefix(t *testing.T) {
	h := debugpage.Handler(debugpage.WithClients(client{Time: noon, Number: 3, Name: "files"}), debugpage.WithServers())
	mux := http.NewServeMux()
	mux.Handle("/debug/mcp/", h)
	mux.Handle("/debug/exact", h)
	mux.Handle("/a/b/", http.StripPrefix("/a/b", h))
	for _, path := range []string{"/debug/mcp/", "/debug/exact", "/a/b/"} {
		for _, query := range []string{"", "?client=3"} {
			r := httptest.NewRequest(http.MethodGet, path+query, nil)
			w := httptest.NewRecorder()
			mux.ServeHTTP(w, r)
			if w.Code != http.StatusOK {
				t.Errorf("%s%s: got %d, want 200", path, query, w.Code)
				continue
			}
			for _, a := range mainOf(t, w.Body.String()).all(func(n *node) bool { return n.name == "a" }) {
				to, err := r.URL.Parse(a.attrs["href"])
				if err != nil || to.Path != r.URL.Path {
					t.Errorf("%s: a link leads to %v, %v, want it to stay under the path", path, to, err)
				}
			}
		}
	}
}

func TestOnlyGETAndHEADAreAllowed(t *testing.T) {
	h := debugpage.Handler(debugpage.WithClients(), debugpage.WithServers())
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions, "BREW"} {
		w := get(t, h, "", func(r *http.Request) { r.Method = method })
		if w.StatusCode != http.StatusMethodNotAllowed || w.Header.Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: got %d with Allow %q, want 405 with GET, HEAD", method, w.StatusCode, w.Header.Get("Allow"))
		}
	}
	if w := get(t, h, "", func(r *http.Request) {
		r.Method = http.MethodHead
	}); w.StatusCode != http.StatusOK || text(t, w) != "" {
		t.Errorf("HEAD: got %d, want 200 and no body", w.StatusCode)
	}
	if w := get(t, h, "?client=99"); w.StatusCode != http.StatusNotFound ||
		!strings.Contains(text(t, w), "No client with the number 99") {
		t.Errorf("missing client: got %d, want 404", w.StatusCode)
	}
}

func TestPageIsAvailableAsJSON(t *testing.T) {
	c := client{Time: noon, Number: 3, Name: "files", State: connstate.Backoff,
		Recent: []telemetry.FlightEntry{{Kind: "backoff"}}}
	h := debugpage.Handler(debugpage.WithClients(c), debugpage.WithServers())
	accept := func(r *http.Request) { r.Header.Set("Accept", "application/json") }
	for query, change := range map[string][]func(*http.Request){"?format=json": nil, "": {accept}, "index.json": nil} {
		var o struct {
			Clients []inspect.Client
			Servers []inspect.Server
			Process struct{ PID int }
		}
		w := get(t, h, query, change...)
		if err := json.Unmarshal([]byte(text(t, w)), &o); err != nil || w.Header.Get("Content-Type") != "application/json" {
			t.Fatalf("%q: got %v and %q", query, err, w.Header.Get("Content-Type"))
		}
		if len(o.Clients) != 1 || o.Clients[0].Name != "files" || o.Clients[0].Recent != nil || o.Servers == nil ||
			o.Process.PID == 0 {
			t.Errorf("%q: got %+v, want the client without its recent entries", query, o)
		}
	}
	var one struct {
		State  string
		Recent []telemetry.FlightEntry
	}
	if err := json.Unmarshal([]byte(text(t, get(t, h, "?client=3&format=json"))), &one); err != nil ||
		one.State != "backoff" || len(one.Recent) != 1 {
		t.Errorf("one client: got %+v, %v, want all of it", one, err)
	}
	if w := get(t, h, "?server=1&format=json"); w.StatusCode != http.StatusNotFound || !json.Valid([]byte(text(t, w))) {
		t.Errorf("missing client as JSON: got %d, want 404 and JSON", w.StatusCode)
	}
}

func TestLocalOnlyServesTheLoopback(t *testing.T) {
	h := debugpage.Handler(debugpage.LocalOnly())
	at := func(addr, host string) func(*http.Request) {
		return func(r *http.Request) {
			tcp, err := net.ResolveTCPAddr("tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			*r = *r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, tcp))
			r.Host = host
		}
	}
	for _, tt := range []struct {
		addr, host string
		want       int
	}{{"127.0.0.1:80", "localhost", 200}, {"127.0.0.1:80", "evil.example", 421}, {"192.0.2.1:80", "localhost", 421}} {
		if w := get(t, h, "", at(tt.addr, tt.host)); w.StatusCode != tt.want {
			t.Errorf("at %s as %s: got %d, want %d", tt.addr, tt.host, w.StatusCode, tt.want)
		}
	}
}

func TestInvalidTraceURLPanics(t *testing.T) {
	for _, good := range []string{"http://j/trace/{trace_id}", "https://j/?id={trace_id}", "/trace/{trace_id}"} {
		debugpage.WithTraceURL(good)
	}
	for _, bad := range []string{"", "http://j/trace", "javascript:alert('{trace_id}')", "j/{trace_id}",
		"http://%zz/{trace_id}"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q: want a panic", bad)
				}
			}()
			debugpage.WithTraceURL(bad)
		}()
	}
}

// The page shows running clients and servers without registration, and rendering does not disturb their calls.
func TestRunningClientsAndServersAreOnThePage(t *testing.T) {
	s := mcpserver.New(mcp.Implementation{Name: "page-test-server", Version: "1"}, nil)
	if err := mcpserver.AddTool(s, &mcp.Tool{Name: "quick"}, func(context.Context, struct{}) (string, error) {
		return "ok", nil
	}); err != nil {
		t.Fatal(err)
	}
	c, err := mcpclient.Connect(t.Context(), transport.InMemory(func(ctx context.Context, peer *transport.Peer) {
		_ = s.Serve(ctx, peer)
	}),
		&mcpclient.Options{Name: "page-test-client"})
	if err != nil {
		t.Fatal(err)
	}
	h := debugpage.Handler()
	var looking, calling sync.WaitGroup
	over := make(chan struct{})
	for _, query := range []string{"", fmt.Sprint("?client=", c.Inspect().Number),
		fmt.Sprint("?server=", s.Inspect().Number), "?format=json"} {
		looking.Go(func() {
			for {
				if w := get(t, h, query); w.StatusCode != http.StatusOK || !strings.Contains(text(t, w), "page-test-") {
					t.Errorf("%q: got %d, want the client and the server", query, w.StatusCode)
				}
				select {
				case <-over:
					return
				default:
				}
			}
		})
	}
	for range 64 {
		calling.Go(func() {
			for range 3 {
				if _, err := c.CallTool(t.Context(), "quick", nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	calling.Wait()
	close(over)
	looking.Wait()
	if got := page(t, h, fmt.Sprint("?client=", c.Inspect().Number)).
		rows("operations")[0].text(); !strings.HasPrefix(got, "tools/call quick 192 0 %") {
		t.Errorf("operations: got %q, want 192 calls without failures", got)
	}
	if err := c.Close(); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if p := page(t, h, ""); strings.Contains(p.text(), "page-test-client") {
		t.Error("a client that has ended is not on the page")
	}
}
