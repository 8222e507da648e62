package stack_test

import (
	"bytes"
	"context"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/command/prom"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/otlp"
	"github.com/mcpotel/mcpotel/testenv/stack"
	"github.com/mcpotel/mcpotel/testenv/stack/jaeger"
)

// service returns the telemetry of a program that exports until the test ends.
func service(t *testing.T, s *stack.Stack, name string, more ...otlp.Option) *otlp.Providers {
	t.Helper()
	options := []otlp.Option{otlp.WithServiceName(name), otlp.WithGlobals(false), otlp.WithConsole(nil, nil),
		otlp.WithExportInterval(200 * time.Millisecond)}
	if !exportsOverHTTP() {
		options = append(options, otlp.WithEndpoint(s.OTLP()))
	}
	p, err := otlp.Setup(t.Context(), append(options, more...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Shutdown(context.Background()) })
	return p
}

func exportsOverHTTP() bool { return os.Getenv("OTEL_EXPORTER_OTLP_PROTOCOL") == "http/protobuf" }

// receiver returns the address at which the agent receives exports.
func receiver(s *stack.Stack) string {
	if exportsOverHTTP() {
		return "http://" + s.OTLPHTTP()
	}
	return "http://" + s.OTLP()
}

func TestSpanAndMetricReachTheBackends(t *testing.T) {
	ctx := limit(t, time.Minute)
	p := service(t, up, "through")
	spanCtx, outer := p.TracerProvider().Tracer("test").Start(ctx, "outer")
	_, inner := p.TracerProvider().Tracer("test").Start(spanCtx, "inner")
	inner.End()
	outer.End()
	counter, err := p.MeterProvider().Meter("test").Int64Counter("stack.test.runs")
	if err != nil {
		t.Fatal(err)
	}
	counter.Add(ctx, 3)

	trace, err := up.Traces.Await(ctx, outer.SpanContext().TraceID().String(), func(tr *jaeger.Trace) bool {
		return len(tr.Spans) == 2
	})
	if err != nil {
		t.Fatalf("%v\n%v", err, trace)
	}
	if s := trace.Spans[1]; s.Name != "inner" || s.ParentID != trace.Spans[0].ID || s.Service != "through" ||
		len(trace.Orphans()) != 0 {
		t.Errorf("want inner below outer, got\n%v", trace)
	}
	found, err := up.Traces.Find(ctx, jaeger.Query{Service: "through", Name: "inner"})
	if err != nil || len(found) != 1 || found[0].ID != trace.ID {
		t.Errorf("want to find trace %s, got %v, %v", trace.ID, found, err)
	}
	await(t, ctx, up, `stack_test_runs_total{job="through"}`, func(all []prom.Series) bool {
		return len(all) == 1 && all[0].Value() == 3
	})
	await(t, ctx, up, `traces_span_metrics_calls_total{service_name="through",span_name="inner"}`,
		func(all []prom.Series) bool {
			return len(all) == 1
		})
}

// await queries Prometheus until ok reports true for the answer.
func await(t *testing.T, ctx context.Context, s *stack.Stack, expression string,
	ok func([]prom.Series) bool) []prom.Series {
	t.Helper()
	var last []prom.Series
	until(t, ctx, expression+" has the value", func() bool {
		all, err := s.Metrics.Query(ctx, expression)
		if err != nil {
			t.Fatal(err)
		}
		last = all
		return ok(all)
	})
	return last
}

func TestAMistakeInAQueryIsAnError(t *testing.T) {
	if _, err := up.Metrics.Query(limit(t, time.Minute), "rate("); err == nil ||
		!strings.Contains(err.Error(), "parse error") {
		t.Errorf("want what Prometheus says of the mistake, got %v", err)
	}
	if _, err := up.Traces.Trace(limit(t, time.Minute), "0123456789abcdef0123456789abcdef"); err == nil {
		t.Error("want an error for a trace that is not there, got none")
	}
}

// TestProcessesRestart kills and stops each process of a separate stack.
func TestProcessesRestart(t *testing.T) {
	ctx := limit(t, 2*time.Minute)
	var said bytes.Buffer
	s, err := stack.Up(ctx, stack.Options{Log: &said})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []*stack.Process{s.Jaeger, s.Prometheus, s.Gateway, s.Agent} {
		before := p.Pid()
		p.Kill()
		if pid := p.Pid(); pid != 0 {
			t.Errorf("%s: want none after Kill, got process %d", p.Name(), pid)
		}
		if err := p.Start(ctx); err != nil {
			t.Fatalf("after Kill: %v", err)
		}
		if err := p.Stop(ctx); err != nil {
			t.Fatal(err)
		}
		if err := p.Start(ctx); err != nil {
			t.Fatalf("after Stop: %v", err)
		}
		if after := p.Pid(); after == before || after == 0 {
			t.Errorf("%s: want another process, got %d after %d", p.Name(), after, before)
		}
	}
	if err := s.Stop(ctx); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(s.Dir()); !os.IsNotExist(err) {
		t.Errorf("want no directory after Stop, got %v", err)
	}
	if l, err := net.Listen("tcp", s.OTLP()); err != nil {
		t.Errorf("want the port free after Stop, got %v", err)
	} else {
		l.Close()
	}
	if got := strings.Count(said.String(), "is ready after"); got != 4 {
		t.Errorf("want four lines of who is ready, got %q", &said)
	}
}

func TestFailedStartExplainsItselfAndCleansUp(t *testing.T) {
	broken := t.TempDir() + "/broken.yaml"
	if err := os.WriteFile(broken, []byte("receivers: {nosuch: {}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	_, err := stack.Up(limit(t, time.Minute), stack.Options{Dir: dir, Gateway: []string{broken}})
	if err == nil || !strings.Contains(err.Error(), "gateway") || !strings.Contains(err.Error(), "nosuch") {
		t.Errorf("want an error about nosuch of the gateway, got %v", err)
	}
	log, err := os.ReadFile(dir + "/prometheus.log")
	if err != nil || !strings.Contains(string(log), "exiting gracefully") {
		t.Errorf("want Prometheus stopped, its log is %q, %v", log, err)
	}
}
