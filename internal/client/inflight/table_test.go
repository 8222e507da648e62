package inflight_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/inflight"
)

// epoch is the time at which the tests begin.
var epoch = time.Date(2026, time.July, 28, 12, 0, 0, 0, time.UTC)

func at(d time.Duration) time.Time { return epoch.Add(d) }

// newTable returns a table whose calls are strings. Its tombstones keep these strings in brackets.
func newTable(cfg inflight.Config) *inflight.Table[string, string] {
	return inflight.New(cfg, func(v string) string { return "[" + v + "]" })
}

func TestAnsweredCallLeavesNoTombstone(t *testing.T) {
	table := newTable(inflight.Defaults())
	table.Add(1, at(30*time.Second), "one")
	wantClass(t, table, 1, epoch, inflight.InFlight, 0)

	if v, ok := table.Settle(1); v != "one" || !ok {
		t.Errorf("settling a call in flight: got %q, %v, want %q, true", v, ok, "one")
	}
	if v, ok := table.Settle(1); ok {
		t.Errorf("settling it again: got %q, want nothing", v)
	}
	wantHeld(t, table, 0, 0)
	wantClass(t, table, 1, epoch, inflight.Duplicate, 0)
}

func TestAbandonedCallIsRememberedForItsTTL(t *testing.T) {
	for _, why := range []inflight.Cause{
		inflight.Timeout, inflight.Cancelled, inflight.Lost, inflight.Shutdown, inflight.Protocol,
	} {
		t.Run(why.String(), func(t *testing.T) {
			table := newTable(inflight.Defaults())
			table.Add(1, at(30*time.Second), "one")
			if v, ok := table.Abandon(1, at(time.Second), why); v != "one" || !ok {
				t.Fatalf("abandoning a call in flight: got %q, %v, want %q, true", v, ok, "one")
			}
			wantHeld(t, table, 0, 1)

			last := at(76 * time.Second)
			wantClass(t, table, 1, last, inflight.Late, why)
			want := inflight.Tombstone[string]{Cause: why, Age: 75 * time.Second, Note: "[one]"}
			if stone, ok := table.Tombstone(1, last); stone != want || !ok {
				t.Errorf("tombstone at its TTL: got %+v, %v, want %+v, true", stone, ok, want)
			}

			after := last.Add(1)
			wantClass(t, table, 1, after, inflight.Duplicate, 0)
			if stone, ok := table.Tombstone(1, after); ok {
				t.Errorf("tombstone after its TTL: got %+v, want none, swept or not", stone)
			}
		})
	}
}

func TestAbandoningAgainChangesNothing(t *testing.T) {
	table := newTable(inflight.Defaults())
	table.Add(1, at(30*time.Second), "one")
	table.Abandon(1, at(time.Second), inflight.Cancelled)
	for range 10 {
		if v, ok := table.Abandon(1, at(2*time.Second), inflight.Timeout); ok {
			t.Errorf("abandoning again: got %q, want nothing", v)
		}
		if v, ok := table.Settle(1); ok {
			t.Errorf("settling an abandoned call: got %q, want nothing", v)
		}
	}
	wantHeld(t, table, 0, 1)
	wantClass(t, table, 1, at(2*time.Second), inflight.Late, inflight.Cancelled)
}

func TestUnusedIDsAreUnknown(t *testing.T) {
	table := newTable(inflight.Defaults())
	table.Add(7, time.Time{}, "seven")
	for _, id := range []int64{-1, 0, 8, 1 << 62} {
		wantClass(t, table, id, epoch, inflight.Unknown, 0)
	}
	wantClass(t, table, 6, epoch, inflight.Duplicate, 0)
}

func TestIDsMustIncrease(t *testing.T) {
	for _, id := range []int64{-1, 0, 6, 7} {
		t.Run(fmt.Sprint(id), func(t *testing.T) {
			table := newTable(inflight.Defaults())
			table.Add(7, time.Time{}, "seven")
			wantPanic(t, func() { table.Add(id, time.Time{}, "again") })
		})
	}
}

func TestUnusableConfigurationPanics(t *testing.T) {
	for name, spoil := range map[string]func(*inflight.Config){
		"no TTL":          func(c *inflight.Config) { c.TTL = 0 },
		"no sweeps":       func(c *inflight.Config) { c.SweepInterval = -1 },
		"no tombstones":   func(c *inflight.Config) { c.MaxTombstones = 0 },
		"nothing was set": func(c *inflight.Config) { *c = inflight.Config{} },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := inflight.Defaults()
			spoil(&cfg)
			wantPanic(t, func() { newTable(cfg) })
		})
	}
}

func TestCallsExpireAtTheirDeadlines(t *testing.T) {
	table := newTable(inflight.Defaults())
	for i, seconds := range []int{5, 3, 0, 3, 1, 4} {
		var deadline time.Time
		if seconds > 0 {
			deadline = at(time.Duration(seconds) * time.Second)
		}
		table.Add(int64(i+1), deadline, fmt.Sprint(seconds))
	}
	table.Settle(5)

	if got := expire(table, at(3*time.Second-1)); len(got) > 0 {
		t.Errorf("before the first deadline: %v expired, want none", got)
	}
	if got, want := expire(table, at(3*time.Second)), []int64{2, 4}; !slices.Equal(got, want) {
		t.Errorf("at the first deadline: %v expired, want %v", got, want)
	}
	wantClass(t, table, 2, at(3*time.Second), inflight.Late, inflight.Timeout)
	if got, want := expire(table, at(time.Hour)), []int64{6, 1}; !slices.Equal(got, want) {
		t.Errorf("after the last deadline: %v expired, want %v, in order", got, want)
	}
	wantHeld(t, table, 1, 4)
	if due, ok := table.NextDeadline(); ok {
		t.Errorf("with only a call without a deadline: next deadline %v, want none", due)
	}
}

func TestPostponedCallExpiresAtItsNewDeadline(t *testing.T) {
	table := newTable(inflight.Defaults())
	for id, seconds := range []int{1, 2, 3} {
		table.Add(int64(id+1), at(time.Duration(seconds)*time.Second), fmt.Sprint(seconds))
	}
	if !table.Postpone(1, at(10*time.Second)) || !table.Postpone(3, at(time.Second)) ||
		table.Postpone(4, at(time.Second)) {
		t.Error("want only the calls in flight postponed")
	}
	wantNext(t, table, at(time.Second))
	if got, want := expire(table, at(9*time.Second)), []int64{3, 2}; !slices.Equal(got, want) {
		t.Errorf("before the postponed deadline: %v expired, want %v", got, want)
	}
	table.Postpone(1, time.Time{})
	if got := expire(table, at(time.Hour)); len(got) > 0 {
		t.Errorf("without a deadline: %v expired, want none", got)
	}
}

func TestFailAllLeavesNothingInFlight(t *testing.T) {
	table := newTable(inflight.Defaults())
	table.Add(1, time.Time{}, "never")
	table.Add(2, at(2*time.Second), "later")
	table.Add(3, at(1*time.Second), "sooner")
	var got []string
	table.FailAll(epoch, inflight.Lost, func(id int64, v string) { got = append(got, fmt.Sprint(id, v)) })
	if want := []string{"3sooner", "2later", "1never"}; !slices.Equal(got, want) {
		t.Errorf("failed %q, want %q", got, want)
	}
	wantHeld(t, table, 0, 3)
	wantClass(t, table, 1, epoch, inflight.Late, inflight.Lost)
}

func TestBusyTransportIsTriedThreeTimes(t *testing.T) {
	for _, c := range []struct {
		r    float64
		want time.Duration
	}{
		{0, 5 * time.Millisecond},
		{0.25, 7500 * time.Microsecond},
		{0.5, 10 * time.Millisecond},
		{0.75, 12500 * time.Microsecond},
	} {
		table := newTable(inflight.Defaults())
		table.Add(1, at(time.Second), "one")
		for attempt := 1; attempt <= 3; attempt++ {
			delay, again, ok := table.Busy(1, c.r)
			want := c.want
			if attempt == 3 {
				want = 0
			}
			if delay != want || again != (attempt < 3) || !ok {
				t.Errorf("attempt %d with chance %v: got %v, again %v, %v, want %v, again %v, true",
					attempt, c.r, delay, again, ok, want, attempt < 3)
			}
		}
		wantHeld(t, table, 1, 0)
		table.Settle(1)
		if _, _, ok := table.Busy(1, c.r); ok {
			t.Error("a call that is not in flight is busy, want ok=false")
		}
	}
}

func TestReusedCallStartsWithoutAttempts(t *testing.T) {
	table := newTable(inflight.Defaults())
	table.Add(1, time.Time{}, "one")
	table.Busy(1, 0)
	table.Busy(1, 0)
	table.Settle(1)
	table.Add(2, time.Time{}, "two")
	if _, again, _ := table.Busy(2, 0); !again {
		t.Error("first attempt of a new call: got no further attempt, want two")
	}
}

func TestSweepsAreDueWhileThereAreTombstones(t *testing.T) {
	table := newTable(inflight.Defaults())
	wantNext(t, table, time.Time{})
	table.Add(1, at(10*time.Second), "one")
	table.Add(2, at(20*time.Second), "two")
	wantNext(t, table, at(10*time.Second))
	expire(table, at(10*time.Second))
	wantNext(t, table, at(20*time.Second))
	expire(table, at(20*time.Second))
	wantNext(t, table, at(70*time.Second)) // one minute after the first tombstone

	for _, s := range []struct {
		at, left int // seconds and tombstones
	}{{70, 2}, {85, 2}, {86, 1}, {95, 1}, {96, 0}} {
		now := at(time.Duration(s.at) * time.Second)
		held := table.Tombstones()
		if got := table.Sweep(now); got != held-s.left {
			t.Errorf("sweep at %d s: %d forgotten, want %d", s.at, got, held-s.left)
		}
		wantHeld(t, table, 0, s.left)
		if s.left > 0 {
			wantNext(t, table, now.Add(time.Minute))
		}
	}
	wantNext(t, table, time.Time{})
}

func TestNextWakeupIsDeadlineOrSweep(t *testing.T) {
	table := newTable(inflight.Defaults())
	table.Add(1, at(time.Second), "one")
	expire(table, at(time.Second))
	table.Add(2, at(61*time.Second+1), "after the sweep")
	wantNext(t, table, at(61*time.Second))
	table.Add(3, at(60*time.Second), "before the sweep")
	wantNext(t, table, at(60*time.Second))
}

func TestFullTableEvictsOldestTombstone(t *testing.T) {
	cfg := inflight.Defaults()
	cfg.MaxTombstones = 2
	table := newTable(cfg)
	for id := int64(1); id <= 3; id++ {
		table.Add(id, time.Time{}, "call")
		table.Abandon(id, epoch, inflight.Cancelled)
	}
	wantHeld(t, table, 0, 2)
	wantClass(t, table, 1, epoch, inflight.Duplicate, 0)
	wantClass(t, table, 2, epoch, inflight.Late, inflight.Cancelled)
	wantClass(t, table, 3, epoch, inflight.Late, inflight.Cancelled)
}

func TestClassNames(t *testing.T) {
	classes := []inflight.Class{inflight.Unknown, inflight.InFlight, inflight.Late, inflight.Duplicate}
	if got, want := fmt.Sprint(classes), "[unknown in flight late duplicate]"; got != want {
		t.Errorf("classes: got %s, want %s", got, want)
	}
}

func expire(table *inflight.Table[string, string], now time.Time) (ids []int64) {
	table.Expire(now, func(id int64, _ string) { ids = append(ids, id) })
	return ids
}

func wantClass(t *testing.T, table *inflight.Table[string, string], id int64, now time.Time, class inflight.Class,
	why inflight.Cause) {
	t.Helper()
	v, got := table.Classify(id, now)
	stone, _ := table.Tombstone(id, now)
	if got != class || stone.Cause != why {
		t.Errorf("id %d after %v: got %v %v, want %v %v", id, now.Sub(epoch), got, stone.Cause, class, why)
	}
	if found, ok := table.Find(id); found != v || ok != (class == inflight.InFlight) {
		t.Errorf("id %d after %v: found %q, %v, but classified as %q, %v", id, now.Sub(epoch), found, ok, v, class)
	}
}

func wantHeld(t *testing.T, table *inflight.Table[string, string], calls, tombstones int) {
	t.Helper()
	if c, s := table.Len(), table.Tombstones(); c != calls || s != tombstones {
		t.Errorf("held: got %d calls and %d tombstones, want %d and %d", c, s, calls, tombstones)
	}
}

// wantNext checks the next due time. The zero time means that nothing is due.
func wantNext(t *testing.T, table *inflight.Table[string, string], want time.Time) {
	t.Helper()
	if due, ok := table.Next(); !due.Equal(want) || ok == want.IsZero() {
		t.Errorf("next due: got %v, %v, want %v", due, ok, want)
	}
}

func wantPanic(t *testing.T, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Error("got no panic, want one: this is a programmer's error")
		}
	}()
	f()
}
