package mcpclient

import (
	"testing"

	"go.opentelemetry.io/otel/codes"

	"github.com/mcpotel/mcpotel/mcp"
)

// The answer of a legacy server to the probe is no error of a client that then goes on with initialize.
func TestARefusedProbeIsNoErrorOfItsSpanIfThereIsAnotherWay(t *testing.T) {
	tracing(t, Options{}, func(v *conversation) { v.legacy(mcp.Version20251125) }, func(tr *traced) {
		probes := tr.spans(mcp.MethodDiscover)
		if len(probes) != 1 {
			t.Fatalf("want one probe, got %d", len(probes))
		}
		attrs := map[string]string{}
		for _, kv := range probes[0].Attributes() {
			attrs[string(kv.Key)] = kv.Value.String()
		}
		if s := probes[0].Status(); s.Code != codes.Unset || attrs["error.type"] != "" ||
			attrs["rpc.response.status_code"] != "-32601" {
			t.Errorf("want no error but the code of the answer, got %v with %v", s, attrs)
		}
		if s := tr.spans("mcp_client.connect")[0].Status(); s.Code != codes.Unset {
			t.Errorf("want no error of the attempt, got %v", s)
		}
	})
}
