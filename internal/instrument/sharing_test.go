package instrument

import (
	"testing"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// The clients of one server share its facts.
func TestClientsOfOneServerShareNamesAndFacts(t *testing.T) {
	n := Network{Transport: "tcp", Address: "server.test", Port: 443}
	about := Request{Method: "tools/call", Target: "t", TargetKind: Tool}
	use := func(tel *telemetry.Telemetry) (*Client, *opInfo) {
		c := NewClient(tel, "c", n)
		_, op := c.StartRequest(t.Context(), about)
		op.Admit(c.Peer(Facts{Network: n, MCPVersion: "2026-07-28"}, ""), 1)
		op.End(Result{})
		return c, op.info
	}
	a, of := use(telemetry.New())
	b, other := use(telemetry.New(telemetry.WithToolNameLimit(7)))
	if a.base != b.base || of.opNames != other.opNames || of == other {
		t.Error("want the same names and facts, but separate statistics")
	}
	if got := a.operations(); len(got) != 1 || got[0].Count != 1 {
		t.Errorf("want one call in the statistics of each client, got %v", got)
	}
	a.Close()
	b.Close()
}
