package ndjson

import (
	"cmp"
	"context"
	"time"
)

// Flush waits until all accepted frames are written. It returns the error that prevents that, or the cause of ctx's
// end.
func (w *Writer) Flush(ctx context.Context) error {
	var failed error
	ended := w.changed.Await(ctx, &w.mu, func() bool {
		failed = w.err
		return failed != nil || w.writing == 0
	})
	return cmp.Or(failed, ended)
}

// Close makes the writer refuse all further frames, drops the queued ones, and waits until no goroutine writes to the
// stream. If ctx ends first, Close returns its cause.
//
// If the stream has deadlines, as pipes and connections do, Close ends a blocked write by a deadline; this truncates
// the frame. If the stream has no deadlines, the owner of the stream must close it before calling Close. If even this
// does not end a write, as on a pipe in blocking mode, the writing goroutine remains until the peer reads or closes its
// end.
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
		_ = s.SetWriteDeadline(time.Unix(1, 0)) // a stream without deadlines returns an error here, which is harmless
	}
	return w.changed.Await(ctx, &w.mu, func() bool { return w.writing == 0 })
}
