package transport

import (
	"errors"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/mcpotel/mcpotel/internal/broadcast"
	"github.com/mcpotel/mcpotel/internal/ndjson"
)

// pipeSize is the maximum capacity of a pipe: the size that [enlarge] requests, and the maximum for unprivileged
// users.
const pipeSize = 1 << 20

// outlet is our end of a pipe that the child writes to. A waiting read can be interrupted, and the outlet can be
// cut: then reads return the remaining data without waiting. Both work by setting a deadline in the past.
type outlet struct {
	f    *os.File
	past int // bytes read since the cut; owned by the reader

	mu          sync.Mutex       // held to set the deadline
	severed     bool             // the outlet was cut
	interrupted bool             // the next read that would wait is interrupted instead
	woken       broadcast.Signal // sent by each interruption
	draining    bool             // cut and interrupt have no effect any more
}

var longAgo = time.Unix(1, 0)

// cut makes reads stop waiting. It may be called during a read. On Windows it does nothing: pipes have no
// deadlines there, and need none, because no process that holds the other end outlives its job.
func (o *outlet) cut() { o.end(&o.severed) }

// interrupt makes the waiting read, or the next one, return [ndjson.ErrInterrupted]. It may be called during a
// read.
func (o *outlet) interrupt() {
	o.end(&o.interrupted)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.woken.Send()
}

// interruption returns a channel that the next interruption closes, for code that waits for something other than the
// pipe. If an interruption is pending, it clears that interruption and returns false.
func (o *outlet) interruption() (_ <-chan struct{}, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.forget() {
		return nil, false
	}
	return o.woken.Next(), true
}

func (o *outlet) end(why *bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.draining {
		*why = true
		_ = o.f.SetReadDeadline(longAgo)
	}
}

// interruptible reports whether interrupt works. It does not on Windows.
func (o *outlet) interruptible() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.severed || o.interrupted || o.f.SetReadDeadline(time.Time{}) == nil
}

// wasInterrupted clears an interruption, and reports whether there was one.
func (o *outlet) wasInterrupted() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.forget()
}

// forget is wasInterrupted for callers that hold mu.
func (o *outlet) forget() bool {
	if !o.interrupted {
		return false
	}
	o.interrupted = false
	if !o.severed {
		_ = o.f.SetReadDeadline(time.Time{})
	}
	return true
}

// drain permanently cancels cut and interrupt: from now on, reads of f wait.
func (o *outlet) drain() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.draining = true
	_ = o.f.SetReadDeadline(time.Time{})
}

// Read reads from the pipe. After a cut, it reads at most the remaining content of the pipe, so that a process
// that keeps writing cannot keep the connection open.
func (o *outlet) Read(p []byte) (int, error) {
	n, err := o.f.Read(p)
	if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		return n, err
	}
	if o.wasInterrupted() {
		return 0, ndjson.ErrInterrupted
	}
	n, err = readNow(o.f, p[:min(len(p), pipeSize-o.past)])
	o.past += n
	if n == 0 && (err == nil || errors.Is(err, syscall.EAGAIN)) {
		return 0, io.EOF
	}
	return n, err
}
