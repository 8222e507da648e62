package ndjson

import (
	"sync"
	"time"
)

// batches are those that no writer has any use for now. Many writers have nothing to write, and need no memory to write
// in.
var batches = sync.Pool{New: func() any { return new(batch) }}

// batch is frames that go out together, each with its newline.
type batch struct {
	data   []byte
	frames int
	since  []time.Time // when each began to wait; none if the times are not reported
}

const stampSize = 24 // bytes of a time.Time

func (b *batch) add(frame []byte) {
	b.data = append(append(b.data, frame...), '\n')
	b.frames++
}

// stamp notes that the frames added last, those that do not wait yet, begin to.
func (b *batch) stamp() {
	for len(b.since) < b.frames {
		b.since = append(b.since, time.Now())
	}
}

// reset drops the frames and keeps the memory.
func (b *batch) reset() { *b = batch{data: b.data[:0], since: b.since[:0]} }

// memory returns how many bytes the batch holds on to, if there is one.
func (b *batch) memory() int {
	if b == nil {
		return 0
	}
	return cap(b.data) + cap(b.since)*stampSize
}

// report tells how long each frame has waited.
func (b *batch) report(waited func(time.Duration)) {
	if len(b.since) == 0 {
		return
	}
	now := time.Now()
	for _, t := range b.since {
		waited(now.Sub(t))
	}
}
