package inflight

import "time"

// Tombstone describes a call that left without an answer.
type Tombstone[N any] struct {
	Cause Cause         // why the call left the table
	Age   time.Duration // time since the call left
	Note  N             // derived from the value of the call
}

// Tombstone returns the tombstone of a call. ok is false if there is none, or if it is older than TTL.
func (t *Table[T, N]) Tombstone(id int64, now time.Time) (stone Tombstone[N], ok bool) {
	s := t.remembered(id, now)
	if s == nil {
		return stone, false
	}
	return Tombstone[N]{Cause: s.cause, Age: now.Sub(s.since), Note: s.note}, true
}

// Tombstones returns the number of tombstones, including expired ones.
func (t *Table[T, N]) Tombstones() int {
	if t.graves == nil {
		return 0
	}
	return t.stones.n
}

// Sweep removes the tombstones that are older than TTL, and returns the number of removed tombstones.
func (t *Table[T, N]) Sweep(now time.Time) int {
	if t.graves == nil {
		return 0
	}
	before := t.stones.n
	for t.stones.n > 0 && t.expired(t.stones.oldest(), now) {
		t.forget()
	}
	t.nextSweep = time.Time{}
	if t.stones.n > 0 {
		t.nextSweep = now.Add(t.cfg.Value().SweepInterval)
	}
	return before - t.stones.n
}

// retire removes c, leaves a tombstone, and returns the value of c.
func (t *Table[T, N]) retire(c *call[T], now time.Time, why Cause) T {
	id := c.id
	v := t.remove(c)
	if t.graves == nil {
		t.graves = new(graves[N])
	}
	switch cfg := t.cfg.Value(); t.stones.n {
	case 0:
		t.nextSweep = now.Add(cfg.SweepInterval)
	case cfg.MaxTombstones:
		t.forget()
	}
	t.stonesByID.put(id, t.stones.push(kept[N]{id: id, since: now, cause: why, note: t.note(v)}))
	return v
}

// remembered returns the tombstone of id. It returns nil if there is none or it has expired.
func (t *Table[T, N]) remembered(id int64, now time.Time) *kept[N] {
	if t.graves == nil {
		return nil
	}
	place, ok := t.stonesByID.get(id)
	if !ok {
		return nil
	}
	s := t.stones.at(place)
	if t.expired(s, now) {
		return nil
	}
	return s
}

func (t *Table[T, N]) expired(s *kept[N], now time.Time) bool {
	return now.Sub(s.since) > t.cfg.Value().TTL
}

// forget removes the oldest tombstone.
func (t *Table[T, N]) forget() {
	t.stonesByID.remove(t.stones.oldest().id)
	t.stones.pop()
}

// graves holds the tombstones of a table. The owner of the table guards it.
type graves[N any] struct {
	stonesByID index[uint64] // maps IDs to places in stones
	stones     tombstones[N]
	nextSweep  time.Time // zero if there are no tombstones
}

// kept is a stored tombstone.
type kept[N any] struct {
	id    int64
	since time.Time
	cause Cause
	note  N
}

// tombstones is a queue, because tombstones expire in the order in which they were created. Its slots form a ring whose
// size is a power of two. Each tombstone has a place, which is a number that stays the same when the ring is resized;
// later tombstones have higher numbers. The owner of the table guards the queue.
type tombstones[N any] struct {
	slots []kept[N]
	first uint64 // place of the oldest tombstone
	n     int
}

func (q *tombstones[N]) at(place uint64) *kept[N] { return &q.slots[place&uint64(len(q.slots)-1)] }

func (q *tombstones[N]) oldest() *kept[N] { return q.at(q.first) }

func (q *tombstones[N]) push(s kept[N]) (place uint64) {
	if q.n == len(q.slots) {
		q.resize(max(1, 2*len(q.slots)))
	}
	place = q.first + uint64(q.n)
	*q.at(place) = s
	q.n++
	return place
}

func (q *tombstones[N]) pop() {
	*q.oldest() = kept[N]{}
	q.first++
	q.n--
	if len(q.slots)/2 >= keep && q.n < len(q.slots)/4 {
		q.resize(len(q.slots) / 2)
	}
}

func (q *tombstones[N]) resize(size int) {
	old := *q
	q.slots = make([]kept[N], size)
	for place := q.first; place < q.first+uint64(q.n); place++ {
		*q.at(place) = *old.at(place)
	}
}
