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

// fetcher is the Receive of a connection that reads one stream, which cannot be told to stop waiting. It belongs to the
// connection.
type fetcher struct {
	next  func() (Frame, error) // waits for the next frame, or for the reason why there is none
	apart bool                  // next may go on waiting when the connection is closed

	life   context.Context // ends when Close is called
	hangUp context.CancelFunc
	mu     sync.Mutex     // held to send a goroutine, and to begin closing
	tasks  sync.WaitGroup // the goroutines

	asked  bool        // a goroutine has been sent for a frame; owned by Receive
	answer chan answer // and here it puts it, or puts it at some later time
}

// answer is what a goroutine brings.
type answer struct {
	frame Frame
	err   error
}

// init is called before anything else.
func (f *fetcher) init(next func() (Frame, error)) {
	f.next, f.answer = next, make(chan answer, 1)
	f.life, f.hangUp = context.WithCancel(context.Background())
}

// Receive reads in the goroutine of its caller if the caller waits as long as it takes. Otherwise it sends a goroutine
// for the frame and leaves it there when ctx ends; the next Receive finds what it has brought.
func (f *fetcher) Receive(ctx context.Context) (Frame, error) {
	if ctx.Err() != nil {
		return Frame{}, context.Cause(ctx)
	}
	if f.life.Err() != nil || !f.asked && (ctx.Done() == nil && !f.apart || !f.ask()) {
		return f.next()
	}
	return f.asking(ctx)
}

// asking waits for what the goroutine brings. It is not part of Receive because of what it needs on the stack: an idle
// connection waits in next.
func (f *fetcher) asking(ctx context.Context) (Frame, error) {
	select {
	case a := <-f.answer:
		f.asked = false
		return a.frame, a.err
	case <-ctx.Done():
		return Frame{}, context.Cause(ctx)
	case <-f.life.Done():
		return f.next()
	}
}

// ask sends a goroutine for the next frame, unless the connection is being closed. The goroutine ends when it has one,
// or when the connection is over.
func (f *fetcher) ask() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.life.Err() != nil {
		return false
	}
	f.asked = true
	f.tasks.Go(func() {
		usercode.Run(func() {
			frame, err := f.next()
			f.answer <- answer{frame, err}
		}, func(failure *usercode.Failure) { f.answer <- answer{err: failure} })
	})
	return true
}

// aboveLimit is what Receive returns of a frame over the limit: a frame that was skipped, or the end of the connection.
func aboveLimit(e *oversize.Error, skip bool) (Frame, error) {
	if !skip {
		return Frame{}, endedBy(e)
	}
	return Frame{Err: skipped(e)}, nil
}

// endedBy is the error of a connection that a frame over the limit has ended.
func endedBy(e *oversize.Error) *FrameTooLargeError {
	return &FrameTooLargeError{Size: e.Size, Limit: e.Limit, Head: e.Head}
}

// skipped is the report of a frame over the limit on a connection that goes on.
func skipped(e *oversize.Error) *RequestError {
	return &RequestError{Reason: TooLarge, Size: e.Size, Limit: e.Limit, Head: e.Head, Tail: e.Tail}
}

// offer is Send for a connection that writes one stream, until life ends.
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
