package mcpproxy_test

import (
	"context"
	"testing"
	"testing/synctest"

	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpproxy"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcptest"
)

func TestCallThroughGatewayIsOneTrace(t *testing.T) {
	for _, v := range revisions {
		synctest.Test(t, func(t *testing.T) {
			rec := telemetrytest.Recorder(t)
			s := mcptest.NewServer(t, &mcpserver.Options{Telemetry: rec.Telemetry()})
			addEcho("one", s)
			g, err := mcpproxy.NewGateway([]mcpclient.Member{{Name: "one", Transport: s}},
				&mcpproxy.GatewayOptions{Telemetry: rec.Telemetry()})
			must(err)
			a := &around{t: t, gateway: g}
			host := transport.InMemory(func(ctx context.Context, p *transport.Peer) { _ = g.Serve(ctx, p) })
			c, err := mcpclient.Connect(t.Context(), host, &mcpclient.Options{
				Name: "host", Versions: []mcp.Version{v}, Telemetry: rec.Telemetry(),
			})
			must(err)
			toolNames(t, c)
			_, err = c.CallTool(t.Context(), "one_echo", nil)
			must(err)
			leave(t, c)
			a.end()
			rec.AssertOneTrace(`
				CLIENT tools/call one_echo
				  SERVER tools/call one_echo
				    CLIENT tools/call echo
				      SERVER tools/call echo`)
			for _, span := range rec.SpansNamed("tools/call echo", trace.SpanKindClient) {
				for _, kv := range span.Attributes() {
					if string(kv.Key) == names.KeyMCPClientName && kv.Value.AsString() != "one" {
						t.Errorf("the span of the member's call has the client %q, want the member's name", kv.Value.AsString())
					}
				}
			}
		})
	}
}
