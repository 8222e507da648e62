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
	g := t.remembered(id, now)
	if g == nil {
		return stone, false
	}
	return Tombstone[N]{Cause: g.cause, Age: now.Sub(g.since), Note: g.note}, true
}

// Tombstones returns the number of tombstones held, expired or not.
func (t *Table[T, N]) Tombstones() int { return t.yard.n }

// Sweep forgets the tombstones that are older than their TTL and returns how many those were.
func (t *Table[T, N]) Sweep(now time.Time) int {
	before := t.yard.n
	for t.yard.n > 0 && t.expired(t.yard.oldest(), now) {
		t.forget()
	}
	t.nextSweep = time.Time{}
	if t.yard.n > 0 {
		t.nextSweep = now.Add(t.cfg.SweepInterval)
	}
	return before - t.yard.n
}

// bury takes c out of flight, leaves a tombstone, and returns the value of c.
func (t *Table[T, N]) bury(c *call[T], now time.Time, why Cause) T {
	id := c.id
	v := t.remove(c)
	switch t.yard.n {
	case 0:
		t.nextSweep = now.Add(t.cfg.SweepInterval)
	case t.cfg.MaxTombstones:
		t.forget()
	}
	t.graves.put(id, t.yard.push(grave[N]{id: id, since: now, cause: why, note: t.note(v)}))
	return v
}

// remembered returns the tombstone of id, or nil if there is none or it has expired.
func (t *Table[T, N]) remembered(id int64, now time.Time) *grave[N] {
	place, ok := t.graves.get(id)
	if !ok {
		return nil
	}
	g := t.yard.at(place)
	if t.expired(g, now) {
		return nil
	}
	return g
}

func (t *Table[T, N]) expired(g *grave[N], now time.Time) bool { return now.Sub(g.since) > t.cfg.TTL }

// forget removes the oldest tombstone.
func (t *Table[T, N]) forget() {
	t.graves.remove(t.yard.oldest().id)
	t.yard.pop()
}

// grave is a tombstone as the table keeps it.
type grave[N any] struct {
	id    int64
	since time.Time
	cause Cause
	note  N
}

// yard is a queue of tombstones, for they expire in the order in which they were set up. It is a ring whose size is a
// power of two. A tombstone keeps its place, a number that only grows, when the ring is resized.
type yard[N any] struct {
	ring  []grave[N]
	first uint64 // place of the oldest
	n     int
}

func (y *yard[N]) at(place uint64) *grave[N] { return &y.ring[place&uint64(len(y.ring)-1)] }

func (y *yard[N]) oldest() *grave[N] { return y.at(y.first) }

func (y *yard[N]) push(g grave[N]) (place uint64) {
	if y.n == len(y.ring) {
		y.resize(max(1, 2*len(y.ring)))
	}
	place = y.first + uint64(y.n)
	*y.at(place) = g
	y.n++
	return place
}

func (y *yard[N]) pop() {
	*y.oldest() = grave[N]{}
	y.first++
	y.n--
	if len(y.ring)/2 >= keep && y.n < len(y.ring)/4 {
		y.resize(len(y.ring) / 2)
	}
}

func (y *yard[N]) resize(size int) {
	old := *y
	y.ring = make([]grave[N], size)
	for place := y.first; place < y.first+uint64(y.n); place++ {
		*y.at(place) = *old.at(place)
	}
}
