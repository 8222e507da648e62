package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/keepalive"
)

// Reader takes the frames of a connection, in one goroutine at a time. That one also answers the requests that are
// likely to be quick: to hand one over wakes a thread, which costs more than most of them do. If one is not quick after
// all, or wants something from the client, another goroutine reads on.
type Reader struct {
	x       *Exchange
	receive func(context.Context) ([]byte, error)
	life    *keepalive.Watch // of the client; nil for none
	ctx     context.Context  // ends the reading
	done    chan ReadResult  // gets what ended it

	buffered func() bool // whether more has come than was received; true where that is not known

	turn   atomic.Uint64 // number of the goroutine that reads; changed when another is to
	latest time.Time     // when the latest request arrived; owned by the goroutine that reads

	mu       sync.Mutex
	here     *Call       // guarded by mu; that the goroutine which reads is answering, nil if it reads
	used     bool        // guarded by mu; something was answered here since the last look
	watching bool        // guarded by mu; a look is to come, as it must while something is answered here
	timer    *time.Timer // guarded by mu; for that; nil before the first
	looks    sync.WaitGroup
}

const (
	// Patience is about how long the client is not read for the sake of a request that was thought to be quick.
	Patience = time.Millisecond
	// steady is the time between two requests below which a look now and then costs less than handing them over.
	steady = 250 * time.Microsecond
)

// errReceive is what ends the reading if Receive has ended its goroutine.
var errReceive = errors.New("receive: it has ended its goroutine")

// Read takes the frames that receive returns until there are no more, which is no error, or ctx ends. A frame that was
// too large is a [*frameTooLargeError]. buffered reports whether more has come than was received; nil where that is not
// known. All that comes is a sign of life.
func (x *Exchange) Read(ctx context.Context, receive func(context.Context) ([]byte, error), buffered func() bool,
	life *keepalive.Watch) ReadResult {
	if buffered == nil {
		buffered = func() bool { return true }
	}
	r := &Reader{x: x, receive: receive, life: life, ctx: ctx, done: make(chan ReadResult, 1), buffered: buffered}
	x.Reader = r
	x.Group.Start(r)
	end := <-r.done
	r.unwatch()
	return end
}

// ReadResult is what the reading ended with.
type ReadResult struct {
	Err      error
	Panicked any // with what Receive, or what deals with a frame, has panicked, with its stack; nil if it has not
}

// Run reads until there is no more, or another goroutine does.
func (r *Reader) Run() {
	r.x.Tel.SetLabels(r.ctx) // a handler may have started it
	mine := r.turn.Load()
	var err error
	dealing := false
	defer func() {
		if r.turn.Load() != mine {
			return // with its panic, if there is one
		}
		if v := recover(); v != nil {
			r.done <- ReadResult{Panicked: fmt.Sprintf("%v\n\n%s", v, debug.Stack())}
			return
		}
		switch {
		case dealing: // a handler has ended this goroutine
			r.mu.Lock()
			defer r.mu.Unlock()
			r.passOn()
		default:
			r.done <- ReadResult{Err: err}
		}
	}()
	for r.turn.Load() == mine {
		dealing, err = false, errReceive
		var frame []byte
		if frame, err = r.receive(r.ctx); err == nil {
			dealing = true
			r.life.Heard()
			r.x.Receive(frame)
			continue
		}
		large, ok := errors.AsType[*FrameTooLargeError](err)
		if !ok {
			err = r.ending(err)
			return
		}
		dealing = true
		r.life.Heard()
		r.x.skipped(large)
	}
}

// ending returns what the reading ends with when Receive returns err.
func (r *Reader) ending(err error) error {
	switch {
	case r.ctx.Err() != nil:
		return context.Cause(r.ctx)
	case errors.Is(err, io.EOF):
		return nil
	}
	return fmt.Errorf("receive: %w", err)
}

// wants reports whether the reader should answer a request itself. It is called with each, in the goroutine that reads,
// and nil wants none.
func (r *Reader) wants(c *Call) bool {
	if r == nil {
		return false
	}
	gap := c.Arrived.Sub(r.latest)
	r.latest = c.Arrived
	// where the clock stands still, as in a bubble of a test, the watch does too
	if c.Pace == nil || gap <= 0 || gap > steady {
		return false
	}
	if c.Out.Reach().Batched { // of which more is to come
		return false
	}
	return !r.buffered() && c.Pace.quick()
}

// answer answers a request that was admitted, in the goroutine that reads, which it may end.
func (r *Reader) answer(c *Call) {
	r.mu.Lock()
	r.here, r.used = c, true
	if !r.watching {
		r.watch()
	}
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.here == c {
			r.here = nil
		}
	}()
	c.Run()
}

// Release lets another goroutine read if it is for c that none does.
func (r *Reader) Release(c *Call) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.here == c {
		r.passOn()
	}
}

// passOn lets another goroutine read. This one, or the one that answers a request, does not read any more. mu is held.
func (r *Reader) passOn() {
	if r.here != nil {
		r.here.Pace.stalled()
	}
	r.here = nil
	r.turn.Add(1)
	r.x.Group.Start(r) // which is not closed while a goroutine reads
}

// watch begins to look now and then. mu is held.
func (r *Reader) watch() {
	r.watching = true
	r.looks.Add(1)
	if r.timer == nil {
		r.timer = time.AfterFunc(Patience, r.look)
	} else {
		r.timer.Reset(Patience)
	}
}

// look lets another goroutine read if none has for too long, and ends the watch if there is no need for it.
func (r *Reader) look() {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := Patience
	if r.here != nil {
		if next -= time.Since(r.here.Arrived); next <= 0 {
			r.passOn()
			next = Patience
		}
	} else if !r.used {
		r.watching = false
		r.looks.Done()
		return
	}
	r.used = false
	r.timer.Reset(next)
}

// unwatch ends the watch, now that no goroutine reads any more.
func (r *Reader) unwatch() {
	r.mu.Lock()
	r.used = false
	if r.watching && r.timer.Stop() {
		r.watching = false
		r.looks.Done()
	}
	r.mu.Unlock()
	r.looks.Wait()
}

// FrameTooLargeError says that a frame above the limit has been skipped.
type FrameTooLargeError struct {
	Size  int    // of the frame, in bytes
	Limit int    // in bytes
	Head  []byte // its beginning, as much as was kept
	Tail  []byte // its end, likewise
}

// Error says how large the frame is and how large it may be.
func (e *FrameTooLargeError) Error() string {
	return fmt.Sprintf("frame of %d bytes is above the limit of %d", e.Size, e.Limit)
}

// skipped answers a frame that was too large, if it can be told that it was a request and which.
func (x *Exchange) skipped(e *FrameTooLargeError) {
	v := jsonrpc.TooLarge(e.Head, e.Tail)
	v.Cause = e
	x.Violation(v, e.Head, e.Size, e.Limit)
	switch {
	case v.ID.IsZero():
	case v.Response:
		_, _ = x.deliver(v.ID, jsonrpc.Broken(e.Head)) // there will be no other
	default:
		x.answerViolation(v, x.Out)
	}
}
