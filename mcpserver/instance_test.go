package mcpserver_test

import (
	"testing"
	"testing/synctest"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// A server has the same instance id on all transports. Another server of the same name has another id.
func TestServerHasOneInstanceIDOnAllTransports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, given := range []string{"", "pod-7"} {
			rec := telemetrytest.Recorder(t)
			s := bare(t, mcpserver.Options{Telemetry: rec.Telemetry(), InstanceID: given})
			other := bare(t, mcpserver.Options{Telemetry: rec.Telemetry()})
			for _, each := range []*mcpserver.Server{s, other} {
				c := speak(t, each, mcp.Version20251125)
				c.ask(mcp.MethodPing, "")
				w := serveWeb(t, each, nil)
				w.open("2025-11-25")
			}
			want := map[string]bool{s.Inspect().InstanceID: true, other.Inspect().InstanceID: true}
			if given != "" && !want[given] || len(want) != 2 {
				t.Errorf("got the instances %v, want two, one of them %q", want, given)
			}
			networks := map[[2]string]bool{}
			for _, r := range rec.Spans() {
				a := map[string]string{}
				for _, kv := range r.Attributes() {
					a[string(kv.Key)] = kv.Value.String()
				}
				if id := a["mcp_server.instance.id"]; !want[id] {
					t.Errorf("span %s: got the instance %q, want one of %v", r.Name(), id, want)
				}
				networks[[2]string{a["mcp_server.instance.id"], a["network.protocol.name"]}] = true
			}
			if len(networks) != 4 {
				t.Errorf("got %v, want two networks of each of two servers", networks)
			}
		}
	})
}
