package ndjson

import (
	"cmp"
	"context"
	"time"
)

// Flush waits until all that has been accepted is written, or returns the error that prevents it, or the cause of ctx.
func (w *Writer) Flush(ctx context.Context) error {
	var failed error
	ended := w.changed.Await(ctx, &w.mu, func() bool {
		failed = w.err
		return failed != nil || w.writing == 0
	})
	return cmp.Or(failed, ended)
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
	w.turnAway()
	w.changed.Send()
	busy := w.writing > 0
	w.mu.Unlock()
	if !busy {
		return nil
	}
	if s, ok := w.w.(interface{ SetWriteDeadline(time.Time) error }); ok {
		_ = s.SetWriteDeadline(time.Unix(1, 0)) // a stream without deadlines says so; nothing is lost
	}
	return w.changed.Await(ctx, &w.mu, func() bool { return w.writing == 0 })
}
