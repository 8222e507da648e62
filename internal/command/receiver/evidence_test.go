package receiver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/inspect"
	"github.com/mcpotel/mcpotel/internal/command/backend"
	"github.com/mcpotel/mcpotel/internal/command/prom"
	"github.com/mcpotel/mcpotel/internal/dashboard"
	"github.com/mcpotel/mcpotel/internal/explain"
	"github.com/mcpotel/mcpotel/internal/inspector"
	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

func TestEachAlertOfTheDashboardsHasARow(t *testing.T) {
	var want, got []string
	for _, a := range dashboard.Alerts() {
		want = append(want, a.Name)
	}
	for _, r := range rows {
		got = append(got, r.alert)
		if r.window <= 0 || r.cause == nil && !r.traced {
			t.Errorf("%s: want a window, and a cause or a trace", r.alert)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got rows for %q, want them for %q", got, want)
	}
}

// TestEachWordOfALabelIsExplained compares the tables with the words that telemetry uses.
func TestEachWordOfALabelIsExplained(t *testing.T) {
	for _, tc := range []struct {
		alert, label string
		words        []string
	}{
		{"MCPToolLoop", "mcp_client_loop_kind", words.LoopKinds},
		{"MCPToolChanged", "mcp_client_tool_change_kind", words.ToolChanges},
		{"MCPProtocolViolations", "mcp_server_violation_reason", words.ViolationReasons},
		{"MCPTransportBusy", "mcp_client_retry_reason", []string{names.RetryBusy, names.RetryServerBusy}},
		{"MCPServerRefusals", "mcp_server_refusal_reason", slices.DeleteFunc(slices.Clone(words.Refusals),
			func(word string) bool { // the alert does not count these
				return slices.Contains([]string{"method", "header", "version", "session", "unauthorized", "shutdown"}, word)
			})},
		{"MCPNotificationsDropped", "mcp_client_drop_reason", []string{names.DropQueueFull, names.DropNotReady,
			names.DropUnsubscribed}},
		{"MCPResponsesDropped", "mcp_server_drop_reason", []string{names.DropUnknownID, names.DropDuplicate,
			names.DropUnexpected}},
	} {
		if len(tc.words) == 0 {
			t.Errorf("%s: want words", tc.alert)
		}
		for _, word := range tc.words {
			c := known(tc.alert).cause(subject{labels: map[string]string{tc.label: word}}, nil)
			if !strings.HasSuffix(c.ID, "_"+word) || !strings.HasSuffix(c.Text, ".") || c.Do == "" {
				t.Errorf("%s, %s: want an explanation, got %+v", tc.alert, word, c)
			}
		}
	}
}

// spans is a source of traces. A search finds all of them.
type spans struct {
	all   map[string][]explain.Span
	after time.Time // when the traces arrive
	fail  error
	asked []inspector.Query
}

func (s *spans) Name() string { return "the traces" }

func (s *spans) Trace(_ context.Context, id string) ([]explain.Span, error) {
	if s.fail != nil || time.Now().Before(s.after) {
		return nil, s.fail
	}
	return s.all[id], nil
}

func (s *spans) Recent(_ context.Context, q inspector.Query) ([]string, error) {
	s.asked = append(s.asked, q)
	if s.fail != nil || time.Now().Before(s.after) {
		return nil, s.fail
	}
	return slices.Sorted(maps.Keys(s.all)), nil
}

// called returns the span of a call of the client orders, with more attributes.
func called(failure string, took time.Duration, more ...string) explain.Span {
	s := explain.Span{ID: "1", Service: "shop", Process: "p", Name: "tools/call pay", Kind: "CLIENT", Start: start,
		End: start.Add(took), Failed: failure != "", Attributes: map[string]string{names.KeyMCPMethodName: "tools/call",
			names.KeyGenAIToolName: "pay", names.KeyMCPClientName: "orders", names.KeyJSONRPCRequestID: "7"}}
	if failure != "" {
		s.Attributes[names.KeyErrorType] = failure
	}
	for pair := range slices.Chunk(more, 2) {
		s.Attributes[pair[0]] = pair[1]
	}
	return s
}

// id returns a trace id that ends with a digit.
func id(n int) string { return strings.Repeat("0", 31) + fmt.Sprint(n) }

func about(alert string, labels ...string) *Alert {
	a := &Alert{Status: Firing, StartsAt: start, Fingerprint: "1", Labels: map[string]string{"alertname": alert,
		"job": "shop", "mcp_client_name": "orders"}}
	for pair := range slices.Chunk(labels, 2) {
		a.Labels[pair[0]] = pair[1]
	}
	return a
}

// at runs a test in virtual time, one minute after start.
func at(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(start.Add(time.Minute)))
		f(t)
	})
}

// explains explains an alert within DefaultTimeout.
func explains(t *testing.T, e *Evidence, a *Alert) *Message {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), DefaultTimeout)
	defer cancel()
	return e.Explain(ctx, a)
}

var links = Links{Trace: "https://j/trace/{trace_id}", Search: "https://j", Runbook: DefaultRunbook}

func causes(m *Message) (ids []string) {
	for _, c := range m.Causes {
		ids = append(ids, c.ID)
		if len(c.Evidence) == 0 {
			ids = append(ids, c.ID+" WITHOUT EVIDENCE")
		}
	}
	return ids
}

func TestTheTraceThatShowsTheCauseIsExplained(t *testing.T) {
	ok, broken := called("", time.Second), called("-32603", time.Second)
	other := called("-32603", time.Second, names.KeyMCPClientName, "another")
	elsewhere := called("-32603", time.Second)
	elsewhere.Service = "elsewhere"
	old := called("-32603", time.Second)
	old.Start, old.End = start.Add(-3*time.Hour), start.Add(-2*time.Hour)
	attempt := called("connection_lost", time.Second, names.KeyMCPClientConnectionAttemptNumber, "3")
	for _, tc := range []struct {
		name    string
		alert   *Alert
		traces  []explain.Span
		causes  []string
		trace   string // id of the linked trace
		missing string
	}{
		{"failed call", about("MCPClientErrorBudgetFast"), []explain.Span{ok, other, elsewhere, broken},
			[]string{"server_failed"}, id(4), ""},
		{"namespace", about("MCPClientErrorBudgetFast", "job", "prod/shop"), []explain.Span{broken},
			[]string{"server_failed"}, id(1), ""},
		{"only good calls", about("MCPClientErrorBudgetFast"), []explain.Span{ok}, nil, id(1),
			"a trace that shows the cause"},
		{"only calls of others", about("MCPClientErrorBudgetFast"), []explain.Span{other, elsewhere}, nil, "",
			"a trace of the client orders in the time of the alert"},
		{"slow", about("MCPClientSlow"), []explain.Span{ok, called("", 6*time.Second)}, nil, id(2), ""},
		{"connecting", about("MCPClientNotReady"), []explain.Span{called("not_ready", 0), attempt},
			[]string{"hangs_up", "not_ready"}, id(2), ""},
		{"loop", about("MCPToolLoop", "mcp_client_loop_kind", "cycle"), []explain.Span{ok,
			called("", time.Second, names.KeyMCPClientLoopKind, "same_call"),
			called("", time.Second, names.KeyMCPClientLoopKind, "cycle")}, []string{"loop_cycle"}, id(3), ""},
		{"other word", about("MCPResponsesDropped", "mcp_client_drop_reason", "new"), []explain.Span{ok},
			[]string{"drop_other"}, id(1), "a trace that shows the cause"},
		{"injected", about("MCPResponsesDropped", "mcp_client_drop_reason", "duplicate"), []explain.Span{ok,
			called("", time.Second, names.KeyMCPClientFaultKind, "duplicate")}, []string{"drop_duplicate",
			"injected_duplicate"}, id(2), ""},
		{"only an older call", about("MCPClientErrorBudgetFast"), []explain.Span{old}, nil, "",
			"a trace of the client orders in the time of the alert"},
		{"any trace suffices", about("MCPSendQueueWait"), []explain.Span{ok}, []string{"slow_reader"}, id(1), ""},
		{"an alert of others", about("Mine"), []explain.Span{ok, broken}, []string{"server_failed"}, id(2), ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			at(t, func(t *testing.T) {
				source := &spans{all: map[string][]explain.Span{}}
				for i, s := range tc.traces {
					source.all[id(i+1)] = []explain.Span{s}
				}
				m := explains(t, &Evidence{Sources: inspector.Sources{Spans: []inspector.Spans{source}}, Links: links}, tc.alert)
				trace := ""
				if m.Trace != nil {
					trace = m.Trace.TraceID
				}
				if !slices.Equal(causes(m), tc.causes) || trace != tc.trace {
					t.Errorf("want the causes %q and the trace %s, got %q and %s:\n%s", tc.causes, tc.trace, causes(m), trace, m)
				}
				if got := strings.Join(m.Missing, "; "); (tc.missing == "") != (got == "") || !strings.Contains(got, tc.missing) {
					t.Errorf("missing: want %q, got %q", tc.missing, got)
				}
				if tc.trace == "" && (m.Trace == nil || !strings.HasPrefix(m.Trace.URL, "https://j/search?")) {
					t.Errorf("without a trace: want a link to a search, got %+v", m.Trace)
				}
				for _, q := range source.asked {
					if !slices.Contains([]string{"shop", "prod/shop"}, q.Service) || !q.Since.Before(start) ||
						q.Attributes[names.KeyMCPClientName] != "orders" {
						t.Errorf("want searches for the client from before the alert, got %+v", q)
					}
				}
			})
		})
	}
}

func TestTheSearchWaitsForATraceThatIsUnderWay(t *testing.T) {
	at(t, func(t *testing.T) {
		began := time.Now()
		source := &spans{all: map[string][]explain.Span{id(1): {called("-32603", time.Second)}},
			after: began.Add(3 * time.Second)}
		e := &Evidence{Sources: inspector.Sources{Spans: []inspector.Spans{source}}, Links: links}
		m := explains(t, e, about("MCPClientErrorBudgetFast"))
		if took := time.Since(began); took != 4*time.Second || !slices.Equal(causes(m), []string{"server_failed"}) ||
			m.Missing != nil {
			t.Errorf("want the cause after 4s, got after %v:\n%s", took, m)
		}
		source.after = began.Add(time.Hour)
		began = time.Now()
		m = explains(t, e, about("MCPClientErrorBudgetFast"))
		if took := time.Since(began); took != DefaultTimeout || m.Causes != nil || m.Runbook == nil {
			t.Errorf("want no cause after %v, got after %v:\n%s", DefaultTimeout, took, m)
		}
		over, cancel := context.WithCancel(t.Context())
		cancel()
		if m := e.Explain(over, about("MCPSendQueueWait")); m.Runbook == nil || len(m.Causes) != 1 ||
			!strings.HasPrefix(m.Missing[0], "a search: the time") {
			t.Errorf("without time: want the cause of the metrics and a note, got:\n%s", m)
		}
		source.fail = errors.New("HTTP 500\x1b[2J")
		m = explains(t, e, about("MCPClientErrorBudgetFast"))
		want := []string{"a trace of the client orders in the time of the alert", "the traces: HTTP 500�[2J"}
		if !slices.Equal(m.Missing, want) {
			t.Errorf("want %q, got %q", want, m.Missing)
		}
	})
}

// page is a source with the clients and servers of a debug page.
type page struct {
	inspector.Source
	seen inspector.Seen
	err  error
}

func (p page) Name() string                                 { return "http://localhost:6060" }
func (p page) Look(context.Context) (inspector.Seen, error) { return p.seen, p.err }

func TestFlightRecordersSuffice(t *testing.T) {
	entry := func(trace string, pending bool, reason string) telemetry.FlightEntry {
		return telemetry.FlightEntry{Time: start, Kind: "request", Method: "tools/call", Target: "pay", ID: "7",
			TraceID: trace, Pending: pending, Failed: reason != "", Reason: reason, Elapsed: time.Second}
	}
	for _, tc := range []struct {
		alert  string
		recent []telemetry.FlightEntry
		causes []string
		trace  string
	}{
		{"MCPStuckInFlight", []telemetry.FlightEntry{entry(id(1), false, ""), entry(id(2), true, ""), entry(id(3), true, "")},
			[]string{"stuck", "under_way"}, id(2)},
		{"MCPClientErrorBudgetFast", []telemetry.FlightEntry{entry(id(1), false, ""), entry(id(2), false, "-32603"),
			entry(id(3), false, "")}, []string{"server_failed"}, id(2)},
		{"MCPClientErrorBudgetFast", []telemetry.FlightEntry{entry(id(1), false, "")}, nil, ""},
	} {
		at(t, func(t *testing.T) {
			p := page{seen: inspector.Seen{Clients: []inspect.Client{{Name: "orders", Recent: tc.recent},
				{Name: "another", Recent: []telemetry.FlightEntry{entry(id(9), true, "")}}}}}
			m := explains(t, &Evidence{Sources: inspector.Sources{Peers: []inspector.Source{p}}, Links: links}, about(tc.alert))
			trace := ""
			if m.Trace != nil {
				trace = m.Trace.TraceID
			}
			if !slices.Equal(causes(m), tc.causes) || trace != tc.trace {
				t.Errorf("%s: want %q and %s, got:\n%s", tc.alert, tc.causes, tc.trace, m)
			}
		})
	}
	// The spans of the trace arrive later than the flight recorder: they have the injected fault.
	at(t, func(t *testing.T) {
		failure := []telemetry.FlightEntry{entry(id(1), false, "-32603")}
		source := &spans{all: map[string][]explain.Span{id(1): {called("-32603", time.Second, names.KeyMCPClientFaultKind,
			"error")}}, after: time.Now().Add(3 * time.Second)}
		m := explains(t, &Evidence{Links: links, Sources: inspector.Sources{Spans: []inspector.Spans{source},
			Peers: []inspector.Source{page{seen: inspector.Seen{Clients: []inspect.Client{{Name: "orders", Recent: failure}}}}}}},
			about("MCPClientErrorBudgetFast"))
		if !slices.Equal(causes(m), []string{"injected_error", "server_failed"}) || m.Missing != nil {
			t.Errorf("want the cause in the spans, got:\n%s", m)
		}
	})
	at(t, func(t *testing.T) {
		p := page{err: errors.New("connection refused")}
		m := explains(t, &Evidence{Sources: inspector.Sources{Peers: []inspector.Source{p}}}, about("MCPStuckInFlight"))
		if got := strings.Join(m.Missing, "; "); !strings.Contains(got, "http://localhost:6060: connection refused") {
			t.Errorf("want the error of the page, got %q", got)
		}
	})
}

// prometheus returns a client for a Prometheus that answers each query with these series, and each search for exemplars
// with these ids. It collects the queries.
func prometheus(t *testing.T, series []map[string]string, exemplars []string, queries *[]string) *prom.Client {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*queries = append(*queries, r.FormValue("query"))
		var data any
		if strings.HasSuffix(r.URL.Path, "/query_exemplars") {
			var found []any
			for i, id := range exemplars {
				found = append(found, map[string]any{"labels": map[string]string{"trace_id": id}, "value": "1",
					"timestamp": i})
			}
			data = []any{map[string]any{"seriesLabels": map[string]string{}, "exemplars": found}}
		} else {
			all := []any{}
			for i, labels := range series {
				all = append(all, map[string]any{"metric": labels, "value": []any{1, fmt.Sprint(i + 1)}})
			}
			data = map[string]any{"resultType": "vector", "result": all}
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"status": "success", "data": data})
	}))
	t.Cleanup(s.Close)
	c, err := backend.New(s.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	return prom.New(c)
}

func TestMetricsNameTheMostFrequentFailureAndItsTrace(t *testing.T) {
	var queries []string
	metrics := prometheus(t, []map[string]string{
		{"error_type": "timeout", "mcp_method_name": "ping"},
		{"error_type": "-32603", "mcp_method_name": "tools/call", "gen_ai_tool_name": "pay"},
	}, []string{id(1), id(3), "no id", id(2)}, &queries)
	recent := func(failure string, more ...string) []explain.Span { // this test runs in real time
		s := called(failure, time.Second, more...)
		s.Start, s.End = time.Now(), time.Now()
		return []explain.Span{s}
	}
	source := &spans{all: map[string][]explain.Span{id(1): recent("-32603"), id(2): recent("timeout"), id(3): recent("")}}
	a := about("MCPClientErrorBudgetFast")
	a.StartsAt = time.Now()
	sources := inspector.Sources{Spans: []inspector.Spans{source}}
	m := explains(t, &Evidence{Sources: sources, Metrics: metrics, Links: links}, a)
	if !slices.Equal(causes(m), []string{"server_failed", "failures"}) || m.Trace.TraceID != id(1) || m.Missing != nil {
		t.Fatalf("want the trace of the most frequent failure, got:\n%s", m)
	}
	if len(source.asked) != 0 {
		t.Errorf("want no search after an exemplar, got %+v", source.asked)
	}
	own := m.Causes[1]
	if !strings.Contains(own.Text, "client orders are those of tools/call pay with the error type -32603") ||
		len(own.Evidence) != 3 || !strings.HasPrefix(own.Evidence[1], "metrics: 2 with error_type=-32603") {
		t.Errorf("got %+v", own)
	}
	if len(queries) != 2 || !strings.Contains(queries[0], `job="shop",mcp_client_name="orders"`) ||
		queries[1] != `{__name__=~"mcp_(client|server)_.+",job="shop",mcp_client_name="orders"}` {
		t.Errorf("got the queries %q", queries)
	}
	m = explains(t, &Evidence{Metrics: metrics, Links: links}, a)
	if !slices.Equal(causes(m), []string{"failures"}) || m.Trace == nil || m.Trace.URL != "https://j/trace/"+id(2) {
		t.Errorf("without a source of traces: want the newest exemplar as a link, got:\n%s", m)
	}
	queries = nil
	b := about("MCPNotificationsDropped", "mcp_client_name", "", "mcp_server_name", `or"ders`, "mcp_server_drop_reason",
		"queue_full")
	source.all = map[string][]explain.Span{id(1): recent("", names.KeyMCPServerName, `or"ders`)}
	m = explains(t, &Evidence{Sources: sources, Metrics: metrics}, b)
	if !slices.Equal(causes(m), []string{"drop_queue_full"}) {
		t.Errorf("of a server: got\n%s", m)
	}
	if want := `{__name__="mcp_server_notification_drops_total",job="shop",mcp_server_drop_reason="queue_full",` +
		`mcp_server_name="or\"ders"}`; len(queries) == 0 || queries[0] != want {
		t.Errorf("want the query %s, got %q", want, queries)
	}
}

func TestACauseOfBothListsIsNamedOnce(t *testing.T) {
	cause := func(id string, evidence ...string) explain.Cause { return explain.Cause{ID: id, Evidence: evidence} }
	got := merged([]explain.Cause{cause("a", "1"), cause("b", "2")}, []explain.Cause{cause("c", "3"), cause("a", "4")})
	if want := []explain.Cause{cause("a", "1", "4"), cause("b", "2"), cause("c", "3")}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestTimesOfAlertsAreKeptWithinADay(t *testing.T) {
	now := start
	r := &row{window: time.Hour}
	for starts, want := range map[time.Time]time.Time{
		now.Add(-time.Minute): now.Add(-61 * time.Minute), now.Add(time.Hour): now.Add(-time.Hour),
		{}: now.Add(-oldest), now.Add(-48 * time.Hour): now.Add(-oldest),
	} {
		if got := subjectOf(&Alert{StartsAt: starts}, r, now); !got.since.Equal(want) || !got.until.Equal(now) {
			t.Errorf("from %v: got since %v, want %v", starts, got.since, want)
		}
	}
}
