package inflight

import (
	"runtime"
	"testing"
	"time"
	"weak"
)

var noon = time.Date(2026, time.July, 28, 12, 0, 0, 0, time.UTC)

// note has the size of a trace context.
type note [25]byte

func newStorm() *Table[int64, note] {
	return New(Defaults(), func(int64) note { return note{} })
}

// A million timeouts, in waves of callers that give up together, stay within the limit. After the TTL, the table is as
// small as before.
func TestMassTimeoutsStayWithinBounds(t *testing.T) {
	const (
		calls = 1_000_000
		wave  = 10_000
		mib   = 1 << 20
	)
	table := newStorm()
	before := heapInUse()
	now := noon
	var id, expired int64
	for range calls / wave {
		for range wave {
			id++
			table.Add(id, now.Add(time.Millisecond), id)
		}
		now = now.Add(time.Millisecond)
		table.Expire(now, func(int64, int64) { expired++ })
		if got := table.Tombstones(); got > 65_536 {
			t.Fatalf("after %d timeouts: %d tombstones, want at most 65,536", id, got)
		}
	}
	if expired != calls || table.Len() != 0 {
		t.Fatalf("%d calls expired and %d are in flight, want %d and 0", expired, table.Len(), calls)
	}
	for late := id - 65_535; late <= id; late++ {
		if stone, ok := table.Tombstone(late, now); !ok || stone.Cause != Timeout {
			t.Fatalf("id %d of %d: got %+v, %v, want a tombstone with cause timeout", late, id, stone, ok)
		}
	}
	if grown := heapInUse() - before; grown > 16*mib {
		t.Errorf("memory with all tombstones: got %d KiB, want at most 16 MiB", grown>>10)
	}

	now = now.Add(75*time.Second + 1)
	if got := table.Sweep(now); got != 65_536 || table.Tombstones() != 0 {
		t.Errorf("sweep after the TTL: %d forgotten, %d left, want 65,536 and 0", got, table.Tombstones())
	}
	if due, ok := table.Next(); ok {
		t.Errorf("the table is empty, but %v is due", due)
	}
	wantSmall(t, table)
	if grown := heapInUse() - before; grown > mib {
		t.Errorf("memory after the storm: got %d KiB, want at most 1 MiB", grown>>10)
	}
	runtime.KeepAlive(table)
}

// Shrinking loses nothing: while a large table empties, it still finds the remaining calls.
func TestShrinkingKeepsTheEntries(t *testing.T) {
	const n = 20_000
	table := newStorm()
	for id := int64(1); id <= n; id++ {
		table.Add(id, noon.Add(time.Duration(id)*time.Second), id)
	}
	for id := int64(1); id <= n; id++ {
		table.Abandon(id, noon.Add(time.Duration(id)*time.Second), Cancelled)
		if id%1000 == 0 {
			for next := id + 1; next <= n; next++ {
				if _, class := table.Classify(next, noon); class != InFlight {
					t.Fatalf("%d abandoned, id %d: got %v, want it in flight", id, next, class)
				}
			}
		}
	}
	for swept := int64(1000); swept <= n; swept += 1000 {
		now := noon.Add(time.Duration(swept)*time.Second + table.cfg.Value().TTL + 1)
		table.Sweep(now)
		for id := int64(1); id <= n; id++ {
			if _, class := table.Classify(id, now); (class == Late) != (id > swept) {
				t.Fatalf("%d swept, id %d: got %v", swept, id, class)
			}
		}
	}
	wantSmall(t, table)
}

// A repeated burst reuses the memory of the previous burst.
func TestSteadyStateDoesNotAllocate(t *testing.T) {
	table := newStorm()
	now := noon
	var id int64
	left := func(int64, int64) {}
	burst := func() {
		for range 64 {
			id++
			table.Add(id, now.Add(30*time.Second), id)
			table.Busy(id, 0.5)
		}
		for answered := id - 63; answered <= id-48; answered++ {
			table.Settle(answered)
		}
		for abandoned := id - 47; abandoned <= id-32; abandoned++ {
			table.Abandon(abandoned, now, Cancelled)
		}
		now = now.Add(30 * time.Second)
		table.Expire(now.Add(-time.Nanosecond), left)
		table.FailAll(now, Lost, left)
		table.Sweep(now)
	}
	for range 100 {
		burst()
	}
	if got := testing.AllocsPerRun(1000, burst); got != 0 {
		t.Errorf("a burst of 64 calls: %v allocations, want none", got)
	}
}

// A table holds only the values of calls in flight and the notes of tombstones, so the values and notes of removed
// calls can be collected.
func TestRemovedCallsCanBeCollected(t *testing.T) {
	type value struct{ note, _ *[64]byte }
	table := New(Defaults(), func(v *value) *[64]byte { return v.note })
	values, notes := map[int64]weak.Pointer[value]{}, map[int64]weak.Pointer[[64]byte]{}
	for id := int64(1); id <= 4; id++ {
		v := &value{note: new([64]byte)}
		values[id], notes[id] = weak.Make(v), weak.Make(v.note)
		table.Add(id, noon.Add(time.Duration(id)*time.Second), v)
	}
	table.Settle(1)
	table.Abandon(2, noon, Cancelled)
	table.Expire(noon.Add(3*time.Second), func(int64, *value) {})
	table.Sweep(noon.Add(table.cfg.Value().TTL + time.Second))
	runtime.GC()

	for id := int64(1); id <= 4; id++ {
		if got, want := values[id].Value() != nil, id == 4; got != want {
			t.Errorf("value of call %d: held %v, want %v", id, got, want)
		}
		if got, want := notes[id].Value() != nil, id >= 3; got != want {
			t.Errorf("note of call %d: held %v, want %v", id, got, want)
		}
	}
	runtime.KeepAlive(table)
}

func wantSmall[T, N any](t *testing.T, table *Table[T, N]) {
	t.Helper()
	for what, room := range map[string]int{
		"entries for reuse":   len(table.spare),
		"heap of deadlines":   cap(table.deadlines),
		"index of calls":      table.calls.big.peak,
		"ring of tombstones":  len(table.stones.slots),
		"index of tombstones": table.stonesByID.big.peak,
	} {
		if room >= 2*keep {
			t.Errorf("%s of an empty table: room for %d, want less than %d", what, room, 2*keep)
		}
	}
	for place, c := range table.deadlines[:cap(table.deadlines)] {
		if c != nil {
			t.Fatalf("heap of an empty table: place %d still holds an entry", place)
		}
	}
}

func heapInUse() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
