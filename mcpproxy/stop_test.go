package mcpproxy_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpproxy"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// Both sides of a proxy record why a request in flight has ended.
func TestProxySpansRecordEndReason(t *testing.T) {
	for _, tt := range []struct {
		name           string
		end            func(stop, leave context.CancelFunc, host *mcpclient.Client)
		server, client string // error.type of the proxy's spans
	}{
		{"the proxy stops", func(stop, _ context.CancelFunc, _ *mcpclient.Client) { stop() }, "shutdown", "shutdown"},
		{"the caller leaves", func(_, leave context.CancelFunc, _ *mcpclient.Client) { leave() }, "cancelled", "cancelled"},
		{"the host leaves", func(_, _ context.CancelFunc, host *mcpclient.Client) { _ = host.Close() },
			"connection_lost", "shutdown"}, // error.type of the client for this host
	} {
		for _, v := range []mcp.Version{mcp.Version20251125, mcp.Version20260728} {
			t.Run(tt.name+"/"+string(v), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					rec := telemetrytest.Recorder(t)
					s := mcpserver.New(mcp.Implementation{Name: "s", Version: "1"},
						&mcpserver.Options{Telemetry: telemetry.Off()})
					if err := s.AddTool(&mcp.Tool{Name: "slow"},
						func(ctx context.Context, _ *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
							<-ctx.Done()
							return nil, ctx.Err()
						}); err != nil {
						t.Fatal(err)
					}
					p, err := mcpproxy.New(transport.InMemory(func(ctx context.Context, peer *transport.Peer) {
						_ = s.Serve(ctx, peer)
					}), &mcpproxy.Options{Name: "p", Telemetry: rec.Telemetry()})
					if err != nil {
						t.Fatal(err)
					}
					serving, stop := context.WithCancel(t.Context())
					defer stop()
					host, err := mcpclient.Connect(t.Context(), transport.InMemory(
						func(_ context.Context, peer *transport.Peer) { _ = p.Serve(serving, peer) }),
						&mcpclient.Options{Telemetry: telemetry.Off(), Versions: []mcp.Version{v}})
					if err != nil {
						t.Fatal(err)
					}
					ctx, leave := context.WithCancel(t.Context())
					defer leave()
					done := make(chan struct{})
					go func() {
						defer close(done)
						_, _ = host.CallTool(ctx, "slow", nil)
					}()
					synctest.Wait()
					tt.end(stop, leave, host)
					time.Sleep(time.Minute)
					for kind, want := range map[trace.SpanKind]string{
						trace.SpanKindServer: tt.server, trace.SpanKindClient: tt.client,
					} {
						spans := rec.SpansNamed("tools/call slow", kind)
						if len(spans) != 1 {
							t.Fatalf("got %d %v spans, want 1", len(spans), kind)
						}
						got := ""
						for _, a := range spans[0].Attributes() {
							if a.Key == "error.type" {
								got = a.Value.String()
							}
						}
						if got != want {
							t.Errorf("error.type of the %v span: got %q, want %q; status %v", kind, got, want, spans[0].Status())
						}
					}
					leave()
					_ = host.Close()
					<-done
				})
			})
		}
	}
}
