package inflight_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/internal/client/inflight"
)

// model is the simplest possible table: it keeps every call forever and searches all of them.
type model struct {
	cfg   inflight.Config
	now   time.Time
	calls []*modelled // in the order of their IDs
	dead  []*modelled // tombstones, the oldest first
	sweep time.Time
}

type modelled struct {
	id        int64
	deadline  time.Time
	inFlight  bool
	attempts  int
	removals  int
	abandoned time.Time
	why       inflight.Cause
}

func (m *model) flying() (out []*modelled) {
	for _, c := range m.calls {
		if c.inFlight {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b *modelled) int {
		switch {
		case a.deadline.IsZero() == b.deadline.IsZero():
			return a.deadline.Compare(b.deadline)
		case a.deadline.IsZero():
			return 1
		default:
			return -1
		}
	})
	return out
}

func (m *model) retire(c *modelled, why inflight.Cause) {
	if len(m.dead) == 0 {
		m.sweep = m.now.Add(m.cfg.SweepInterval)
	}
	c.inFlight, c.abandoned, c.why = false, m.now, why
	m.dead = append(m.dead, c)
	if len(m.dead) > m.cfg.MaxTombstones {
		m.dead = m.dead[1:]
	}
}

func (m *model) find(id int64) *modelled {
	i := slices.IndexFunc(m.calls, func(c *modelled) bool { return c.id == id })
	if i < 0 {
		return nil
	}
	return m.calls[i]
}

func (m *model) classify(id int64) inflight.Class {
	c := m.find(id)
	switch {
	case c == nil && (id <= 0 || len(m.calls) == 0 || id > m.calls[len(m.calls)-1].id):
		return inflight.Unknown
	case c == nil:
		return inflight.Duplicate
	case c.inFlight:
		return inflight.InFlight
	case slices.Contains(m.dead, c) && m.now.Sub(c.abandoned) <= m.cfg.TTL:
		return inflight.Late
	default:
		return inflight.Duplicate
	}
}

func (m *model) tombstone(id int64) inflight.Tombstone[int64] {
	c := m.find(id)
	return inflight.Tombstone[int64]{Cause: c.why, Age: m.now.Sub(c.abandoned), Note: -id}
}

func (m *model) next() time.Time {
	due := m.sweep
	for _, c := range m.flying() {
		if !c.deadline.IsZero() && (due.IsZero() || c.deadline.Before(due)) {
			due = c.deadline
		}
	}
	return due
}

// The test adds, settles, abandons, expires, fails, sweeps and waits in any order. The table must agree with the model,
// and each call must leave exactly once.
func TestTableAgreesWithTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := inflight.Defaults()
		cfg.TTL = time.Duration(rapid.IntRange(1, 40).Draw(t, "TTL")) * time.Second
		cfg.SweepInterval = time.Duration(rapid.IntRange(1, 40).Draw(t, "sweep interval")) * time.Second
		cfg.MaxTombstones = rapid.IntRange(1, 12).Draw(t, "tombstones")
		m := &model{cfg: cfg, now: epoch}
		table := inflight.New(cfg, func(c *modelled) int64 { return -c.id })

		anyCall := func(t *rapid.T) *modelled {
			if len(m.calls) == 0 {
				t.Skip("no call yet")
			}
			return rapid.SampledFrom(m.calls).Draw(t, "call")
		}
		causes := rapid.SampledFrom([]inflight.Cause{inflight.Cancelled, inflight.Lost, inflight.Shutdown, inflight.Protocol})
		left := func(t *rapid.T, want []*modelled) func(int64, *modelled) {
			return func(id int64, c *modelled) {
				if len(want) == 0 || want[0] != c || c.id != id {
					t.Fatalf("call %d left, want %v", id, ids(want))
				}
				want = want[1:]
				c.removals++
			}
		}

		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				for range rapid.IntRange(1, 8).Draw(t, "how many") {
					c := &modelled{id: rapid.Int64Range(1, 3).Draw(t, "step"), inFlight: true}
					if n := len(m.calls); n > 0 {
						c.id += m.calls[n-1].id
					}
					if s := rapid.IntRange(0, 20).Draw(t, "seconds"); s > 0 {
						c.deadline = m.now.Add(time.Duration(s) * time.Second)
					}
					m.calls = append(m.calls, c)
					table.Add(c.id, c.deadline, c)
				}
			},
			"settle": func(t *rapid.T) {
				c := anyCall(t)
				v, ok := table.Settle(c.id)
				if ok != c.inFlight || ok && v != c {
					t.Fatalf("settle %d: got %v, %v, want ok=%v", c.id, v, ok, c.inFlight)
				}
				if ok {
					c.inFlight = false
					c.removals++
				}
			},
			"abandon": func(t *rapid.T) {
				c, why := anyCall(t), causes.Draw(t, "cause")
				for range rapid.IntRange(1, 10).Draw(t, "times") {
					v, ok := table.Abandon(c.id, m.now, why)
					if ok != c.inFlight || ok && v != c {
						t.Fatalf("abandon %d: got %v, %v, want ok=%v", c.id, v, ok, c.inFlight)
					}
					if ok {
						m.retire(c, why)
						c.removals++
					}
				}
			},
			"expire": func(t *rapid.T) {
				var due []*modelled
				for _, c := range m.flying() {
					if !c.deadline.IsZero() && !c.deadline.After(m.now) {
						due = append(due, c)
						m.retire(c, inflight.Timeout)
					}
				}
				table.Expire(m.now, left(t, due))
			},
			"fail all": func(t *rapid.T) {
				why, all := causes.Draw(t, "cause"), m.flying()
				for _, c := range all {
					m.retire(c, why)
				}
				table.FailAll(m.now, why, left(t, all))
			},
			"busy": func(t *rapid.T) {
				c := anyCall(t)
				delay, again, ok := table.Busy(c.id, rapid.Float64Range(0, 1).Draw(t, "chance"))
				if ok != c.inFlight {
					t.Fatalf("busy %d: got ok=%v, want %v", c.id, ok, c.inFlight)
				}
				if !ok {
					return
				}
				c.attempts++
				if again != (c.attempts < 3) {
					t.Fatalf("busy %d, attempt %d: again %v", c.id, c.attempts, again)
				}
				if again && (delay < 5*time.Millisecond || delay > 15*time.Millisecond) {
					t.Fatalf("busy %d: delay %v, want 10ms ± 50%%", c.id, delay)
				}
			},
			"postpone": func(t *rapid.T) {
				c := anyCall(t)
				var deadline time.Time
				if s := rapid.IntRange(0, 20).Draw(t, "seconds"); s > 0 {
					deadline = m.now.Add(time.Duration(s) * time.Second)
				}
				if ok := table.Postpone(c.id, deadline); ok != c.inFlight {
					t.Fatalf("postpone %d: got %v, want %v", c.id, ok, c.inFlight)
				}
				if c.inFlight {
					c.deadline = deadline
				}
			},
			"sweep": func(t *rapid.T) {
				before := len(m.dead)
				for len(m.dead) > 0 && m.now.Sub(m.dead[0].abandoned) > cfg.TTL {
					m.dead = m.dead[1:]
				}
				m.sweep = time.Time{}
				if len(m.dead) > 0 {
					m.sweep = m.now.Add(cfg.SweepInterval)
				}
				if got, want := table.Sweep(m.now), before-len(m.dead); got != want {
					t.Fatalf("sweep: %d forgotten, want %d", got, want)
				}
			},
			"wait": func(t *rapid.T) {
				m.now = m.now.Add(time.Duration(rapid.IntRange(1, 15_000).Draw(t, "ms")) * time.Millisecond)
			},
			"": func(t *rapid.T) { m.compare(t, table) },
		})
	})
}

func (m *model) compare(t *rapid.T, table *inflight.Table[*modelled, int64]) {
	if got, want := table.Len(), len(m.flying()); got != want {
		t.Fatalf("calls in flight: got %d, want %d", got, want)
	}
	if got, want := table.Tombstones(), len(m.dead); got != want {
		t.Fatalf("tombstones: got %d, want %d", got, want)
	}
	if due, ok := table.Next(); !due.Equal(m.next()) || ok == m.next().IsZero() {
		t.Fatalf("next due: got %v, %v, want %v", due, ok, m.next())
	}
	m.compareAll(t, table)
	beyond := int64(3)
	for _, c := range m.calls {
		want := 1
		if c.inFlight {
			want = 0
		}
		if c.removals != want {
			t.Fatalf("call %d, in flight %v: removed %d times, want %d", c.id, c.inFlight, c.removals, want)
		}
		beyond = c.id + 3
	}
	for id := range beyond {
		c, class := table.Classify(id, m.now)
		want := m.classify(id)
		if class != want || (c != nil) != (want == inflight.InFlight) {
			t.Fatalf("classify %d: got %v, value %v, want %v", id, class, c, want)
		}
		stone, ok := table.Tombstone(id, m.now)
		if ok != (want == inflight.Late) || ok && stone != m.tombstone(id) {
			t.Fatalf("tombstone %d of class %v: got %+v, %v", id, want, stone, ok)
		}
	}
}

func (m *model) compareAll(t *rapid.T, table *inflight.Table[*modelled, int64]) {
	seen := make(map[int64]bool)
	for f := range table.All() {
		c := f.Value
		if seen[f.ID] || f.ID != c.id || !c.inFlight || !f.Deadline.Equal(c.deadline) || f.Retries != c.attempts {
			t.Fatalf("all: got %+v (again: %v), want %+v once", f, seen[f.ID], c)
		}
		seen[f.ID] = true
	}
	if got, want := len(seen), len(m.flying()); got != want {
		t.Fatalf("all: got %d calls, want %d", got, want)
	}
	n := 0
	for range table.All() {
		n++
		break
	}
	if want := min(1, len(seen)); n != want {
		t.Fatalf("all, stopped after the first: got %d calls, want %d", n, want)
	}
}

func ids(calls []*modelled) []string {
	var out []string
	for _, c := range calls {
		out = append(out, fmt.Sprint(c.id))
	}
	return out
}
