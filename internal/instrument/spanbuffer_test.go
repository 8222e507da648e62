package instrument_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// numbered makes a call with this id. The sizes derive from the id.
func numbered(ctx context.Context, c *instrument.Client, p *instrument.Peer, id int) {
	_, op := c.StartRequest(ctx, instrument.Request{Method: "tools/call", TargetKind: instrument.Tool, Target: "add"})
	op.Admit(p, int64(id))
	op.Sent(id)
	op.Received(2 * id)
	op.End(instrument.Result{ResultType: "complete"})
}

// checkNumbered fails the test unless the attributes belong to one call of numbered. It returns the correlation id of
// the call.
func checkNumbered(t *testing.T, attrs []attribute.KeyValue) string {
	t.Helper()
	set := attribute.NewSet(attrs...)
	text := func(key string) string {
		v, _ := set.Value(attribute.Key(key))
		return v.String()
	}
	id, err := strconv.Atoi(text(names.KeyJSONRPCRequestID))
	if err != nil || text(names.KeyMCPClientRequestSize) != fmt.Sprint(id) ||
		text(names.KeyMCPClientResponseSize) != fmt.Sprint(2*id) || len(text(names.KeyMCPClientCorrID)) != 32 {
		t.Fatalf("want the id, the sizes and the correlation id of one call, got %v", set.ToSlice())
	}
	return text(names.KeyMCPClientCorrID)
}

// An exporter reads the spans of a batch while other calls run.
func TestConcurrentSampledCallsHaveOwnAttributes(t *testing.T) {
	const goroutines, calls = 32, 100
	exporter := tracetest.NewInMemoryExporter()
	tracers := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter, sdktrace.WithBlocking()))
	c := instrument.NewClient(telemetry.New(telemetry.WithTracerProvider(tracers)), "files", pipe)
	defer c.Close()
	p := c.Peer(stdio, "")
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for i := range calls {
				numbered(t.Context(), c, p, 1+g*calls+i)
			}
		})
	}
	wg.Wait()
	if err := tracers.ForceFlush(t.Context()); err != nil {
		t.Fatal(err)
	}
	corrs := map[string]bool{}
	for _, span := range exporter.GetSpans() {
		corrs[checkNumbered(t, span.Attributes)] = true
	}
	if len(corrs) != goroutines*calls {
		t.Errorf("correlation ids: got %d, want %d", len(corrs), goroutines*calls)
	}
}

// The reuse of the slices depends on this behaviour. If this test fails, copiesAttributes must return false.
func TestSDKCopiesSpanAttributes(t *testing.T) {
	recorder := tracetest.NewSpanRecorder()
	tracers := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))
	_, span := tracers.Tracer("").Start(t.Context(), "a")
	attrs := make([]attribute.KeyValue, 0, 100)
	for i := range 20 { // before and after the pool has a buffer
		attrs = append(attrs[:0], attribute.Int("a", i), attribute.Int(fmt.Sprint("b", i), i))
		span.SetAttributes(attrs...)
		clear(attrs)
	}
	span.End()
	got := recorder.Ended()[0].Attributes()
	if len(got) != 21 || !slices.Contains(got, attribute.Int("a", 19)) || !slices.Contains(got, attribute.Int("b0", 0)) {
		t.Errorf("want all attributes with their values at the time of setting, got %v", got)
	}
}

// keeping is a tracer provider with spans that retain the slices of SetAttributes.
type keeping struct {
	noop.TracerProvider
	tracer *keepingTracer
}

type keepingTracer struct {
	noop.Tracer
	spans []*keepingSpan
}

type keepingSpan struct {
	noop.Span
	attrs []attribute.KeyValue
}

func (k keeping) Tracer(string, ...trace.TracerOption) trace.Tracer { return k.tracer }

func (t *keepingTracer) Start(ctx context.Context, _ string, _ ...trace.SpanStartOption) (context.Context, trace.Span) {
	s := new(keepingSpan)
	t.spans = append(t.spans, s)
	return trace.ContextWithSpan(ctx, s), s
}

func (*keepingSpan) IsRecording() bool                           { return true }
func (s *keepingSpan) SetAttributes(attrs ...attribute.KeyValue) { s.attrs = attrs }

func TestOtherSpanImplementationsCanRetainAttributes(t *testing.T) {
	tracer := new(keepingTracer)
	tel := telemetry.New(telemetry.WithTracerProvider(keeping{tracer: tracer}))
	c := instrument.NewClient(tel, "files", pipe)
	defer c.Close()
	p := c.Peer(stdio, "")
	for id := 1; id <= 10; id++ {
		numbered(t.Context(), c, p, id)
	}
	corrs := map[string]bool{}
	for _, span := range tracer.spans {
		corrs[checkNumbered(t, span.attrs)] = true
	}
	if len(corrs) != 10 {
		t.Errorf("correlation ids: got %d, want 10", len(corrs))
	}
}
