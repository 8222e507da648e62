package ndjson

import (
	"context"
	"time"
)

// Flush waits until all that has been accepted is written, or returns the error that prevents it, or the cause of ctx.
func (w *Writer) Flush(ctx context.Context) error {
	return w.await(ctx, func() (bool, error) { return w.err != nil || w.writing == 0, w.err })
}

// Close makes the writer refuse all frames from now on, drops those that wait, and waits until no goroutine writes to
// the stream any more, or until ctx ends; then it returns the cause.
//
// A write that waits for the peer is ended by its deadline if the stream has deadlines, as pipes and connections have;
// the frame is then cut off in the middle. If the stream has none, the owner closes it before it calls Close; where
// even that does not end a write, as on a pipe in blocking mode, the goroutine in it remains until the peer reads or
// goes away.
func (w *Writer) Close(ctx context.Context) error {
	w.mu.Lock()
	if w.err == nil {
		w.err = ErrClosed
	}
	w.queue = nil
	w.wake()
	busy := w.writing > 0
	w.mu.Unlock()
	if !busy {
		return nil
	}
	if s, ok := w.w.(interface{ SetWriteDeadline(time.Time) error }); ok {
		_ = s.SetWriteDeadline(time.Unix(1, 0)) // a stream without deadlines says so; nothing is lost
	}
	return w.await(ctx, func() (bool, error) { return w.writing == 0, nil })
}

// await waits until done, which is called with mu held, reports true and returns its error.
func (w *Writer) await(ctx context.Context, done func() (bool, error)) error {
	for {
		w.mu.Lock()
		ok, err := done()
		if ok {
			w.mu.Unlock()
			return err
		}
		changed := w.change()
		w.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
