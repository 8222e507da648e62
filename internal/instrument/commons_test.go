package instrument

import (
	"runtime"
	"sync"
	"testing"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

func TestWhatIsCommonIsMadeOnce(t *testing.T) {
	var c commons[int, string]
	made := 0
	build := func(int) *string { made++; return new("x") }
	a, b, other := c.get(1, build), c.get(1, build), c.get(2, build)
	if a != b || a == other || made != 2 {
		t.Errorf("want one for each of two keys, got %p, %p and %p of %d", a, b, other, made)
	}
	var users sync.WaitGroup
	for range 4 {
		users.Go(func() {
			for k := range 1000 {
				if k%2 == 1 {
					c.get(k, func(int) *string { return new("y") })
				} else if got := c.get(1, func(int) *string { return new("z") }); got != a {
					t.Error("one goroutine got another value than the others")
				}
			}
		})
	}
	users.Wait()
	runtime.KeepAlive(a)
}

func TestWhatIsCommonGoesWithItsUsers(t *testing.T) {
	var c commons[int, [64]byte]
	build := func(int) *[64]byte { return new([64]byte) }
	kept := c.get(-1, build)
	for k := range 10_000 {
		if c.get(k, build); k%1000 == 0 {
			runtime.GC()
		}
	}
	runtime.GC()
	if c.sweep(); len(c.all) != 1 || c.get(-1, build) != kept {
		t.Errorf("want only what is used, got %d", len(c.all))
	}
}

// A thousand clients of one server say the same about it.
func TestClientsShareWhatTheySay(t *testing.T) {
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
		t.Error("want the same names and facts, and statistics of their own")
	}
	if got := a.operations(); len(got) != 1 || got[0].Count != 1 {
		t.Errorf("want one call of each client in its statistics, got %v", got)
	}
	a.Close()
	b.Close()
}
