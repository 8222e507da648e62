package transport

import (
	"bytes"
	"context"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/broadcast"
)

// lane is one direction of an in-memory connection: a bounded queue of frames. Its methods may be called from any
// goroutine, and wait only on channels.
type lane struct {
	maxFrames int                 // maximum of queued frames; zero means no limit
	maxBytes  int                 // maximum of queued bytes, laneOverhead included; an empty lane accepts any frame
	waited    func(time.Duration) // called with the time that each frame waited; may be nil

	mu      sync.Mutex
	frames  []laneFrame
	bytes   int
	closed  bool  // no more frames are accepted
	err     error // result of take when the lane is closed and empty
	final   bool  // take has returned err, so err must not change any more
	changed broadcast.Signal
}

// laneOverhead is the memory for a frame in addition to its data, in bytes.
const laneOverhead = 64

// laneKept is the number of frames for which an empty lane keeps memory.
const laneKept = 1024

type laneFrame struct {
	data  []byte
	since time.Time // zero if waited is nil
}

// offer accepts a copy of data, or returns ErrBusy or ErrClosed at once. With ErrBusy it returns a channel that is
// closed when a retry may succeed.
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

// take waits for a frame, the end of the lane, or the end of ctx. The frame belongs to the caller.
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

// poll returns the next frame or the final error, or a channel that is closed when a retry may succeed.
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

// finish closes the lane for new frames. take still returns the queued frames, and then err.
func (l *lane) finish(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.closed, l.err = true, err
		l.changed.Send()
	}
}

// abandon closes the lane for new frames and drops the queued ones. From now on take returns err, or the error that it
// has already returned.
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
