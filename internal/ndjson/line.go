package ndjson

import (
	"context"
	"slices"
)

// waiter is a place in the line of those that found no space in the queue of a [Writer]. The goroutine that writes puts
// their frames into the queue, in their order, and wakes them then: none has to wake to find that the space went to
// another, and one write takes the frames of all that there is space for.
type waiter struct {
	frame  []byte     // what is to be sent
	alone  bool       // it sends by itself, and needs the stream for that
	served chan error // gets one value: nil when it is its turn, or why it will never be
}

// lineUp puts p at the end of the line. mu is held.
func (w *Writer) lineUp(p *waiter) *waiter {
	p.served = make(chan error, 1)
	w.line = append(w.line, p)
	return p
}

// wait waits in the line until it is p's turn, or returns the cause of ctx.
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

// leave takes p out of the line. It reports false if it has been served.
func (w *Writer) leave(p *waiter) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.Index(w.line, p)
	if i < 0 {
		return false
	}
	w.line = slices.Delete(w.line, i, i+1)
	w.admit() // it may have been the one that was too large
	return true
}

// admit puts frames of the line into the queue, in their order, as far as there is space. mu is held.
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

// handOver gives the stream, on which all is written, to the first in the line, and reports whether there is one. mu is
// held.
func (w *Writer) handOver() bool {
	if len(w.line) == 0 {
		return false
	}
	w.writing, w.large = 1, true
	w.line[0].served <- nil
	w.line = slices.Delete(w.line, 0, 1)
	return true
}

// turnAway ends the line with the error of the writer. mu is held.
func (w *Writer) turnAway() {
	for _, p := range w.line {
		p.served <- w.err
	}
	w.line = nil
}

// seize waits until nothing is being written, and makes the caller the one that writes.
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
