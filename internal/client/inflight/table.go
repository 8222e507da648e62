package inflight

import (
	"fmt"
	"time"
	"unique"
)

// keep is the number of calls, and of tombstones, below which a table does not shrink.
const keep = 1024

// Config configures a table. Start with [Defaults].
type Config struct {
	// TTL is the lifetime of a tombstone.
	TTL time.Duration

	// MaxTombstones is the maximum number of tombstones. When it is reached, the oldest tombstone is evicted.
	MaxTombstones int

	// SweepInterval is the time from the first tombstone to the first sweep, and between sweeps.
	SweepInterval time.Duration

	// Attempts is the maximum number of attempts to send a request.
	Attempts int

	// RetryDelay is the time between two attempts. RetryJitter, from 0 to 1, is the fraction by which it varies at random.
	RetryDelay  time.Duration
	RetryJitter float64
}

// Defaults returns the default configuration of a client.
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

// Table holds the calls in flight, each with a value T, and the tombstones of calls that left without an answer. Each
// tombstone has a note N that is derived from the call's value.
//
// An operation on one call takes O(log n) time. A table is not safe for concurrent use: its owner guards it, and so
// decides which operations are atomic together. Create a Table with [New].
type Table[T, N any] struct {
	cfg    unique.Handle[Config] // shared by tables with equal configurations
	note   func(T) N
	issued int64 // highest ID so far

	calls     index[*call[T]]
	deadlines heap[T]
	spare     []*call[T] // for reuse; at most [keep] of them

	*graves[N] // nil before the first tombstone, which most idle clients never have
}

// New returns an empty table. When a call leaves a tombstone, note derives the tombstone's note from the call's value.
// note must not use the table. New panics if TTL, MaxTombstones or SweepInterval of cfg is not positive.
func New[T, N any](cfg Config, note func(T) N) *Table[T, N] {
	if cfg.TTL <= 0 || cfg.SweepInterval <= 0 || cfg.MaxTombstones <= 0 {
		panic(fmt.Sprintf("inflight: unusable configuration %+v", cfg))
	}
	return &Table[T, N]{cfg: unique.Make(cfg), note: note}
}

// Add adds a call. Expire removes the call at its deadline; zero means never. IDs must be positive and increasing, so
// that no ID is used twice; otherwise Add panics.
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

// Classify classifies id at the time now. For an [InFlight] call, it also returns the value. For a [Late] call, see
// Tombstone.
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

// Settle removes a call that was answered, or whose request was not sent, and returns its value. It leaves no
// tombstone. ok is false if the call is not in flight.
func (t *Table[T, N]) Settle(id int64) (v T, ok bool) {
	c, ok := t.calls.get(id)
	if !ok {
		return v, false
	}
	return t.remove(c), true
}

// Abandon removes a call that gets no answer, leaves a tombstone, and returns the call's value. If the call is not in
// flight, for example because it was already abandoned, ok is false and nothing changes.
func (t *Table[T, N]) Abandon(id int64, now time.Time, why Cause) (v T, ok bool) {
	c, ok := t.calls.get(id)
	if !ok {
		return v, false
	}
	return t.retire(c, now, why), true
}

// Expire abandons every call whose deadline is not after now, with the cause [Timeout], and passes each call to report,
// in the order of their deadlines. report must not use the table.
func (t *Table[T, N]) Expire(now time.Time, report func(id int64, v T)) {
	for t.Len() > 0 && t.deadlines[0].due(now) {
		t.abandonFirst(now, Timeout, report)
	}
}

// FailAll abandons every call with the cause why, and passes each call to report, in the order of their deadlines.
// report must not use the table.
func (t *Table[T, N]) FailAll(now time.Time, why Cause, report func(id int64, v T)) {
	for t.Len() > 0 {
		t.abandonFirst(now, why, report)
	}
}

// Postpone changes the deadline of a call in flight, to a later or an earlier time; zero means never. ok is false if
// the call is not in flight.
func (t *Table[T, N]) Postpone(id int64, deadline time.Time) (ok bool) {
	c, ok := t.calls.get(id)
	if ok {
		c.deadline = deadline
		t.deadlines.fix(c)
	}
	return ok
}

// Busy records that the transport was busy during an attempt to send a request. r is uniform in [0,1). If again is
// true, the next attempt is due after delay. If again is false, there were enough attempts; the caller must settle the
// call, which is still in flight. ok is false if the call is not in flight.
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

// NextDeadline returns the time when the next call expires. ok is false if no call has a deadline.
func (t *Table[T, N]) NextDeadline() (due time.Time, ok bool) {
	if t.Len() == 0 {
		return time.Time{}, false
	}
	due = t.deadlines[0].deadline
	return due, !due.IsZero()
}

// NextSweep returns the time when Sweep is due. ok is false if there is no tombstone.
func (t *Table[T, N]) NextSweep() (due time.Time, ok bool) {
	if t.graves == nil {
		return due, false
	}
	return t.nextSweep, !t.nextSweep.IsZero()
}

// Next returns the earlier of NextDeadline and NextSweep. ok is false if neither exists.
func (t *Table[T, N]) Next() (due time.Time, ok bool) {
	due, ok = t.NextDeadline()
	if sweep, sweeps := t.NextSweep(); sweeps && (!ok || sweep.Before(due)) {
		return sweep, true
	}
	return due, ok
}

// remove removes c and returns its value. The caller must not access c after that, because c may be reused.
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

func (t *Table[T, N]) abandonFirst(now time.Time, why Cause, report func(id int64, v T)) {
	c := t.deadlines[0]
	id := c.id
	report(id, t.retire(c, now, why))
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
