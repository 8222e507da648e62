package inflight

import (
	"fmt"
	"time"
	"unique"
)

// keep is the number of calls, and of tombstones, for which a table keeps the room it once had however few it holds.
const keep = 1024

// Config holds a table's numbers. Start from [Defaults].
type Config struct {
	// TTL is how long a tombstone is remembered.
	TTL time.Duration

	// MaxTombstones bounds the tombstones; the oldest one makes room.
	MaxTombstones int

	// SweepInterval is the time from the first tombstone to the sweep, and from sweep to sweep.
	SweepInterval time.Duration

	// Attempts is how often, in all, sending a request is tried.
	Attempts int

	// RetryDelay is the time between two of them, and RetryJitter, from 0 to 1, the part of it by which chance makes
	// it shorter or longer.
	RetryDelay  time.Duration
	RetryJitter float64
}

// Defaults returns the configuration of a client whose user asked for nothing else.
func Defaults() Config {
	return Config{
		TTL:           75 * time.Second,
		MaxTombstones: 65_536,
		SweepInterval: time.Minute,
		Attempts:      3,
		RetryDelay:    10 * time.Millisecond,
		RetryJitter:   0.5,
	}
}

// Table holds the calls in flight, each with a value T, and the tombstones of calls that left without an answer, each
// with a note N made of the call's value.
//
// Operations on one call take O(log n) time. A table is not safe for concurrent use: its owner guards it, and decides
// by that what happens in one moment. Make one with [New].
type Table[T, N any] struct {
	cfg    unique.Handle[Config] // many tables have the same
	note   func(T) N
	issued int64 // the highest id that was added

	calls     index[*call[T]]
	deadlines heap[T]
	spare     []*call[T] // for reuse; at most keep

	*graves[N] // nil before the first tombstone: most clients that wait have never had one
}

// New returns an empty table. When a call leaves a tombstone, note makes of the call's value what the tombstone keeps;
// it is called while the table changes and must not use it. New panics if cfg leaves no room or no time for tombstones.
func New[T, N any](cfg Config, note func(T) N) *Table[T, N] {
	if cfg.TTL <= 0 || cfg.SweepInterval <= 0 || cfg.MaxTombstones <= 0 {
		panic(fmt.Sprintf("inflight: unusable configuration %+v", cfg))
	}
	return &Table[T, N]{cfg: unique.Make(cfg), note: note}
}

// Add takes a call into flight. Its deadline is when Expire removes it; zero means never. Ids are positive and each is
// higher than the one before, so that none is used twice; Add panics otherwise.
func (t *Table[T, N]) Add(id int64, deadline time.Time, v T) {
	if id <= t.issued {
		panic(fmt.Sprintf("inflight: id %d is not above %d", id, t.issued))
	}
	t.issued = id
	c := t.fresh()
	c.id, c.deadline, c.value = id, deadline, v
	t.calls.put(id, c)
	t.deadlines.push(c)
}

// Len returns the number of calls in flight.
func (t *Table[T, N]) Len() int { return len(t.deadlines) }

// Find returns the value of a call in flight.
func (t *Table[T, N]) Find(id int64) (v T, ok bool) {
	if c, ok := t.calls.get(id); ok {
		return c.value, true
	}
	return v, false
}

// Classify says what the table knows of id at now. The value is that of an [InFlight] call; what is known of a [Late]
// one is told by Tombstone.
func (t *Table[T, N]) Classify(id int64, now time.Time) (v T, class Class) {
	if v, ok := t.Find(id); ok {
		return v, InFlight
	}
	switch {
	case t.remembered(id, now) != nil:
		return v, Late
	case id > 0 && id <= t.issued:
		return v, Duplicate
	default:
		return v, Unknown
	}
}

// Settle removes the call that was answered, or whose request was never sent, and returns its value. It leaves no
// tombstone. When the call is not in flight ok is false.
func (t *Table[T, N]) Settle(id int64) (v T, ok bool) {
	c, ok := t.calls.get(id)
	if !ok {
		return v, false
	}
	return t.remove(c), true
}

// Abandon removes the call that will have no answer, leaves a tombstone, and returns its value. When the call is not in
// flight, for instance because it was abandoned before, ok is false and nothing changes.
func (t *Table[T, N]) Abandon(id int64, now time.Time, why Cause) (v T, ok bool) {
	c, ok := t.calls.get(id)
	if !ok {
		return v, false
	}
	return t.retire(c, now, why), true
}

// Expire abandons every call whose deadline is not after now, with [Timeout], and passes each to left, in the order of
// their deadlines. It must not use the table.
func (t *Table[T, N]) Expire(now time.Time, left func(id int64, v T)) {
	for t.Len() > 0 && t.deadlines[0].due(now) {
		t.abandonFirst(now, Timeout, left)
	}
}

// FailAll abandons every call with the cause given and passes each to left, in the order of their deadlines. It must
// not use the table.
func (t *Table[T, N]) FailAll(now time.Time, why Cause, left func(id int64, v T)) {
	for t.Len() > 0 {
		t.abandonFirst(now, why, left)
	}
}

// Postpone gives a call in flight another deadline, later or sooner than the one it had; zero means never. When the
// call is not in flight ok is false.
func (t *Table[T, N]) Postpone(id int64, deadline time.Time) (ok bool) {
	c, ok := t.calls.get(id)
	if ok {
		c.deadline = deadline
		t.deadlines.fix(c)
	}
	return ok
}

// Busy notes that an attempt to send the request of a call met a busy transport; r is uniform in [0,1). If again is
// true the next attempt is due after delay. If it is false there were enough attempts and the call, which is still in
// flight, is for the caller to settle. When the call is not in flight ok is false.
func (t *Table[T, N]) Busy(id int64, r float64) (delay time.Duration, again, ok bool) {
	c, ok := t.calls.get(id)
	if !ok {
		return 0, false, false
	}
	cfg := t.cfg.Value()
	c.retries++
	if int(c.retries) >= cfg.Attempts {
		return 0, false, true
	}
	return time.Duration(float64(cfg.RetryDelay) * (1 + (r-0.5)*2*cfg.RetryJitter)), true, true
}

// NextDeadline returns when the next call expires; ok is false if none does.
func (t *Table[T, N]) NextDeadline() (due time.Time, ok bool) {
	if t.Len() == 0 {
		return time.Time{}, false
	}
	due = t.deadlines[0].deadline
	return due, !due.IsZero()
}

// NextSweep returns when Sweep is due; ok is false if there is no tombstone.
func (t *Table[T, N]) NextSweep() (due time.Time, ok bool) {
	if t.graves == nil {
		return due, false
	}
	return t.nextSweep, !t.nextSweep.IsZero()
}

// Next returns the earlier of NextDeadline and NextSweep; ok is false if nothing will be due.
func (t *Table[T, N]) Next() (due time.Time, ok bool) {
	due, ok = t.NextDeadline()
	if sweep, sweeps := t.NextSweep(); sweeps && (!ok || sweep.Before(due)) {
		return sweep, true
	}
	return due, ok
}

// remove takes c out of flight and returns its value. The entry may be reused: c must not be looked at again.
func (t *Table[T, N]) remove(c *call[T]) T {
	v := c.value
	t.calls.remove(c.id)
	t.deadlines.remove(c)
	*c = call[T]{}
	if len(t.spare) < keep {
		t.spare = append(t.spare, c)
	}
	return v
}

func (t *Table[T, N]) abandonFirst(now time.Time, why Cause, left func(id int64, v T)) {
	c := t.deadlines[0]
	id := c.id
	left(id, t.retire(c, now, why))
}

func (t *Table[T, N]) fresh() *call[T] {
	last := len(t.spare) - 1
	if last < 0 {
		return new(call[T])
	}
	c := t.spare[last]
	t.spare = t.spare[:last]
	return c
}
