package mcpserver_test

import (
	"testing"

	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

func TestHTTPSpansHaveClientAddressUnlessDisabled(t *testing.T) {
	for _, tt := range []struct {
		over string
		opts []telemetry.Option
		want bool
	}{
		{"HTTP", nil, true},
		{"HTTP", []telemetry.Option{telemetry.WithoutClientAddress()}, false},
		{"memory", nil, false},
	} {
		for _, version := range []mcp.Version{mcp.Version20251125, mcp.Version20260728} {
			rec := telemetrytest.Recorder(t, tt.opts...)
			c, served := tracedClient(t, tracingServer(t, rec.Telemetry()), tt.over, rec.Telemetry(), version)
			callText(t, c, "trace")
			must(t, c.Close())
			served()
			span := rec.SpansNamed("tools/call trace", trace.SpanKindServer)[0]
			address, port := "", int64(0)
			for _, kv := range span.Attributes() {
				switch kv.Key {
				case "client.address":
					address = kv.Value.AsString()
				case "client.port":
					port = kv.Value.AsInt64()
				}
			}
			if got := address == "127.0.0.1" && port > 0; got != tt.want || !tt.want && (address != "" || port != 0) {
				t.Errorf("%s, %s: the span is from %q, port %d; want an address: %v", tt.over, version, address, port, tt.want)
			}
		}
	}
}
