package ndjson

import "runtime"

// probe is after how many frames in a row a sender without company looks for some, and for how many he looks again once
// there was some. Each look in vain doubles the number, up to probeSeldom: to look costs a lonely sender a tenth of a
// write.
const (
	probe       = 16
	probeSeldom = 256
)

// company guesses whether others are about to send as well.
type company struct {
	expected int // so many senders more will find some, or so it seems
	alone    int // frames since somebody looked
	every    int // how many there will be before somebody looks again
}

// likely reports whether the sender of one frame should look for company.
func (c *company) likely() bool {
	if c.expected > 0 {
		c.expected--
		return true
	}
	if c.alone++; c.alone < max(c.every, probe) {
		return false
	}
	c.alone, c.every = 0, min(2*max(c.every, probe), probeSeldom)
	return true
}

// met notes that there was company.
func (c *company) met() { *c = company{expected: probe} }

// gather lets those who are about to send put their frames behind that in out, so that one write takes them all: a
// write costs more than all else that a small frame does. This one waits for nobody; it lets others run who could run
// already.
func (w *Writer) gather() {
	runtime.Gosched()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gathering = false
	if w.leaving > 1 {
		w.company.met()
	}
}
