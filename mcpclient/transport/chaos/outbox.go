package chaos

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// outbox sends delayed messages when they are due. It has a goroutine only while messages wait.
type outbox struct {
	to   transport.Conn
	room int // bound of bytes; an empty outbox accepts a message of any size

	mu      sync.Mutex
	waiting []parcel // sorted by time, then by arrival; guarded by mu, like the fields below
	bytes   int
	runs    bool // whether the goroutine runs
	closed  bool
	wake    chan struct{} // capacity 1; wakes the goroutine because the first message may have changed
	done    sync.WaitGroup
}

// parcel is a waiting message.
type parcel struct {
	ctx     context.Context
	m       transport.Message
	cancels int64 // m is the notice that cancels this request; 0 if m is any other message
	at      time.Time
}

const parcelOverhead = 512

func newOutbox(to transport.Conn, room int) *outbox {
	return &outbox{to: to, room: room, wake: make(chan struct{}, 1)}
}

func (o *outbox) len() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.waiting)
}

// put adds a copy of a message. The copy is sent after the messages that have the same time.
func (o *outbox) put(p parcel) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	size := len(p.m.Data) + parcelOverhead
	switch {
	case o.closed:
		return transport.ErrClosed
	case len(o.waiting) > 0 && o.bytes+size > o.room:
		return transport.ErrBusy
	}
	p.m.Data = bytes.Clone(p.m.Data)
	o.bytes += size
	o.insert(p)
	if !o.runs {
		o.runs = true
		o.done.Go(o.run)
	}
	return nil
}

// insert inserts p in order of time. o.mu is held.
func (o *outbox) insert(p parcel) {
	at, _ := slices.BinarySearchFunc(o.waiting, p.at, func(q parcel, t time.Time) int {
		if q.at.After(t) {
			return 1
		}
		return -1
	})
	o.waiting = slices.Insert(o.waiting, at, p)
	o.look()
}

// look wakes the goroutine, which checks the first message. o.mu is held.
func (o *outbox) look() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// takeBack removes the request with this id if it waits, and reports whether it did.
func (o *outbox) takeBack(id int64) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	i := slices.IndexFunc(o.waiting, func(p parcel) bool { return p.m.Kind == transport.KindRequest && p.m.ID == id })
	if i < 0 {
		return false
	}
	o.bytes -= len(o.waiting[i].m.Data) + parcelOverhead
	o.waiting = slices.Delete(o.waiting, i, i+1)
	o.look()
	return true
}

// tryAgain is the delay before a message is sent again after ErrBusy.
const tryAgain = 10 * time.Millisecond

// run sends until no message waits.
func (o *outbox) run() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		wait, more := o.sendFirst(time.Now())
		if !more {
			return
		}
		timer.Reset(wait)
		select {
		case <-timer.C:
		case <-o.wake:
		}
	}
}

// sendFirst sends the first message if it is due, and returns the delay until the next step. It returns false if no
// message waits, which ends the goroutine. It holds o.mu while it sends, so that a later message cannot overtake the
// first.
func (o *outbox) sendFirst(now time.Time) (wait time.Duration, more bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed || len(o.waiting) == 0 {
		o.runs = false
		return 0, false
	}
	p := o.waiting[0]
	if wait = p.at.Sub(now); wait > 0 {
		return wait, true
	}
	if p.cancels != 0 {
		o.to.Cancel(p.cancels, p.m)
	} else if err := o.to.Send(p.ctx, p.m); errors.Is(err, transport.ErrBusy) {
		return tryAgain, true
	}
	o.waiting[0] = parcel{}
	o.waiting = o.waiting[1:]
	o.bytes -= len(p.m.Data) + parcelOverhead
	return 0, true
}

// close drops waiting messages, and waits until the goroutine has ended.
func (o *outbox) close() {
	o.mu.Lock()
	o.closed = true
	o.waiting, o.bytes = nil, 0
	o.look()
	o.mu.Unlock()
	o.done.Wait()
}
