package otlpsink

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploggrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/log"
	"go.opentelemetry.io/otel/metric"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/waterfall"
)

var (
	day     = time.Date(2026, 7, 28, 12, 0, 0, 123, time.UTC)
	service = resource.NewSchemaless(attribute.String("service.name", "shop"), attribute.Int("host.cores", 2))
	origin  = Origin{Resource: map[string]any{"service.name": "shop", "host.cores": int64(2)}, Scope: "lib",
		ScopeVersion: "v1"}
	everyKey = []attribute.KeyValue{
		attribute.Bool("b", true), attribute.Int("i", -7), attribute.Float64("f", 1.5), attribute.String("s", "text"),
		attribute.StringSlice("list", []string{"x", "y"}), attribute.ByteSlice("bytes", []byte{0, 255}),
		attribute.Map("map", attribute.String("inner", "v")),
	}
	everyValue = map[string]any{
		"b": true, "i": int64(-7), "f": 1.5, "s": "text", "list": []any{"x", "y"}, "bytes": []byte{0, 255},
		"map": map[string]any{"inner": "v"},
	}
)

func remote(traceID, spanID byte) trace.SpanContext {
	return trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID{0: traceID}, SpanID: trace.SpanID{0: spanID}, TraceFlags: trace.FlagsSampled, Remote: true,
	})
}

const (
	traceAA = "aa000000000000000000000000000000"
	spanBB  = "bb00000000000000"
)

func TestSpansOfTheRealExporterAreFlattened(t *testing.T) {
	s := start(t, defaultLimit)
	e, err := otlptracegrpc.New(t.Context(), otlptracegrpc.WithEndpoint(s.Endpoint()), otlptracegrpc.WithInsecure(),
		otlptracegrpc.WithCompressor("gzip"))
	if err != nil {
		t.Fatal(err)
	}
	tp := sdktrace.NewTracerProvider(sdktrace.WithSyncer(e), sdktrace.WithResource(service))
	defer tp.Shutdown(context.Background())

	state, _ := trace.ParseTraceState("vendor=1")
	ctx := trace.ContextWithSpanContext(t.Context(), remote(0xaa, 0xbb).WithTraceState(state))
	_, span := tp.Tracer("lib", trace.WithInstrumentationVersion("v1")).Start(ctx, "order",
		trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(day), trace.WithAttributes(everyKey...),
		trace.WithLinks(trace.Link{SpanContext: remote(0xcc, 0xdd), Attributes: []attribute.KeyValue{attribute.Int("n", 1)}}))
	span.AddEvent("paid", trace.WithTimestamp(day.Add(time.Second)), trace.WithAttributes(attribute.String("by", "card")))
	span.SetStatus(codes.Error, "out of stock")
	span.End(trace.WithTimestamp(day.Add(2 * time.Second)))

	got := s.Snapshot()
	want := []Span{{
		Origin: origin, TraceID: traceAA, SpanID: span.SpanContext().SpanID().String(), ParentID: spanBB,
		TraceState: "vendor=1", Name: "order", Kind: "SERVER", Start: day, End: day.Add(2 * time.Second),
		Status: "ERROR", StatusMessage: "out of stock", Attributes: everyValue,
		Events: []Event{{"paid", day.Add(time.Second), map[string]any{"by": "card"}}},
		Links:  []Link{{"cc000000000000000000000000000000", "dd00000000000000", map[string]any{"n": int64(1)}}},
	}}
	if diff := cmp.Diff(want, got.Spans); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
	if found := got.Trace(traceAA); len(found) != 1 {
		t.Errorf("Trace finds %d spans, want 1", len(found))
	}
	if found := got.Trace("0"); len(found) != 0 {
		t.Errorf("Trace of another id finds %d spans, want none", len(found))
	}
	drawn := Waterfall(got.Spans)
	if diff := cmp.Diff([]waterfall.Span{{
		TraceID: traceAA, ID: want[0].SpanID, ParentID: spanBB, Service: "shop", Name: "order", Kind: "SERVER",
		Start: day, End: day.Add(2 * time.Second), Error: true, Attributes: everyValue,
		Links: []waterfall.Link{{TraceID: "cc000000000000000000000000000000", SpanID: "dd00000000000000"}},
	}}, drawn); diff != "" {
		t.Errorf("Waterfall (-want +got):\n%s", diff)
	}
}

func TestMetricPointsFromOTLPExporterAreFlattened(t *testing.T) {
	s := start(t, defaultLimit)
	e, err := otlpmetricgrpc.New(t.Context(), otlpmetricgrpc.WithEndpoint(s.Endpoint()), otlpmetricgrpc.WithInsecure())
	if err != nil {
		t.Fatal(err)
	}
	exponential := sdkmetric.NewView(sdkmetric.Instrument{Name: "size"},
		sdkmetric.Stream{Aggregation: sdkmetric.AggregationBase2ExponentialHistogram{MaxSize: 4, MaxScale: 0}})
	mp := sdkmetric.NewMeterProvider(sdkmetric.WithResource(service), sdkmetric.WithView(exponential),
		sdkmetric.WithReader(sdkmetric.NewPeriodicReader(e, sdkmetric.WithInterval(time.Hour))))
	defer mp.Shutdown(context.Background())

	m := mp.Meter("lib", metric.WithInstrumentationVersion("v1"))
	ctx := trace.ContextWithSpanContext(t.Context(), remote(0xaa, 0xbb))
	by := metric.WithAttributes(attribute.String("by", "card"))
	orders, _ := m.Int64Counter("orders", metric.WithUnit("{order}"))
	orders.Add(ctx, 3, by)
	open, _ := m.Int64UpDownCounter("open")
	open.Add(ctx, -2, by)
	level, _ := m.Float64Gauge("level")
	level.Record(ctx, 0.25, by)
	took, _ := m.Float64Histogram("took", metric.WithUnit("s"), metric.WithExplicitBucketBoundaries(1, 5))
	took.Record(ctx, 0.5, by)
	took.Record(ctx, 7, by)
	size, _ := m.Int64Histogram("size", metric.WithUnit("By"))
	size.Record(ctx, 3, by)
	size.Record(ctx, 0, by)
	if err := mp.ForceFlush(t.Context()); err != nil {
		t.Fatal(err)
	}

	attrs := map[string]any{"by": "card"}
	exemplar := func(v float64) []Exemplar {
		return []Exemplar{{TraceID: traceAA, SpanID: spanBB, Value: v, Attributes: map[string]any{}}}
	}
	want := map[string]Point{
		"orders": {Unit: "{order}", Kind: Sum, Monotonic: true, Integers: true, Value: 3, Exemplars: exemplar(3)},
		"open":   {Kind: Sum, Integers: true, Value: -2, Exemplars: exemplar(-2)},
		"level":  {Kind: Gauge, Value: 0.25, Exemplars: exemplar(0.25)},
		"took": {
			Unit: "s", Kind: Histogram, Count: 2, Sum: 7.5, Min: new(0.5), Max: new(7.0),
			Bounds: []float64{1, 5}, Counts: []uint64{1, 0, 1}, Exemplars: append(exemplar(0.5), exemplar(7)...),
		},
		"size": {
			Unit: "By", Kind: ExponentialHistogram, Count: 2, Sum: 3, Min: new(0.0), Max: new(3.0),
			Zero: 1, Positive: Buckets{Offset: 1, Counts: []uint64{1}},
		},
	}
	got := s.Snapshot()
	if len(got.Points) != len(want) {
		t.Errorf("got %d points, want %d", len(got.Points), len(want))
	}
	for name, w := range want {
		w.Origin, w.Metric, w.Attributes = origin, name, attrs
		points := got.PointsOf(name)
		if len(points) != 1 {
			t.Errorf("PointsOf(%q) finds %d points, want 1", name, len(points))
			continue
		}
		ignore := []cmp.Option{cmpopts.IgnoreFields(Exemplar{}, "Time"), cmpopts.IgnoreFields(Point{}, "Start", "Time")}
		if name == "size" {
			ignore = append(ignore, cmpopts.IgnoreFields(Point{}, "Exemplars"))
		}
		if diff := cmp.Diff(w, points[0], ignore...); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if p := points[0]; p.Time.IsZero() || p.Start.IsZero() || p.Time.Before(p.Start) {
			t.Errorf("%s is from %v to %v, want a time after its start", name, p.Start, p.Time)
		}
	}
}

func TestRecordsOfTheRealExporterAreFlattened(t *testing.T) {
	s := start(t, defaultLimit)
	e, err := otlploggrpc.New(t.Context(), otlploggrpc.WithEndpoint(s.Endpoint()), otlploggrpc.WithInsecure())
	if err != nil {
		t.Fatal(err)
	}
	lp := sdklog.NewLoggerProvider(sdklog.WithProcessor(sdklog.NewSimpleProcessor(e)), sdklog.WithResource(service))
	defer lp.Shutdown(context.Background())

	var r log.Record
	r.SetEventName("order.placed")
	r.SetTimestamp(day)
	r.SetObservedTimestamp(day.Add(1))
	r.SetSeverity(log.SeverityWarn)
	r.SetSeverityText("WARN")
	r.SetBody(attribute.StringValue("order placed"))
	r.AddAttributes(everyKey...)
	ctx := trace.ContextWithSpanContext(t.Context(), remote(0xaa, 0xbb))
	lp.Logger("lib", log.WithInstrumentationVersion("v1")).Emit(ctx, r)

	want := []Record{{
		Origin: origin, EventName: "order.placed", Severity: 13, SeverityText: "WARN", Body: "order placed",
		Attributes: everyValue, Time: day, Observed: day.Add(1), TraceID: traceAA, SpanID: spanBB,
	}}
	got := s.Snapshot()
	if diff := cmp.Diff(want, got.Records); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	if found := got.RecordsOf("order.placed"); len(found) != 1 {
		t.Errorf("RecordsOf finds %d records, want 1", len(found))
	}
}

func TestMessageLimitIsNearly64MiB(t *testing.T) {
	s := start(t, defaultLimit)
	e, err := otlploggrpc.New(t.Context(), otlploggrpc.WithEndpoint(s.Endpoint()), otlploggrpc.WithInsecure(),
		otlploggrpc.WithTimeout(time.Minute)) // exporting this much takes long on a busy machine
	if err != nil {
		t.Fatal(err)
	}
	lp := sdklog.NewLoggerProvider(sdklog.WithProcessor(sdklog.NewSimpleProcessor(e)), sdklog.WithResource(service))
	defer lp.Shutdown(context.Background())

	var r log.Record
	const size = maxMessage - 4096
	r.SetBody(attribute.StringValue(strings.Repeat("x", size)))
	lp.Logger("lib").Emit(t.Context(), r)

	got := s.Snapshot()
	if len(got.Records) != 1 {
		t.Fatalf("got %d records, want 1", len(got.Records))
	}
	if body, _ := got.Records[0].Body.(string); len(body) != size {
		t.Errorf("the body has %d bytes, want %d", len(body), size)
	}
}
