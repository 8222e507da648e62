package ndjson

import "runtime"

// A sender that was alone looks for others after lookAfter frames, and lookAfter senders look after some were found.
// Each look in vain doubles the number of frames before the next one, up to lookSeldom: a look costs a lonely sender a
// tenth of a write.
const (
	lookAfter  = 16
	lookSeldom = 256
)

// contention guesses whether other goroutines are about to send as well. It belongs to a [Writer] and is guarded by its
// mutex.
type contention struct {
	looks int // so many senders more will find others, or so it seems
	alone int // frames since the last look
	every int // how many frames there will be before the next look
}

// likely reports whether the sender of one frame should look for others.
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

// found notes that there were others.
func (c *contention) found() { *c = contention{looks: lookAfter} }

// gather lets goroutines that are about to send put their frames behind the one in out, so that one write takes them
// all: a write costs more than all else that a small frame does. It yields the processor and waits for no goroutine.
func (w *Writer) gather() {
	runtime.Gosched()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gathering = false
	if w.writing > 1 {
		w.contention.found()
	}
}
