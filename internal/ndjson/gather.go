package ndjson

import "runtime"

// To look is to check whether other senders are about to send: see [Writer.gather]. A lone sender should look rarely,
// because a look costs a tenth of a write. So a sender looks after lookAfter frames without a look, and each look that
// finds no other sender doubles this number, up to lookSeldom. After a look that found other senders, the next
// lookAfter senders also look.
const (
	lookAfter  = 16
	lookSeldom = 256
)

// contention guesses whether other goroutines are about to send as well. The mutex of its [Writer] guards it.
type contention struct {
	looks int // remaining senders that look unconditionally, after a successful look
	alone int // frames since the last look
	every int // frames before the next look
}

// likely reports whether the sender of a frame should look for other senders.
func (c *contention) likely() bool {
	if c.looks > 0 {
		c.looks--
		return true
	}
	if c.alone++; c.alone < max(c.every, lookAfter) {
		return false
	}
	c.alone, c.every = 0, min(2*max(c.every, lookAfter), lookSeldom)
	return true
}

// found records a successful look.
func (c *contention) found() { *c = contention{looks: lookAfter} }

// gather lets goroutines that are about to send add their frames to out. One write then sends all frames, which saves
// time, because the write of a small frame costs more than everything else. gather yields the processor once and waits
// for no goroutine.
func (w *Writer) gather() {
	runtime.Gosched()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gathering = false
	if w.writing > 1 {
		w.contention.found()
	}
}
