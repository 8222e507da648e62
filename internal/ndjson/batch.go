package ndjson

import (
	"sync"
	"time"
)

// batches holds batches that no writer needs at the moment. Of many writers, most are idle and need no memory.
var batches = sync.Pool{New: func() any { return new(batch) }}

// batch holds frames that one write sends together, each with its newline.
type batch struct {
	data   []byte
	frames int
	since  []time.Time // start of each frame's wait; empty if waits are not reported
}

const stampSize = 24 // bytes of a time.Time

func (b *batch) add(frame []byte) {
	b.data = append(append(b.data, frame...), '\n')
	b.frames++
}

// stamp records the current time as the start of the wait, for all frames without a start.
func (b *batch) stamp() {
	for len(b.since) < b.frames {
		b.since = append(b.since, time.Now())
	}
}

// reset drops the frames and keeps the memory.
func (b *batch) reset() { *b = batch{data: b.data[:0], since: b.since[:0]} }

// memory returns how many bytes the batch holds, 0 for nil.
func (b *batch) memory() int {
	if b == nil {
		return 0
	}
	return cap(b.data) + cap(b.since)*stampSize
}

// report calls waited with the time that each frame has waited.
func (b *batch) report(waited func(time.Duration)) {
	if len(b.since) == 0 {
		return
	}
	now := time.Now()
	for _, t := range b.since {
		waited(now.Sub(t))
	}
}
