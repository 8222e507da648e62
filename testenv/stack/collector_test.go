package stack_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
	logspb "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	"google.golang.org/protobuf/proto"

	"github.com/mcpotel/mcpotel/internal/command/prom"
	"github.com/mcpotel/mcpotel/testenv/stack"
	"github.com/mcpotel/mcpotel/testenv/stack/jaeger"
)

// whole waits until Jaeger has this number of spans of a trace, and checks that each span has its parent.
func whole(t *testing.T, ctx context.Context, s *stack.Stack, id string, spans int) *jaeger.Trace {
	t.Helper()
	tr, err := s.Traces.Await(ctx, id, func(tr *jaeger.Trace) bool { return len(tr.Spans) >= spans })
	if err != nil {
		t.Fatalf("%v\n%v", err, tr)
	}
	if orphans := tr.Orphans(); len(tr.Spans) != spans || len(orphans) > 0 {
		t.Errorf("want %d spans, each with its parent, got\n%v", spans, tr)
	}
	return tr
}

// absent checks that Jaeger does not have a trace. A later trace must have arrived already.
func absent(t *testing.T, ctx context.Context, s *stack.Stack, id, what string) {
	t.Helper()
	if tr, err := s.Traces.Trace(ctx, id); err == nil {
		t.Errorf("%s should not be kept, got\n%v", what, tr)
	}
}

func TestOnlyWholeNoiseTracesAreDropped(t *testing.T) {
	ctx := limit(t, time.Minute)
	p := service(t, up, "noise")
	get := func(kind trace.SpanKind, took time.Duration, below ...made) made {
		return made{name: "GET", kind: kind, took: took, below: below, attributes: []attribute.KeyValue{
			attribute.String("http.request.method", "GET"), attribute.String("url.full", "http://127.0.0.1:8080/mcp?x=1")}}
	}
	post := func(below ...made) made {
		return made{name: "POST", kind: trace.SpanKindClient, below: below, attributes: []attribute.KeyValue{
			attribute.String("http.request.method", "POST"), attribute.String("url.path", "/mcp")}}
	}
	ping := operation(trace.SpanKindClient, "ping", operation(trace.SpanKindServer, "ping"))
	failing := ping
	failing.failed = true
	call := operation(trace.SpanKindClient, "tools/call", operation(trace.SpanKindServer, "tools/call"))

	gone := map[string]made{
		"a ping":                     ping,
		"a ping over HTTP":           operation(trace.SpanKindClient, "ping", post(operation(trace.SpanKindServer, "ping"))),
		"a stream that was open 1 h": get(trace.SpanKindClient, time.Hour, get(trace.SpanKindServer, time.Hour)),
	}
	kept := map[string]struct {
		made
		spans int
	}{
		"a ping that failed":        {failing, 2},
		"a ping in somebody's work": {made{name: "work", below: []made{ping}}, 3},
		"a call over HTTP": {
			operation(trace.SpanKindClient, "tools/call", post(operation(trace.SpanKindServer, "tools/call"))), 3},
		"a stream in whose trace is one": {get(trace.SpanKindServer, time.Hour, call), 3},
		"a GET of something else": {made{name: "GET", attributes: []attribute.KeyValue{
			attribute.String("http.request.method", "GET"), attribute.String("url.full", "http://127.0.0.1/mcps")}}, 1},
	}
	dropped := map[string]string{}
	for what, m := range gone {
		dropped[what] = tell(p, m)
	}
	flush(t, p)
	ids := map[string]string{}
	for what, m := range kept {
		ids[what] = tell(p, m.made)
	}
	for what, m := range kept {
		t.Run(what, func(t *testing.T) { whole(t, ctx, up, ids[what], m.spans) })
	}
	for what, id := range dropped {
		absent(t, ctx, up, id, what)
	}
	await(t, ctx, up, `sum(traces_span_metrics_calls_total{service_name="noise",mcp_method_name="tools/call"})`,
		func(all []prom.Series) bool { return len(all) == 1 && all[0].Value() == 4 })
	for _, of := range []string{`mcp_method_name="ping"`, `span_name="GET",span_kind="SPAN_KIND_CLIENT"`,
		`span_name="GET",span_kind="SPAN_KIND_SERVER"`} {
		if all, err := up.Metrics.Query(ctx, `traces_span_metrics_calls_total{service_name="noise",`+of+`}`); err != nil ||
			len(all) > 0 {
			t.Errorf("want nothing counted of %s, got %v, %v", of, all, err)
		}
	}
}

// TestSamplingKeepsFailedAndSlowTraces uses a gateway that keeps a tenth of the traces that neither failed nor were
// slow.
func TestSamplingKeepsFailedAndSlowTraces(t *testing.T) {
	ctx := limit(t, 2*time.Minute)
	s := own(t, ctx, stack.Options{Sampling: 10,
		CollectorEnv: []string{"MCPOTEL_SAMPLING_DECISION_WAIT=1s", "MCPOTEL_SAMPLING_SLOW_MS=2000"}})
	p := service(t, s, "sampled")
	call := func(took time.Duration, failed bool) string {
		m := operation(trace.SpanKindClient, "tools/call", operation(trace.SpanKindServer, "tools/call"))
		m.took, m.failed = took, failed
		return tell(p, made{name: "work", took: took, below: []made{m}})
	}
	const ordinary, special = 200, 20
	const slow = 2*time.Second + time.Millisecond // above the threshold
	var some, all []string
	for range ordinary {
		some = append(some, call(0, false))
	}
	for range special {
		all = append(all, call(0, true), call(slow, false))
	}
	flush(t, p)
	for _, id := range all {
		whole(t, ctx, s, id, 3)
	}

	kept := 0
	t.Run("a part of the rest is kept", func(t *testing.T) {
		for _, id := range some {
			if tr, err := s.Traces.Trace(ctx, id); err == nil {
				kept++
				if len(tr.Spans) != 3 {
					t.Errorf("a trace is kept as a whole or not at all, got\n%v", tr)
				}
			}
		}
		// 10 % of 200. A result outside these bounds happens once in a million runs.
		if kept < 3 || kept > 45 {
			t.Errorf("%d of %d ordinary traces are kept, want about %d", kept, ordinary, ordinary/10)
		}
		t.Logf("kept %d of %d ordinary traces", kept, ordinary)
	})

	t.Run("what is dropped is counted", func(t *testing.T) {
		for selector, want := range map[string]float64{
			`span_kind="SPAN_KIND_CLIENT"`:                                      ordinary + 2*special,
			`span_kind="SPAN_KIND_SERVER",mcp_method_name="tools/call"`:         ordinary + 2*special,
			`span_kind="SPAN_KIND_CLIENT",status_code="STATUS_CODE_ERROR"`:      special,
			`span_kind="SPAN_KIND_CLIENT",status_code="STATUS_CODE_UNSET"`:      ordinary + special,
			`span_kind="SPAN_KIND_INTERNAL",job="sampled",span_name="work"`:     ordinary + 2*special,
			`span_kind="SPAN_KIND_CLIENT",collector_instance_id="",job!~".*/."`: ordinary + 2*special,
		} {
			await(t, ctx, s, `sum(traces_span_metrics_calls_total{service_name="sampled",`+selector+`})`,
				func(all []prom.Series) bool { return len(all) == 1 && all[0].Value() == want })
		}
		await(t, ctx, s, `sum(traces_span_metrics_duration_seconds_bucket{service_name="sampled",`+
			`span_kind="SPAN_KIND_CLIENT",le=~"1|1.0"})`,
			func(all []prom.Series) bool { return len(all) == 1 && all[0].Value() == ordinary+special })
	})

	t.Run("what fails after minutes is kept", func(t *testing.T) {
		late := func() (early context.Context, end func()) {
			ctx, root := p.TracerProvider().Tracer("test").
				Start(context.Background(), "tools/call", trace.WithSpanKind(trace.SpanKindClient),
					trace.WithTimestamp(time.Now().Add(-time.Minute)))
			return ctx, func() { root.End() }
		}
		forgotten := func() float64 {
			all, err := s.Metrics.Query(ctx,
				`sum({__name__=~"otelcol_processor_tail_sampling_global_count_traces_sampled(_total)?",decision="not_sampled"})`)
			if err != nil || len(all) != 1 {
				return 0
			}
			return all[0].Value()
		}
		var begun []func()
		var ids []string
		for range special { // so that some of them are outside the random sample
			spanCtx, end := late()
			_, below := p.TracerProvider().Tracer("test").Start(spanCtx, "below")
			below.End()
			begun, ids = append(begun, end), append(ids, trace.SpanContextFromContext(spanCtx).TraceID().String())
		}
		until(t, ctx, "the gateway has forgotten the traces of before", func() bool {
			return forgotten() == float64(ordinary-kept)
		})
		flush(t, p)
		until(t, ctx, "the gateway forgets what nothing speaks for yet", func() bool {
			return forgotten() > float64(ordinary-kept)
		})
		for _, end := range begun { // the trace becomes slow only now
			end()
		}
		for _, id := range ids {
			if _, err := s.Traces.Await(ctx, id, func(tr *jaeger.Trace) bool {
				return len(tr.Find("CLIENT", "tools/call")) == 1
			}); err != nil {
				t.Fatal(err)
			}
		}
	})

	t.Run("a hostile server makes no more series than the bound", func(t *testing.T) {
		const names, bound = 10_000, 2000
		p := service(t, s, "hostile")
		for i := range names {
			m := operation(trace.SpanKindServer, "tools/call")
			m.attributes = append(m.attributes, attribute.String("gen_ai.tool.name", fmt.Sprintf("tool-%d", i)))
			tell(p, m)
			if i%1000 == 999 { // the SDK's queue holds 2048
				flush(t, p)
			}
		}
		await(t, ctx, s, `sum(traces_span_metrics_calls_total{service_name="hostile"}) + `+
			`sum(traces_span_metrics_calls_total{job="hostile",otel_metric_overflow="true"})`,
			func(all []prom.Series) bool { return len(all) == 1 && all[0].Value() == names })
		await(t, ctx, s, `count(traces_span_metrics_calls_total{job="hostile"})`,
			func(all []prom.Series) bool { return len(all) == 1 && all[0].Value() <= bound+1 })
	})
}

func TestExemplarsLeadToTraces(t *testing.T) {
	ctx := limit(t, time.Minute)
	p := service(t, up, "exemplars")
	ids := map[string]bool{}
	histogram, err := p.MeterProvider().Meter("test").Float64Histogram("stack.test.duration")
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []string{`traces_span_metrics_duration_seconds_bucket{service_name="exemplars"}`,
		`stack_test_duration_bucket{job="exemplars"}`} {
		until(t, ctx, "there is an exemplar of "+of, func() bool {
			// Repeated, because the span metrics keep an exemplar only until their next flush, which may fall between two
			// scrapes.
			spanCtx, span := p.TracerProvider().Tracer("test").Start(ctx, "measured")
			histogram.Record(spanCtx, 0.1)
			span.End()
			ids[span.SpanContext().TraceID().String()] = true
			all, err := up.Metrics.Exemplars(ctx, of, time.Now().Add(-time.Minute), time.Now().Add(time.Minute))
			if err != nil {
				t.Fatal(err)
			}
			for _, series := range all {
				for _, e := range series.Exemplars {
					if ids[e.Labels["trace_id"]] {
						return true
					}
				}
			}
			return false
		})
	}
}

// own starts a stack that ends with the test.
func own(t *testing.T, ctx context.Context, o stack.Options) *stack.Stack {
	t.Helper()
	s, err := stack.Up(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := s.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestMinimalPrintsReceivedTelemetry(t *testing.T) {
	ctx := limit(t, time.Minute)
	minimal := filepath.Join("..", "..", "collector", "minimal.yaml")
	s := own(t, ctx, stack.Options{Agent: []string{minimal}, CollectorEnv: []string{"MCPOTEL_DEBUG_VERBOSITY=detailed"}})
	p := service(t, s, "first-look")
	id := tell(p, operation(trace.SpanKindClient, "tools/list"))
	counter, err := p.MeterProvider().Meter("test").Int64Counter("stack.test.looks")
	if err != nil {
		t.Fatal(err)
	}
	counter.Add(ctx, 1)
	p.Logger().Info("a line of a log")
	flush(t, p)
	for _, want := range []string{id, "tools/list", "stack.test.looks", "a line of a log", "first-look"} {
		until(t, ctx, "the Collector shows "+want, func() bool {
			text, err := os.ReadFile(s.Agent.Log())
			return err == nil && strings.Contains(string(text), want)
		})
	}
}

// TestContentDoesNotLeaveTheAgent sends content and credentials through both tiers, to Jaeger and to a receiver of
// logs.
func TestContentDoesNotLeaveTheAgent(t *testing.T) {
	for _, keep := range []bool{false, true} {
		t.Run(fmt.Sprintf("MCPOTEL_KEEP_CONTENT=%t", keep), func(t *testing.T) {
			ctx := limit(t, time.Minute)
			logs := receiveLogs(t)
			s := own(t, ctx, stack.Options{CollectorEnv: []string{
				fmt.Sprintf("MCPOTEL_KEEP_CONTENT=%t", keep), "MCPOTEL_LOGS_EXPORTER=otlp_http/logs",
				"MCPOTEL_LOGS_ENDPOINT=" + logs.url,
			}})
			p := service(t, s, "discreet")
			content := attributes("secret content", "gen_ai.tool.call.arguments", "gen_ai.tool.call.result",
				"gen_ai.prompt.variable.city",
				"gen_ai.input.messages", "gen_ai.prompt.0.content", "mcp.request.argument.path", "input.value",
				"mcp_client.process.stderr.line")
			credentials := attributes("secret credential", "http.request.header.authorization",
				"http.response.header.set-cookie", "url.query")
			plain := attributes("plain", "gen_ai.prompt.name", "gen_ai.tool.name", "mcp.resource.uri", "error")
			m := operation(trace.SpanKindClient, "tools/call")
			m.attributes = slices.Concat(m.attributes, content, credentials, plain, []attribute.KeyValue{
				attribute.String("url.full", "https://example.org/mcp?token=secret#credential")})
			id := tell(p, m)
			record := []any{"event.name", "gen_ai.user.message"}
			for _, a := range slices.Concat(content, credentials, plain) {
				record = append(record, string(a.Key), a.Value.AsString())
			}
			p.Logger().Info("secret content", record...)
			p.Logger().Info("plain")
			flush(t, p)

			span := whole(t, ctx, s, id, 1).Spans[0]
			until(t, ctx, "both lines of the log arrive", func() bool { return len(logs.all()) == 2 })
			line := logs.all()[0]
			for carrier, got := range map[string]map[string]any{"span": span.Attributes, "log record": line.attributes} {
				check := func(all []attribute.KeyValue, want bool) {
					for _, a := range all {
						if value, has := got[string(a.Key)]; has != want {
							t.Errorf("%s: want %s there: %t, got %v", carrier, a.Key, want, value)
						}
					}
				}
				check(content, keep)
				check(credentials, false)
				check(plain, true)
			}
			if got, want := span.Attributes["url.full"], "https://example.org/mcp"; got != want {
				t.Errorf("url.full: got %v, want %s", got, want)
			}
			if got := line.body != ""; got != keep {
				t.Errorf("the body of a GenAI event is %q, want it there: %t", line.body, keep)
			}
			if got := logs.all()[1].body; got != "plain" {
				t.Errorf("the body of another record is %q, want it as it was", got)
			}
			for _, store := range []string{"agent", "gateway"} { // content that was ever written to the disk is still there
				if !keep {
					secretless(t, filepath.Join(s.Dir(), store))
				}
			}
		})
	}
}

func attributes(value string, keys ...string) (all []attribute.KeyValue) {
	for _, k := range keys {
		all = append(all, attribute.String(k, value))
	}
	return all
}

// secretless searches the files of a queue for secrets.
func secretless(t *testing.T, dir string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil || len(files) == 0 {
		t.Fatalf("want the files of a queue in %s, got %v, %v", dir, files, err)
	}
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte("secret")) {
			t.Errorf("%s has content in it", f.Name())
		}
	}
}

// received are log records received by OTLP over HTTP, in the order of their arrival.
type received struct {
	url     string
	mu      sync.Mutex
	records []record // guarded by mu
}

type record struct {
	body       string
	attributes map[string]any
}

func (r *received) all() []record {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.records)
}

// receiveLogs starts a receiver that acts as a log store.
func receiveLogs(t *testing.T) *received {
	t.Helper()
	r := &received{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if err := r.take(req); err != nil {
			t.Errorf("%s %s: %v", req.Method, req.URL, err)
			w.WriteHeader(http.StatusBadRequest)
		}
	}))
	t.Cleanup(server.Close)
	r.url = server.URL + "/otlp"
	return r
}

func (r *received) take(req *http.Request) error {
	if got, want := req.Method+" "+req.URL.Path, "POST /otlp/v1/logs"; got != want {
		return fmt.Errorf("want %s, got %s", want, got)
	}
	body := io.Reader(req.Body)
	if req.Header.Get("Content-Encoding") == "gzip" {
		unzipped, err := gzip.NewReader(body)
		if err != nil {
			return err
		}
		body = unzipped
	}
	text, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	var export logspb.ExportLogsServiceRequest
	if err := proto.Unmarshal(text, &export); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, resource := range export.ResourceLogs {
		for _, scope := range resource.ScopeLogs {
			for _, l := range scope.LogRecords {
				one := record{body: l.Body.GetStringValue(), attributes: map[string]any{}}
				for _, a := range l.Attributes {
					one.attributes[a.Key] = a.Value.GetStringValue()
				}
				r.records = append(r.records, one)
			}
		}
	}
	return nil
}
