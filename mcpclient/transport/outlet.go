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

// pipeSize is how much a pipe holds at most: what [enlarge] asks for, which is also the most a user may ask for.
const pipeSize = 1 << 20

// outlet is the end we read of a pipe the child writes to. A read that waits can be interrupted, and the outlet can be
// cut: then what is in the pipe can still be read, and nothing is waited for. Both are deadlines that have passed.
type outlet struct {
	f    *os.File
	past int // bytes read since it was cut; owned by the reader

	mu          sync.Mutex       // held to set the deadline
	severed     bool             // it was cut
	interrupted bool             // the next read that would wait is interrupted
	woken       broadcast.Signal // sent by an interruption
	draining    bool             // and can be neither any more
}

var longAgo = time.Unix(1, 0)

// cut may be called while a goroutine reads. On Windows it does nothing: pipes have no deadlines there, and need none,
// as no process that could hold the other end survives its job.
func (o *outlet) cut() { o.end(&o.severed) }

// interrupt has the read that waits, or else the next, return [ndjson.ErrInterrupted], and may be called while a
// goroutine reads.
func (o *outlet) interrupt() {
	o.end(&o.interrupted)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.woken.Send()
}

// interruption returns a channel that is closed by the next interruption, for what waits for something else than the
// pipe. If there was one already, it forgets that and reports false.
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

// interruptible reports whether interrupt works, which it does not on Windows.
func (o *outlet) interruptible() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.severed || o.interrupted || o.f.SetReadDeadline(time.Time{}) == nil
}

// wasInterrupted forgets an interruption, and reports whether there was one.
func (o *outlet) wasInterrupted() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.forget()
}

// forget is wasInterrupted with mu held.
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

// drain undoes cut and interrupt for good: from now on, f is read.
func (o *outlet) drain() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.draining = true
	_ = o.f.SetReadDeadline(time.Time{})
}

// Read reads from the pipe. After a cut, it reads what is there, but not more than a pipe holds, lest a process that
// writes on and on keep it open.
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
