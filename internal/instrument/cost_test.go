package instrument_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"go.opentelemetry.io/otel/propagation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// installations lists kinds of programs, and the allocations of telemetry in each: a budget, and the current numbers
// for a call, for serving a call, and for reading a trace context.
var installations = []struct {
	name                          string
	budget, call, serving, parent float64
	new                           func(testing.TB) *telemetry.Telemetry
}{
	{"absent", 0, 0, 0, 0, func(testing.TB) *telemetry.Telemetry { return telemetry.Off() }},
	{"no SDK", 0, 0, 0, 0, func(testing.TB) *telemetry.Telemetry { return telemetry.New() }},
	{"SDK, unsampled", 4, 4, 3, 2, func(t testing.TB) *telemetry.Telemetry { return withSDK(t, sdktrace.NeverSample()) }},
	{"SDK, sampled", 12, 10, 12, 2, func(t testing.TB) *telemetry.Telemetry {
		return withSDK(t,
			sdktrace.AlwaysSample())
	}},
}

// withSDK returns a Telemetry with a typical SDK: batched spans, metrics, W3C propagation, and logs at level Info.
func withSDK(t testing.TB, s sdktrace.Sampler, more ...telemetry.Option) *telemetry.Telemetry {
	tracers := sdktrace.NewTracerProvider(sdktrace.WithSampler(s), sdktrace.WithBatcher(nowhere{}))
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))
	t.Cleanup(func() {
		_ = tracers.Shutdown(context.Background())
		_ = meters.Shutdown(context.Background())
	})
	return telemetry.New(append(more,
		telemetry.WithTracerProvider(tracers),
		telemetry.WithMeterProvider(meters),
		telemetry.WithPropagators(propagation.NewCompositeTextMapPropagator(propagation.TraceContext{},
			propagation.Baggage{})),
		telemetry.WithLogger(slog.New(infoOnly{slog.DiscardHandler})),
	)...)
}

// nowhere is a span exporter that discards spans.
type nowhere struct{}

func (nowhere) ExportSpans(context.Context, []sdktrace.ReadOnlySpan) error { return nil }
func (nowhere) Shutdown(context.Context) error                             { return nil }

// infoOnly is a handler that accepts records of level Info and above.
type infoOnly struct{ slog.Handler }

func (infoOnly) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelInfo }

var sunk string

// toolCall emits the client's telemetry of one successful tool call.
func toolCall(ctx context.Context, c *instrument.Client, p *instrument.Peer) {
	_, op := c.StartRequest(ctx, instrument.Request{Method: "tools/call", TargetKind: instrument.Tool, Target: "add"})
	op.Admit(p, 1234567)
	sunk = op.TraceContext().Traceparent
	op.Sent(200)
	op.Received(4096)
	if op.Timed() {
		op.Decoded(20*time.Microsecond, nil)
	}
	op.End(instrument.Result{ResultType: "complete"})
}

var pipe = instrument.Network{Transport: "pipe"}

func BenchmarkToolCall(b *testing.B) {
	for _, in := range installations {
		b.Run(in.name, func(b *testing.B) {
			c := instrument.NewClient(in.new(b), "bench", pipe)
			defer c.Close()
			p, ctx := c.Peer(stdio, ""), b.Context()
			b.ReportAllocs()
			for b.Loop() {
				toolCall(ctx, c, p)
			}
		})
	}
}

// serve emits the server's telemetry of one successful tool call.
func serve(ctx context.Context, s *instrument.Server, p *instrument.Peer, traceparent string) {
	_, op := s.StartHandler(ctx, instrument.Incoming{
		Method: "tools/call", TargetKind: instrument.Tool, Target: "add", Known: true, TargetKnown: true, ID: "1234567",
		TraceContext: instrument.TraceContext{Traceparent: traceparent}, Size: 200, Peer: p,
	})
	if op.Timed() {
		op.Decoded(20*time.Microsecond, nil)
	}
	op.Sending()
	op.Sent(4096)
	op.End(instrument.Result{ResultType: "complete"})
}

func BenchmarkServe(b *testing.B) {
	for _, in := range installations {
		b.Run(in.name, func(b *testing.B) {
			s := instrument.NewServer(in.new(b), "bench", pipe)
			defer s.Close()
			p, ctx := s.Peer(stdio, ""), b.Context()
			b.ReportAllocs()
			for b.Loop() {
				serve(ctx, s, p, remoteParent)
			}
		})
	}
}
