package transport

import (
	"bytes"
	"context"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/broadcast"
)

// lane is one direction of an in-memory connection: a queue of frames with a bound. Its methods may be called from any
// goroutine, and wait on channels only.
type lane struct {
	maxFrames int                 // at most so many frames wait; zero for any number
	maxBytes  int                 // and so many bytes, with laneOverhead; a larger frame is accepted when no other waits
	waited    func(time.Duration) // told how long each frame waited, may be nil

	mu      sync.Mutex
	frames  []laneFrame
	bytes   int
	closed  bool  // no frame is accepted any more
	err     error // what take returns when closed and no frame is left
	final   bool  // err has been returned, or is about to be, and does not change any more
	changed broadcast.Signal
}

// laneOverhead is what a frame takes besides its bytes.
const laneOverhead = 64

// laneKept is for how many frames an empty lane keeps room.
const laneKept = 1024

type laneFrame struct {
	data  []byte
	since time.Time // zero if it is not measured
}

// offer accepts a copy of data, or returns ErrBusy or ErrClosed at once. With ErrBusy comes a channel that is closed
// when it is worth another try.
func (l *lane) offer(data []byte) (<-chan struct{}, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.frames)
	switch {
	case l.closed:
		return nil, ErrClosed
	case n > 0 && (n == l.maxFrames || l.bytes+len(data)+laneOverhead > l.maxBytes):
		return l.changed.Next(), ErrBusy
	}
	f := laneFrame{data: bytes.Clone(data)}
	if l.waited != nil {
		f.since = time.Now()
	}
	l.frames = append(l.frames, f)
	l.bytes += len(data) + laneOverhead
	l.changed.Send()
	return nil, nil
}

// put waits until data is accepted, the lane is closed, or ctx has ended.
func (l *lane) put(ctx context.Context, data []byte) error {
	for ctx.Err() == nil {
		changed, err := l.offer(data)
		if changed == nil {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
	return context.Cause(ctx)
}

// take waits for a frame, which then belongs to the caller, or for the end of the lane or of ctx.
func (l *lane) take(ctx context.Context) ([]byte, error) {
	for ctx.Err() == nil {
		f, changed, err := l.poll()
		if changed == nil {
			if !f.since.IsZero() {
				l.waited(time.Since(f.since))
			}
			return f.data, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
	return nil, context.Cause(ctx)
}

// poll returns the next frame or the error at the end, or a channel that is closed when it is worth another try.
func (l *lane) poll() (laneFrame, <-chan struct{}, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.frames) == 0 {
		if l.closed {
			l.final = true
			return laneFrame{}, nil, l.err
		}
		return laneFrame{}, l.changed.Next(), nil
	}
	f := l.frames[0]
	l.frames[0] = laneFrame{}
	if l.frames = l.frames[1:]; len(l.frames) == 0 && cap(l.frames) > laneKept {
		l.frames = nil
	}
	l.bytes -= len(f.data) + laneOverhead
	l.changed.Send()
	return f, nil, nil
}

// finish lets no further frame in; those that wait can still be taken, and then comes err.
func (l *lane) finish(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.closed, l.err = true, err
		l.changed.Send()
	}
}

// abandon lets no further frame in and drops those that wait: from now on, take returns err, or what it has returned
// already.
func (l *lane) abandon(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.final {
		l.err = err
	}
	l.closed, l.final = true, true
	l.frames, l.bytes = nil, 0
	l.changed.Send()
}

func (l *lane) len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.frames)
}
