package ndjson

import (
	"context"
	"slices"
)

// waiter is a sender in the line for space in the queue of a [Writer]. The writing goroutine first moves the frames of
// waiters into the queue, in order, and only then wakes their senders. So no sender wakes up to find the space taken,
// and one write sends as many frames as fit.
type waiter struct {
	frame  []byte     // frame to send
	alone  bool       // the sender needs the stream for itself and writes the frame
	served chan error // receives one value: nil when it is the sender's turn, or the error of the writer
}

// lineUp appends p to the line. The caller holds mu.
func (w *Writer) lineUp(p *waiter) *waiter {
	p.served = make(chan error, 1)
	w.line = append(w.line, p)
	return p
}

// wait waits until p is served. If ctx ends first, wait removes p and returns the cause.
func (w *Writer) wait(ctx context.Context, p *waiter) error {
	select {
	case err := <-p.served:
		return err
	case <-ctx.Done():
	}
	if w.leave(p) {
		return context.Cause(ctx)
	}
	return <-p.served
}

// leave removes p from the line. It reports false if p has been served already.
func (w *Writer) leave(p *waiter) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.Index(w.line, p)
	if i < 0 {
		return false
	}
	w.line = slices.Delete(w.line, i, i+1)
	w.admit() // p may have been the frame that did not fit
	return true
}

// admit moves frames from the line to the queue, in order, while there is space. The caller holds mu.
func (w *Writer) admit() {
	n := 0
	for _, p := range w.line {
		if p.alone || !w.fits(len(p.frame)+1) {
			break
		}
		w.enqueue(p.frame)
		p.served <- nil
		n++
	}
	w.line = slices.Delete(w.line, 0, n)
}

// handOver makes the first sender in the line the owner of the idle stream. It reports false if the line is empty. The
// caller holds mu.
func (w *Writer) handOver() bool {
	if len(w.line) == 0 {
		return false
	}
	w.writing, w.large = 1, true
	w.line[0].served <- nil
	w.line = slices.Delete(w.line, 0, 1)
	return true
}

// turnAway fails all waiters with the error of the writer. The caller holds mu.
func (w *Writer) turnAway() {
	for _, p := range w.line {
		p.served <- w.err
	}
	w.line = nil
}

// seize waits until the stream is idle and makes the caller its owner.
func (w *Writer) seize(ctx context.Context) error {
	w.mu.Lock()
	if w.err != nil {
		defer w.mu.Unlock()
		return w.err
	}
	if w.writing > 0 {
		p := w.lineUp(&waiter{alone: true})
		w.mu.Unlock()
		return w.wait(ctx, p)
	}
	defer w.mu.Unlock()
	w.writing, w.large = 1, true
	if w.out == nil {
		w.out = batches.Get().(*batch)
	}
	return nil
}
