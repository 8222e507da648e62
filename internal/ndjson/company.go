package ndjson

import "runtime"

const (
	// probe is after how many frames in a row a sender without company looks for some, and for how many he looks again once
	// there was some. Each look in vain doubles what comes before the next, up to lastProbe: it wakes a thread that is idle,
	// which costs more than the frame.
	probe     = 16
	lastProbe = 256
)

// company guesses whether others are about to send as well.
type company struct {
	expected int // so many senders more will find some, or so it seems
	alone    int // frames since there was some, or a look in vain
	doubled  int // so often what comes before the next look
}

// likely reports whether the sender of one frame should look for company.
func (c *company) likely() bool {
	if c.expected > 0 {
		c.expected--
		return true
	}
	if c.alone++; c.alone < probe<<c.doubled {
		return false
	}
	c.alone = 0
	if probe<<c.doubled < lastProbe {
		c.doubled++
	}
	return true
}

// met notes that there was company.
func (c *company) met() { *c = company{expected: probe} }

// gather lets those who are about to send put their frames behind that in out, so that one write takes them all: a write
// costs more than all else that a small frame does. This one waits for nobody; it lets others run who could run already.
func (w *Writer) gather() {
	runtime.Gosched()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gathering = false
	if w.leaving > 1 {
		w.company.met()
	}
}
