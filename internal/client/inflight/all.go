package inflight

import (
	"iter"
	"time"
)

// Flight is a call in flight, as [Table.All] shows it.
type Flight[T any] struct {
	ID       int64
	Deadline time.Time // zero means never
	Retries  int       // of sending its request
	Value    T
}

// All returns the calls in flight, in no order. The table must not change meanwhile.
func (t *Table[T, N]) All() iter.Seq[Flight[T]] {
	return func(yield func(Flight[T]) bool) {
		for _, c := range t.deadlines {
			if !yield(Flight[T]{ID: c.id, Deadline: c.deadline, Retries: int(c.retries), Value: c.value}) {
				return
			}
		}
	}
}
