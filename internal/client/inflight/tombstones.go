package inflight

import "time"

// Tombstone is what is known of a call that left without an answer.
type Tombstone[N any] struct {
	Cause Cause         // why it left
	Age   time.Duration // how long ago
	Note  N             // what was made of its value
}

// Tombstone returns what is known of a call that left without an answer. When there is no tombstone, or it is older
// than its TTL, ok is false.
func (t *Table[T, N]) Tombstone(id int64, now time.Time) (stone Tombstone[N], ok bool) {
	s := t.remembered(id, now)
	if s == nil {
		return stone, false
	}
	return Tombstone[N]{Cause: s.cause, Age: now.Sub(s.since), Note: s.note}, true
}

// Tombstones returns the number of tombstones held, expired or not.
func (t *Table[T, N]) Tombstones() int {
	if t.graves == nil {
		return 0
	}
	return t.stones.n
}

// Sweep forgets the tombstones that are older than their TTL and returns how many those were.
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

// retire takes c out of flight, leaves a tombstone, and returns the value of c.
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

// remembered returns the tombstone of id, or nil if there is none or it has expired.
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

// graves are the tombstones of a table. They belong to it, and are guarded like that.
type graves[N any] struct {
	stonesByID index[uint64] // places in stones
	stones     tombstones[N]
	nextSweep  time.Time // zero when there is no tombstone
}

// kept is a tombstone as the table keeps it.
type kept[N any] struct {
	id    int64
	since time.Time
	cause Cause
	note  N
}

// tombstones is a queue, for tombstones expire in the order in which they were set up. Its slots are a ring whose size
// is a power of two. A tombstone keeps its place, a number that only grows, when the ring is resized. The queue belongs
// to its Table, and is guarded like that.
type tombstones[N any] struct {
	slots []kept[N]
	first uint64 // place of the oldest
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
