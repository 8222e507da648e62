package inflight

import "time"

// call is a call in flight.
type call[T any] struct {
	id       int64
	deadline time.Time // zero means never
	retries  int32     // attempts to send the request while the transport was busy
	place    int32     // index in the heap
	value    T
}

func (c *call[T]) due(now time.Time) bool { return !c.deadline.IsZero() && !c.deadline.After(now) }

// before reports whether c expires before d. Calls with equal deadlines are ordered by ID. Calls without a deadline
// come last.
func (c *call[T]) before(d *call[T]) bool {
	switch {
	case c.deadline.Equal(d.deadline):
		return c.id < d.id
	case c.deadline.IsZero():
		return false
	default:
		return d.deadline.IsZero() || c.deadline.Before(d.deadline)
	}
}

// heap is a binary heap of calls. The call that expires next is on top. Each call stores its index.
type heap[T any] []*call[T]

func (h *heap[T]) push(c *call[T]) {
	*h = append(*h, c)
	h.up(c, len(*h)-1)
}

func (h *heap[T]) remove(c *call[T]) {
	last := len(*h) - 1
	moved := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	if moved != c {
		h.set(int(c.place), moved)
		h.fix(moved)
	}
	if room := cap(*h); room/2 >= keep && last < room/4 {
		*h = append(make(heap[T], 0, room/2), *h...)
	}
}

// fix restores the order after the deadline of c has changed.
func (h heap[T]) fix(c *call[T]) {
	h.up(c, int(c.place))
	h.down(c, int(c.place))
}

// up moves c to the index place or above it.
func (h heap[T]) up(c *call[T], place int) {
	for place > 0 {
		above := (place - 1) / 2
		if !c.before(h[above]) {
			break
		}
		h.set(place, h[above])
		place = above
	}
	h.set(place, c)
}

// down moves c to the index place or below it.
func (h heap[T]) down(c *call[T], place int) {
	for {
		below := 2*place + 1
		if below >= len(h) {
			break
		}
		if right := below + 1; right < len(h) && h[right].before(h[below]) {
			below = right
		}
		if !h[below].before(c) {
			break
		}
		h.set(place, h[below])
		place = below
	}
	h.set(place, c)
}

func (h heap[T]) set(place int, c *call[T]) {
	h[place] = c
	c.place = int32(place)
}
