// Package telemetrytest records the telemetry of clients and servers, and checks it against the schema.
//
// Start at [Recorder]: pass its Telemetry to the client or server under test, and get spans, metrics and log records
// by name. At the end of the test, everything that was emitted is checked: names, units, buckets, types, enums,
// levels, required attributes, and the numbers of values and series; also that every span has ended and that each
// started request has stopped.
//
// The code under test may add anything to spans: attributes, events, links, a status and child spans; and attributes
// to log records. Attributes in the namespaces mcp_client, mcp_server and mcp, and names of the schema in wrong
// places, are problems.
//
// It is for tests. It needs the SDK of OpenTelemetry, which the library packages do not import.
package telemetrytest

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"go.opentelemetry.io/otel/propagation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/schemacheck"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// Recording holds everything that was emitted through one Telemetry. It is safe for concurrent use.
type Recording struct {
	t         testing.TB
	telemetry *telemetry.Telemetry
	tracers   *sdktrace.TracerProvider
	meters    *sdkmetric.MeterProvider
	reader    *sdkmetric.ManualReader
	spans     *spanLog
	logs      *recordLog
	strict    bool // reject additions of the program
}

// Recorder returns a Recording of everything that is emitted through its [Recording.Telemetry]. Every span is sampled,
// every level is logged, and W3C trace context and baggage are propagated; options take precedence.
//
// At the end of the test, the test fails if [Recording.Problems] still finds problems after a second. An operation may
// end a moment after its caller has the answer, so the second is needed. Functions that are registered with t.Cleanup
// after the Recorder run before that check.
func Recorder(t testing.TB, opts ...telemetry.Option) *Recording {
	t.Helper()
	r := newRecording(t, opts)
	t.Cleanup(func() {
		t.Helper()
		for _, p := range r.lasting() {
			t.Error("telemetry: " + p)
		}
		r.leave(r.signals)
	})
	return r
}

// leave stores which rows of the schema occur in the signals, if the environment variable [schemacheck.SeenVariable] is
// set.
func (r *Recording) leave(signals func() *schemacheck.Signals) {
	r.t.Helper()
	if err := schemacheck.AppendSeen(func() schemacheck.Set { return schemacheck.Rows(signals()) }); err != nil {
		r.t.Error("telemetry: ", err)
	}
}

// lasting returns the problems that persist for a second, by the clock of the test's bubble if there is one.
func (r *Recording) lasting() []string {
	r.t.Helper()
	problems := r.Problems()
	for end := time.Now().Add(time.Second); len(problems) > 0 && time.Now().Before(end); problems = r.Problems() {
		time.Sleep(time.Millisecond)
	}
	return problems
}

func newRecording(t testing.TB, opts []telemetry.Option) *Recording {
	r := &Recording{t: t, reader: sdkmetric.NewManualReader(), spans: newSpanLog(), logs: &recordLog{},
		strict: schemacheck.Strict}
	r.tracers = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(r.spans))
	r.meters = sdkmetric.NewMeterProvider(sdkmetric.WithReader(r.reader))
	r.telemetry = telemetry.New(slices.Concat([]telemetry.Option{
		telemetry.WithTracerProvider(r.tracers),
		telemetry.WithMeterProvider(r.meters),
		telemetry.WithPropagators(propagation.NewCompositeTextMapPropagator(propagation.TraceContext{},
			propagation.Baggage{})),
		telemetry.WithLogger(slog.New(&handler{log: r.logs})),
	}, opts)...)
	return r
}

// LogHandler returns the handler that records log records, for a test that puts another handler in front of it: in
// the logger of its own [telemetry.Telemetry], for example.
func (r *Recording) LogHandler() slog.Handler { return &handler{log: r.logs} }

// Telemetry returns the Telemetry to pass to the client or server under test.
func (r *Recording) Telemetry() *telemetry.Telemetry { return r.telemetry }

// TracerProvider returns the provider of the recorded spans, for spans of the test itself. They are recorded and not
// checked.
func (r *Recording) TracerProvider() *sdktrace.TracerProvider { return r.tracers }

// Spans returns the spans that have ended, in the order of their ends.
func (r *Recording) Spans() []sdktrace.ReadOnlySpan { return r.spans.snapshot() }

// SpansNamed returns the ended spans with this name and kind, in the order of their ends. The kind
// [trace.SpanKindUnspecified] means any.
func (r *Recording) SpansNamed(name string, kind trace.SpanKind) []sdktrace.ReadOnlySpan {
	return slices.DeleteFunc(r.Spans(), func(s sdktrace.ReadOnlySpan) bool {
		return s.Name() != name || kind != trace.SpanKindUnspecified && s.SpanKind() != kind
	})
}

// Span returns the only ended span with this name. If there is none, or more than one, the test fails at once.
func (r *Recording) Span(name string) sdktrace.ReadOnlySpan {
	r.t.Helper()
	found := r.SpansNamed(name, trace.SpanKindUnspecified)
	if len(found) != 1 {
		var all []string
		for _, s := range r.Spans() {
			all = append(all, s.Name())
		}
		r.t.Fatalf("spans named %q: got %d, want 1; ended: %q", name, len(found), all)
	}
	return found[0]
}

// Logs returns the log records of an event, or all of them for "", in order.
func (r *Recording) Logs(event string) []Record {
	_ = r.telemetry.Flush(context.Background()) // never fails
	all := r.logs.snapshot()
	if event == "" {
		return all
	}
	return slices.DeleteFunc(all, func(rec Record) bool { return rec.Event() != event })
}

// Log returns the only log record of an event. If there is none, or more than one, the test fails at once.
func (r *Recording) Log(event string) Record {
	r.t.Helper()
	records := r.Logs(event)
	if len(records) != 1 {
		var all []string
		for _, rec := range r.Logs("") {
			all = append(all, rec.Message)
		}
		r.t.Fatalf("records of %q: got %d, want 1; logged: %q", event, len(records), all)
	}
	return records[0]
}

// Metrics collects the current metrics of the module.
func (r *Recording) Metrics() []metricdata.Metrics {
	r.t.Helper()
	var rm metricdata.ResourceMetrics
	if err := r.reader.Collect(context.Background(), &rm); err != nil {
		r.t.Errorf("collecting metrics: %v", err)
	}
	for _, sm := range rm.ScopeMetrics {
		if sm.Scope.Name == telemetry.ScopeName {
			return sm.Metrics
		}
	}
	return nil
}
