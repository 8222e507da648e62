package machine_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/internal/client/machine"
)

// The parameters of the property test.
const (
	iterations    = 100 // minimum
	reorderWindow = 100 * time.Millisecond
	cancellations = 10 // maximum, for one call
)

// op is one event for a client, or several events together.
type op struct {
	Calls []request // calls that are made at the same time

	Cancel int // the call to cancel, counted from the latest; 0 for none
	Times  int

	Connect, Stop bool
	Link          machine.Event // event of a connection; TransportUp for none
	Stale         bool          // the event is from an older connection

	Chance float64
	Pass   time.Duration // time that passes after the event
}

var requests = rapid.Custom(func(t *rapid.T) request {
	r := request{
		Timeout: rapid.SampledFrom([]time.Duration{50 * time.Millisecond, time.Second, 30 * time.Second}).
			Draw(t, "timeout"),
		Answers:   rapid.SampledFrom([]int{1, 1, 1, 0, 2, 3}).Draw(t, "answers"),
		Delay:     time.Duration(rapid.Int64Range(0, int64(reorderWindow)).Draw(t, "delay")),
		Misrouted: rapid.Bool().Draw(t, "misrouted"),
		Busy:      rapid.SampledFrom([]int{0, 0, 0, 1, 2, 3}).Draw(t, "busy"),
	}
	if rapid.IntRange(0, 9).Draw(t, "late") == 0 {
		r.Delay += r.Timeout
	}
	return r
})

// troubles are the events of a connection other than answers.
var troubles = []machine.Event{
	machine.OpenFailed, machine.NegotiationFailed, machine.ProbeLost, machine.TransportDown, machine.SessionGone,
	machine.FrameInvalid, machine.InvalidStreak, machine.FrameTooLarge, machine.FrameSkipped, machine.RequestFailed,
	machine.Held, machine.Resumed, machine.Spoke, machine.Notification, machine.Request, machine.Negotiated,
	machine.Refused,
}

var ops = rapid.Custom(func(t *rapid.T) op {
	o := op{
		Chance: rapid.Float64Range(0, 0.999).Draw(t, "chance"),
		Pass:   time.Duration(rapid.Int64Range(0, int64(reorderWindow)).Draw(t, "pass")),
	}
	switch rapid.SampledFrom([]string{"call", "call", "cancel", "cancel", "connect", "trouble", "wait", "stop"}).
		Draw(t, "op") {
	case "call":
		n := rapid.IntRange(1, most).Draw(t, "how many")
		o.Calls = rapid.SliceOfN(requests, n, n).Draw(t, "calls")
	case "cancel":
		o.Cancel = rapid.IntRange(1, 2*most).Draw(t, "call")
		o.Times = rapid.IntRange(1, cancellations).Draw(t, "times")
	case "connect":
		o.Connect = true
	case "trouble":
		o.Link = rapid.SampledFrom(troubles).Draw(t, "trouble")
		o.Stale = rapid.Bool().Draw(t, "stale")
	case "wait":
		o.Pass = time.Duration(rapid.Int64Range(0, int64(limit)).Draw(t, "longer"))
	case "stop":
		o.Stop = rapid.IntRange(0, 63).Draw(t, "really") == 0
	}
	return o
})

var scripts = rapid.SliceOfN(ops, 20, 60)

func (c *client) do(o op) {
	c.chance = o.Chance
	for _, r := range o.Calls {
		c.call(r)
	}
	if o.Cancel > 0 && o.Cancel <= len(c.calls) {
		for range o.Times {
			c.cancel(c.calls[len(c.calls)-o.Cancel])
		}
	}
	if o.Connect {
		c.connect()
	}
	if o.Link != machine.TransportUp {
		epoch := c.m.Epoch
		if o.Stale {
			epoch--
		}
		c.meet(o.Link, epoch, nil)
	}
	if o.Stop {
		c.stop()
	}
	c.pass(o.Pass)
}

// Answers are reordered, doubled, lost or late. Calls time out and are cancelled. Connections are lost, and the client
// stops. Each call must have one outcome, the table must be empty at the end, and tombstones must expire.
func TestEachCallHasOneOutcome(t *testing.T) {
	seen, runs, peak := map[string]int{}, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		c := newClient(t.Fatalf)
		for _, o := range scripts.Draw(t, "script") {
			c.do(o)
			peak = max(peak, c.table.Len())
		}
		c.checkEnd()
		for _, cl := range c.calls {
			seen[cl.outcomes[0]]++
		}
		runs++
	})
	t.Logf("%d runs, up to %d calls at once, outcomes %v", runs, peak, seen)
	if testing.Short() || t.Failed() {
		return
	}
	if runs < iterations {
		t.Errorf("%d runs, want at least %d", runs, iterations)
	}
	for _, outcome := range []string{
		"result", "timeout", "cancelled", "lost", "protocol", "shutdown", "backpressure", "state",
	} {
		if seen[outcome] == 0 {
			t.Errorf("no call ended with %s, so the test does not cover it", outcome)
		}
	}
}

// Cancelling a call n times must have the same effect as cancelling it once, for all calls and tombstones.
func TestCancellingIsIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		once, often := newClient(t.Fatalf), newClient(t.Fatalf)
		for _, o := range scripts.Draw(t, "script") {
			often.do(o)
			o.Times = min(o.Times, 1)
			once.do(o)
		}
		if diff := cmp.Diff(once.history(), often.history()); diff != "" {
			t.Errorf("-once +often:\n%s", diff)
		}
	})
}

// All calls of a connection fail at once: no answer is handled in between, and none is delivered later.
func TestLostConnectionFailsAllCallsAtOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newClient(t.Fatalf)
		n := rapid.IntRange(1, most).Draw(t, "how many")
		for _, r := range rapid.SliceOfN(requests, n, n).Draw(t, "calls") {
			c.call(r)
		}
		c.pass(time.Duration(rapid.Int64Range(0, int64(reorderWindow)).Draw(t, "pass")))
		pending := slices.DeleteFunc(slices.Clone(c.calls), func(cl *call) bool { return len(cl.outcomes) > 0 })
		c.meet(machine.TransportDown, c.m.Epoch, nil)
		if c.table.Len() != 0 {
			t.Fatalf("%d calls are in flight, want none", c.table.Len())
		}
		c.connect()
		c.checkEnd()
		for _, cl := range pending {
			if !slices.Equal(cl.outcomes, []string{"lost"}) {
				t.Errorf("call %d: got %q, want outcome lost", cl.id, cl.outcomes)
			}
		}
	})
}
