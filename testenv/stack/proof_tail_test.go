package stack_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry/otlp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/tailsampling"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/testenv/stack/shop"
)

// TestTailSamplingExportsWholeTracesOfFailedCalls uses a client and a server that export 2 % of the traces, and the
// trace of every failed call. Jaeger must have the complete traces of the failed calls, and of the successful calls
// exactly those that the ratio selects.
func TestTailSamplingExportsWholeTracesOfFailedCalls(t *testing.T) {
	tail := otlp.WithTailSampling(tailsampling.Options{Ratio: .02})
	var served *otlp.Providers
	tcp := map[string]any{"network.transport": "tcp", "network.protocol.name": "http"}
	for _, p := range eras(pair{name: "tail sampling", clientAttributes: tcp, serverAttributes: tcp,
		connect: func(t *testing.T, ctx context.Context, pr *pair, p *otlp.Providers) (client, error) {
			served = service(t, up, pr.serverName(), tail)
			h := shop.New(served).HTTPHandler(&mcpserver.HTTPOptions{TrustTraceContext: true})
			t.Cleanup(func() { h.Shutdown(context.Background()) })
			url := shopURL(t, h)
			return connectOurs(ctx, &transport.HTTP{URL: url, Mode: transport.ModeStreamable}, pr.version(), p)
		}}) {
		t.Run(p.name, func(t *testing.T) {
			p.closesToCancel = p.modern
			ctx := limit(t, 2*time.Minute)
			providers := service(t, up, p.clientName(), tail)
			c, err := p.connect(t, ctx, p, providers)
			if err != nil {
				t.Fatal(err)
			}
			failing := slices.DeleteFunc(callings(p), func(k calling) bool { return k.outcome == "ok" })
			failed := makeAll(t, ctx, p, c, providers, failing)

			fine := callings(p)[0]
			chosen := map[string]bool{} // whether the ratio selects the trace
			for range 400 {
				ctx, span := providers.TracerProvider().Tracer("proof").Start(ctx, callerSpan, trace.WithNewRoot())
				if got, err := c.call(ctx, &fine); got != fine.outcome {
					t.Errorf("%s: %s: %v", fine.name, got, err)
				}
				span.End()
				chosen[span.SpanContext().TraceID().String()] = span.SpanContext().IsSampled()
			}
			if err := c.close(ctx); err != nil {
				t.Error(err)
			}
			for _, exporting := range []*otlp.Providers{providers, served} {
				if err := exporting.ForceFlush(ctx); err != nil {
					t.Fatal(err)
				}
			}
			settle(t, ctx, service(t, up, "last"))

			whole, few := 0, 0
			for _, m := range failed {
				if check(t, ctx, p, m) {
					whole++
				}
			}
			for id, expected := range chosen {
				if !expected {
					if found, err := up.Traces.Trace(ctx, id); err == nil {
						t.Errorf("a call that succeeded is not exported, got %v", found)
					}
				} else if check(t, ctx, p, placed{fine, id}) {
					few++
				}
			}
			t.Logf("%d of %d calls that failed are whole, and %d of %d that succeeded", whole, len(failed), few, len(chosen))
		})
	}
}
