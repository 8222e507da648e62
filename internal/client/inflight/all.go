package inflight

import (
	"iter"
	"time"
)

// Flight is a call in flight, as returned by [Table.All].
type Flight[T any] struct {
	ID       int64
	Deadline time.Time // zero means never
	Retries  int       // attempts to send the request while the transport was busy
	Value    T
}

// All returns the calls in flight, in no particular order. The table must not change during the iteration.
func (t *Table[T, N]) All() iter.Seq[Flight[T]] {
	return func(yield func(Flight[T]) bool) {
		for _, c := range t.deadlines {
			if !yield(Flight[T]{ID: c.id, Deadline: c.deadline, Retries: int(c.retries), Value: c.value}) {
				return
			}
		}
	}
}
