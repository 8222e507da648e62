package transport

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/mcpotel/mcpotel/internal/ndjson"
	"github.com/mcpotel/mcpotel/internal/oversize"
	"github.com/mcpotel/mcpotel/internal/usercode"
)

// fetcher implements Receive for a connection over one stream that has no cancellable reads. It is part of the
// connection.
type fetcher struct {
	next            func() (Frame, error) // waits for the next frame, or returns the error that ended the stream
	uninterruptible bool                  // next may still wait after the connection is closed

	life   context.Context // ends when Close is called
	hangUp context.CancelFunc
	mu     sync.Mutex     // held to start a goroutine, and to start closing
	tasks  sync.WaitGroup // goroutines that call next

	fetching bool        // a goroutine is fetching a frame, or has fetched one; owned by Receive
	answer   chan answer // result of that goroutine
}

// answer is a result of next.
type answer struct {
	frame Frame
	err   error
}

// init must be called first.
func (f *fetcher) init(next func() (Frame, error)) {
	f.next, f.answer = next, make(chan answer, 1)
	f.life, f.hangUp = context.WithCancel(context.Background())
}

// Receive reads in the caller's goroutine if ctx cannot end and Close ends a read that waits. Otherwise it starts a
// goroutine that fetches the frame. If ctx ends first, that goroutine stays, and the next Receive returns its result.
func (f *fetcher) Receive(ctx context.Context) (Frame, error) {
	if ctx.Err() != nil {
		return Frame{}, context.Cause(ctx)
	}
	if f.life.Err() != nil || !f.fetching && (ctx.Done() == nil && !f.uninterruptible || !f.startFetch()) {
		return f.next()
	}
	return f.awaitFetch(ctx)
}

// awaitFetch waits for the result of the goroutine. It is a separate function so that Receive needs less stack while an
// idle connection waits in next.
func (f *fetcher) awaitFetch(ctx context.Context) (Frame, error) {
	select {
	case a := <-f.answer:
		f.fetching = false
		return a.frame, a.err
	case <-ctx.Done():
		return Frame{}, context.Cause(ctx)
	case <-f.life.Done():
		return f.next()
	}
}

// startFetch starts a goroutine that fetches the next frame, and reports false if the connection is being closed. The
// goroutine ends when it has a frame, or when the connection is over.
func (f *fetcher) startFetch() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.life.Err() != nil {
		return false
	}
	f.fetching = true
	f.tasks.Go(func() {
		usercode.Run(func() {
			frame, err := f.next()
			f.answer <- answer{frame, err}
		}, func(failure *usercode.Failure) { f.answer <- answer{err: failure} })
	})
	return true
}

// aboveLimit returns the result of Receive for a frame above the limit: a report of the skipped frame, or a final
// error.
func aboveLimit(e *oversize.Error, skip bool) (Frame, error) {
	if !skip {
		return Frame{}, endedBy(e)
	}
	return Frame{Err: skipped(e)}, nil
}

// endedBy returns the final error of a connection that received a frame above the limit.
func endedBy(e *oversize.Error) *FrameTooLargeError {
	return &FrameTooLargeError{Size: e.Size, Limit: e.Limit, Head: e.Head}
}

// skipped returns the report of a skipped frame above the limit.
func skipped(e *oversize.Error) *RequestError {
	return &RequestError{Reason: ReasonTooLarge, Size: e.Size, Limit: e.Limit, Head: e.Head, Tail: e.Tail}
}

// offer implements Send for a connection over one stream. It returns ErrClosed after life has ended.
func offer(ctx, life context.Context, out *ndjson.Writer, frame []byte) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if life.Err() != nil {
		return ErrClosed
	}
	err := out.Send(frame)
	switch {
	case errors.Is(err, ndjson.ErrBusy):
		return ErrBusy
	case errors.Is(err, ndjson.ErrClosed):
		return fmt.Errorf("%w: %w", ErrClosed, err)
	}
	return err
}
