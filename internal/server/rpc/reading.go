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

// Reader reads the frames of a connection, in one goroutine at a time. That goroutine also serves requests that are
// likely to be quick, because starting a goroutine for a request wakes a thread, which costs more than most requests.
// If such a request turns out to be slow, or asks the client, another goroutine continues to read.
type Reader struct {
	x       *Exchange
	receive func(context.Context) ([]byte, error)
	life    *keepalive.Watch // gets each frame as a sign of life; nil for none
	ctx     context.Context  // ends the reading
	done    chan ReadResult  // receives the result when the reading ends

	buffered func() bool // reports whether there is buffered input that receive has not returned yet; true if unknown

	turn   atomic.Uint64 // number of the goroutine that reads; changes when another one takes over
	latest time.Time     // arrival of the latest request; owned by the goroutine that reads

	mu       sync.Mutex
	running  *Call       // guarded by mu; served by the goroutine that reads; nil while it reads
	used     bool        // guarded by mu; the goroutine that reads has served a request since the last check
	checking bool        // guarded by mu; the timer is set; always true while running is set
	timer    *time.Timer // guarded by mu; for the next check; nil before the first
	checks   sync.WaitGroup
}

const (
	// Patience is about how long a request that seemed quick may keep the reader from reading.
	Patience = time.Millisecond
	// steady is the interval between two requests below which it costs less to check the reader with a timer than to start
	// a goroutine for each request.
	steady = 250 * time.Microsecond
)

// errReceive ends the reading if receive has ended its goroutine.
var errReceive = errors.New("receive called runtime.Goexit")

// Read handles the frames that receive returns, until ctx ends or there are no more frames. The end of the frames is
// not an error. receive returns a [*FrameTooLargeError] for a frame above the limit. buffered reports whether there is
// buffered input that receive has not returned yet; it is nil if that is unknown. life gets each frame as a sign of
// life.
func (x *Exchange) Read(ctx context.Context, receive func(context.Context) ([]byte, error), buffered func() bool,
	life *keepalive.Watch) ReadResult {
	if buffered == nil {
		buffered = func() bool { return true }
	}
	r := &Reader{x: x, receive: receive, life: life, ctx: ctx, done: make(chan ReadResult, 1), buffered: buffered}
	x.Reader = r
	x.Group.Start(r)
	end := <-r.done
	r.stopChecks()
	return end
}

// ReadResult describes how the reading has ended.
type ReadResult struct {
	Err      error
	Panicked any // a panic of the reading goroutine, with its stack; nil for none
}

// Run reads until there are no more frames, or another goroutine takes over.
func (r *Reader) Run() {
	r.x.Peer.Tel.SetLabels(r.ctx) // a handler may have started this goroutine
	mine := r.turn.Load()
	var err error
	dealing := false
	defer func() {
		if r.turn.Load() != mine {
			return // another goroutine reads now; a panic of this one continues
		}
		if v := recover(); v != nil {
			r.done <- ReadResult{Panicked: fmt.Sprintf("%v\n\n%s", v, debug.Stack())}
			return
		}
		switch {
		case dealing: // a handler has ended this goroutine
			r.mu.Lock()
			defer r.mu.Unlock()
			r.startAnother()
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

// ending returns the error of the reading after receive has returned err. It returns nil for the end of the frames.
func (r *Reader) ending(err error) error {
	switch {
	case r.ctx.Err() != nil:
		return context.Cause(r.ctx)
	case errors.Is(err, io.EOF):
		return nil
	}
	return fmt.Errorf("receive: %w", err)
}

// wants reports whether the reading goroutine should serve a request. That goroutine calls wants for each request. A
// nil reader serves none.
func (r *Reader) wants(c *Call) bool {
	if r == nil {
		return false
	}
	gap := c.Arrived.Sub(r.latest)
	r.latest = c.Arrived
	// while the clock stands still, as in a synctest bubble, there are no checks
	if c.Pace == nil || gap <= 0 || gap > steady {
		return false
	}
	if c.Out.Reach().Batched { // more messages of the batch follow
		return false
	}
	return !r.buffered() && c.Pace.quick()
}

// answer serves an admitted request in the reading goroutine. The handler may end this goroutine.
func (r *Reader) answer(c *Call) {
	r.mu.Lock()
	r.running, r.used = c, true
	if !r.checking {
		r.startChecks()
	}
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.running == c {
			r.running = nil
		}
	}()
	c.Run()
}

// Release starts another reading goroutine if the current one is serving c.
func (r *Reader) Release(c *Call) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.running == c {
		r.startAnother()
	}
}

// startAnother starts another reading goroutine. The current goroutine stops reading. mu is held.
func (r *Reader) startAnother() {
	if r.running != nil {
		r.running.Pace.stalled()
	}
	r.running = nil
	r.turn.Add(1)
	r.x.Group.Start(r) // the group is open while a goroutine reads
}

// startChecks sets the timer. mu is held.
func (r *Reader) startChecks() {
	r.checking = true
	r.checks.Add(1)
	if r.timer == nil {
		r.timer = time.AfterFunc(Patience, r.check)
	} else {
		r.timer.Reset(Patience)
	}
}

// check starts another reading goroutine if the current one has not read for Patience. It stops the checks if no
// request needs them.
func (r *Reader) check() {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := Patience
	if r.running != nil {
		if next -= time.Since(r.running.Arrived); next <= 0 {
			r.startAnother()
			next = Patience
		}
	} else if !r.used {
		r.checking = false
		r.checks.Done()
		return
	}
	r.used = false
	r.timer.Reset(next)
}

// stopChecks stops the checks. The reading has ended.
func (r *Reader) stopChecks() {
	r.mu.Lock()
	r.used = false
	if r.checking && r.timer.Stop() {
		r.checking = false
		r.checks.Done()
	}
	r.mu.Unlock()
	r.checks.Wait()
}

// FrameTooLargeError is the error for a frame above the limit, which was skipped.
type FrameTooLargeError struct {
	Size  int    // size of the frame, in bytes
	Limit int    // limit in bytes
	Head  []byte // beginning of the frame, as far as it was kept
	Tail  []byte // end of the frame, as far as it was kept
}

// Error returns the size of the frame and the limit.
func (e *FrameTooLargeError) Error() string {
	return fmt.Sprintf("frame of %d bytes is above the limit of %d", e.Size, e.Limit)
}

// skipped handles a frame above the limit, which was skipped. If the ends of the frame show a request with an id,
// skipped answers it. If they show a response, the request that waits for the response fails.
func (x *Exchange) skipped(e *FrameTooLargeError) {
	v := jsonrpc.TooLarge(e.Head, e.Tail)
	v.Cause = e
	x.Peer.Violation(v, e.Head, e.Size, e.Limit)
	switch {
	case v.ID.IsZero():
	case v.Response:
		_, _ = x.deliver(v.ID, jsonrpc.Broken(e.Head)) // best effort: the client sends no other response
	default:
		x.answerViolation(v, x.Out)
	}
}
