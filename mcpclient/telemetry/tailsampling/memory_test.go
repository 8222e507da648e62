package tailsampling_test

import (
	"context"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry/tailsampling"
)

// usual resembles the attributes of a tool call's span.
var usual = []attribute.KeyValue{
	attribute.String("mcp.method.name", "tools/call"), attribute.String("gen_ai.tool.name", "forecast"),
	attribute.String("gen_ai.tool.type", "extension"), attribute.String("gen_ai.operation.name", "execute_tool"),
	attribute.String("network.transport", "pipe"),
	attribute.String("mcp_client.name", "weather"), attribute.String("mcp.protocol.version", "2026-07-28"),
	attribute.Int("mcp_client.request.size", 300), attribute.Int("mcp_client.response.size", 400),
}

// start starts a call within a span of the program. Every second call has an ended span below it.
func start(s *sdk, i int) []trace.Span {
	ctx, around := s.Start(context.Background(), "turn of the agent")
	ctx, call := s.Start(ctx, "tools/call forecast", trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(usual...))
	if i%2 == 0 {
		_, post := s.Start(ctx, "HTTP POST", trace.WithAttributes(usual[:8]...))
		post.End()
	}
	return []trace.Span{call, around}
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestDefaultLimitHoldsThousandCallsInFlight(t *testing.T) {
	const calls = 1000
	s := newSDK(t, tailsampling.Options{})
	var inFlight [][]trace.Span
	for i := range calls {
		inFlight = append(inFlight, start(s, i))
	}
	st := s.Stats()
	t.Logf("%d bytes are held for a call in flight", st.HeldBytes/calls)
	if st.Evicted != 0 || st.HeldBytes > tailsampling.DefaultMaxBytes {
		t.Errorf("want %d calls in flight within %d bytes, got %+v", calls, tailsampling.DefaultMaxBytes, st)
	}
	for _, spans := range inFlight {
		for _, span := range spans {
			fail(span)
		}
	}
	if got := len(s.exported.GetSpans()); got != 2*calls+calls/2 {
		t.Errorf("want all %d spans exported, got %d", 2*calls+calls/2, got)
	}
}

// The reported memory of held spans is the memory on the heap, within a quarter.
func TestReportedHeldBytesMatchHeap(t *testing.T) {
	const spans = 4000
	for _, attributes := range []int{0, 4, len(usual)} {
		s := newSDK(t, tailsampling.Options{MaxBytes: 1 << 30})
		ctx, around := s.Start(context.Background(), "turn of the agent")
		before := heap()
		for i := range spans {
			// each span has its own tracestate, like a span with a parent from a peer
			state, err := trace.TraceState{}.Insert("vendor", strings.Repeat("x", attributes*20)+strconv.Itoa(i))
			if err != nil {
				t.Fatal(err)
			}
			parent := trace.SpanContextFromContext(ctx).WithTraceState(state)
			_, span := s.Start(trace.ContextWithSpanContext(ctx, parent), "call",
				trace.WithAttributes(usual[:attributes]...))
			span.End()
		}
		got, said := heap()-before, s.Stats().HeldBytes
		if got < said*3/4 || got > said*5/4 {
			t.Errorf("%d spans of %d attributes take %d bytes, want %d within a quarter", spans, attributes, got, said)
		}
		around.End()
	}

	s := newSDK(t, tailsampling.Options{MaxBytes: 1 << 30})
	before := heap()
	open := make([]trace.Span, 0, spans)
	for range spans {
		_, span := s.Start(context.Background(), "call")
		open = append(open, span)
	}
	with := heap() - before
	for _, span := range open[:1] {
		span.End()
	}
	said := s.Stats().HeldBytes
	if err := s.provider.Shutdown(context.Background()); err != nil { // releases everything
		t.Fatal(err)
	}
	if got := with - (heap() - before); got < said*3/4 || got > said*5/4 {
		t.Errorf("%d open spans take %d bytes, want %d within a quarter", spans, got, said)
	}
	runtime.KeepAlive(open)
}

func BenchmarkCall(b *testing.B) {
	for _, at := range []struct {
		name string
		s    tailsampling.Options
	}{{"dropped", tailsampling.Options{}}, {"sampled", tailsampling.Options{Ratio: 1}}} {
		b.Run(at.name, func(b *testing.B) {
			s := newSDK(b, at.s)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				for _, span := range start(s, i) {
					span.End()
				}
				s.exported.Reset()
			}
		})
	}
}
