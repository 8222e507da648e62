package machine

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestDefaultPolicy(t *testing.T) {
	want := Policy{
		InitTimeout:   10 * time.Second,
		StartTimeout:  time.Minute,
		AuthTimeout:   5 * time.Minute,
		WaitMax:       10 * time.Minute,
		BackoffMin:    time.Second,
		BackoffMax:    30 * time.Second,
		BackoffJitter: 0.5,
		CloseTimeout:  100 * time.Millisecond,
	}
	if got := Defaults(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if err := Defaults().Validate(); err != nil {
		t.Errorf("defaults: got %v, want a valid policy", err)
	}
}

func TestInvalidPolicyFieldIsNamed(t *testing.T) {
	for _, c := range []struct {
		spoil func(*Policy)
		want  string
	}{
		{func(p *Policy) { p.InitTimeout = 0 }, "Timeouts.Init 0s is not positive"},
		{func(p *Policy) { p.StartTimeout = 0 }, "Timeouts.Start 0s is not positive"},
		{func(p *Policy) { p.AuthTimeout = 0 }, "Timeouts.Auth 0s is not positive"},
		{func(p *Policy) { p.WaitMax = -1 }, "WaitMax -1ns is negative"},
		{func(p *Policy) { p.CloseTimeout = -1 }, "Timeouts.Close -1ns is not positive"},
		{func(p *Policy) { p.BackoffMin = 0 }, "Backoff.Min 0s is not positive"},
		{func(p *Policy) { p.BackoffMax = time.Second - 1 }, "Backoff.Max 999.999999ms is below Backoff.Min 1s"},
		{func(p *Policy) { p.BackoffMax = longest + 1 }, "Backoff.Max 1281023h53m38.427387904s is above"},
		{func(p *Policy) { p.BackoffJitter = -0.1 }, "BackoffJitter -0.1 is not between 0 and 1"},
		{func(p *Policy) { p.BackoffJitter = 1.1 }, "BackoffJitter 1.1 is not between 0 and 1"},
		{func(p *Policy) { p.BackoffJitter = math.NaN() }, "BackoffJitter NaN is not between 0 and 1"},
		{func(p *Policy) { p.InitialAttempts = -1 }, "Backoff.Attempts -1 is negative"},
	} {
		p := Defaults()
		c.spoil(&p)
		if err := p.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got error %v, want %q", err, c.want)
		}
	}
}

func TestDelaysDoubleUpToTheMaximum(t *testing.T) {
	p, d := Defaults(), Defaults().BackoffMin
	for i, want := range []time.Duration{1, 2, 4, 8, 16, 30, 30} {
		if d != want*time.Second {
			t.Errorf("delay %d: got %v, want %v", i+1, d, want*time.Second)
		}
		d = p.longer(d)
	}
}

// With any valid policy, no delay is negative or outside the jitter, and no delay before jitter is outside the limits.
func TestDelaysStayWithinTheLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Defaults()
		p.BackoffMin = time.Duration(rapid.Int64Range(1, int64(longest)).Draw(t, "min"))
		p.BackoffMax = time.Duration(rapid.Int64Range(int64(p.BackoffMin), int64(longest)).Draw(t, "max"))
		p.BackoffJitter = rapid.Float64Range(0, 1).Draw(t, "jitter")
		if err := p.Validate(); err != nil {
			t.Fatalf("got %v, want a valid policy", err)
		}
		d := p.BackoffMin
		for range 70 {
			next := p.longer(d)
			if next > p.BackoffMax || next < d || next == d && d != p.BackoffMax {
				t.Fatalf("after %v: got %v, want more, up to %v", d, next, p.BackoffMax)
			}
			least, most := float64(d)*(1-p.BackoffJitter), float64(d)*(1+p.BackoffJitter)
			got := float64(p.spread(d, rapid.Float64Range(0, 0x1.fffffffffffffp-1).Draw(t, "chance")))
			if got < math.Floor(least) || got > most {
				t.Fatalf("spread of %v: got %v, want from %v to %v", d, got, least, most)
			}
			d = next
		}
	})
}

// An attempt follows without a delay after the loss of the first session, or of a session that has proved that it
// works.
func TestFirstAttemptAfterLossCanHaveZeroDelay(t *testing.T) {
	p := Defaults()
	p.AtOnce = true
	now := time.Unix(0, 0)
	m := Machine{State: ready, Since: now, Session: 1, Delay: p.BackoffMin}
	wait := func(e Event) time.Duration {
		next, _, ok := p.Step(m, Input{Event: e, Now: now, Jitter: 0.5})
		if !ok || next.State != backoff {
			t.Fatalf("got %+v", next)
		}
		m.Delay = next.Delay
		return next.Deadline.Sub(now)
	}
	for i, want := range []time.Duration{0, 2 * time.Second, 4 * time.Second} {
		if got := wait(TransportDown); got != want {
			t.Errorf("loss %d: got %v, want %v", i, got, want)
		}
	}
	m.Delay = p.BackoffMin
	m.State = initializing
	if got := wait(NegotiationFailed); got != time.Second {
		t.Errorf("an attempt that failed: got %v", got)
	}
	m.State, m.Delay, p.BackoffMax = ready, p.BackoffMin, p.BackoffMin
	if got := wait(TransportDown); got != time.Second {
		t.Errorf("with one delay: got %v", got)
	}
}
