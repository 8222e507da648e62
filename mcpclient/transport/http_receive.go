package transport

import (
	"context"

	"github.com/mcpotel/mcpotel/internal/client/seam"
)

// inbox passes frames from streams to Receive. It also decides when the receiver may rest: while no exchange is in
// flight, no stream is open and no frame waits. The first frame wakes a resting receiver; a request does not,
// because most answers go directly to their callers. Guarded by conn.mu.
type inbox struct {
	conn       *httpConn
	frames     chan delivery // unbuffered; nil until a stream or a receiver needs it
	news       chan struct{} // makes a waiting receiver check again; capacity 1, nil if no receiver waits
	wake       func()        // wakes a resting receiver, nil if none rests
	streams    int32         // open streams that serve no single request
	delivering int32         // frames that wait to be received, or were received just now
	recall     *recall       // requests that the end of the connection has ended; nil before that
}

// recall holds the requests that httpConn.takeBack ends. Guarded by conn.mu.
type recall struct {
	stopped int32   // stopped exchanges that have not ended yet
	ended   []Frame // failures of ended exchanges, for Receive
}

// unsent adds a failure for a request that the server has not seen.
func (r *recall) unsent(ex *exchange) {
	e := &RequestError{Reason: ReasonUnreachable, Unsent: true, Err: ex.conn.why}
	r.ended = append(r.ended, Frame{Request: ex.m.ID, Err: e})
}

// next returns the next failure, false if there is none. r may be nil.
func (r *recall) next() (f Frame, ok bool) {
	if r == nil || len(r.ended) == 0 {
		return Frame{}, false
	}
	f, r.ended = r.ended[0], r.ended[1:]
	return f, true
}

// delivery is a frame that waits for Receive.
type delivery struct {
	frame   Frame
	session *session // session of the frame; if it was dropped, Receive drops the frame
}

// Receive waits for a frame of any stream. A stream waits until its frame has been received.
func (c *httpConn) Receive(ctx context.Context) (Frame, error) {
	if ctx.Err() != nil {
		return Frame{}, context.Cause(ctx)
	}
	f, err, ok := c.inbox.receive(ctx.Done(), nil)
	if !ok {
		return Frame{}, context.Cause(ctx)
	}
	return f, err
}

// ReceiveOrRest implements [seam.Rester].
func (c *httpConn) ReceiveOrRest(wake func()) (Frame, error) {
	f, err, ok := c.inbox.receive(nil, wake)
	if !ok {
		return Frame{}, seam.ErrResting
	}
	return f, err
}

// receive returns the next frame, or the error that ended the connection. ok is false if enough is closed first, or if
// wake is not nil and the receiver may rest.
func (b *inbox) receive(enough <-chan struct{}, wake func()) (_ Frame, _ error, ok bool) {
	for {
		frames, news, over := b.attend(wake)
		switch {
		case over:
			f, err := b.last()
			return f, err, true
		case frames == nil:
			return Frame{}, nil, false
		}
		select {
		case d := <-frames:
			if !d.session.dropped() {
				return d.frame, nil, true
			}
		case <-news:
		case <-enough:
			return Frame{}, nil, false
		}
	}
}

// attend returns the channels that a receiver waits for, and whether the connection is over. If wake is not nil
// and the receiver may rest, attend registers wake and returns nil channels.
func (b *inbox) attend(wake func()) (frames <-chan delivery, news <-chan struct{}, over bool) {
	b.conn.mu.Lock()
	defer b.conn.mu.Unlock()
	if wake != nil && b.isCalm() {
		b.frames, b.news, b.wake = nil, nil, wake
		return nil, nil, false
	}
	if b.news == nil {
		b.news = make(chan struct{}, 1)
	}
	return b.channel(), b.news, b.conn.why != nil && (b.recall == nil || b.recall.stopped == 0 || b.conn.closing)
}

// last returns the remaining frames of a connection that is over, and then the error that ended it.
func (b *inbox) last() (Frame, error) {
	b.conn.mu.Lock()
	closing, frames, why := b.conn.closing, b.frames, b.conn.why
	f, ok := b.recall.next()
	b.conn.mu.Unlock()
	if !closing && !b.conn.reported {
		if ok {
			return f, nil
		}
		select {
		case d := <-frames:
			return d.frame, nil
		default:
		}
	}
	b.conn.reported = true
	return Frame{}, why
}

// deliver waits until Receive accepts the frame or ctx ends, and reports whether Receive accepted it.
func (b *inbox) deliver(ctx context.Context, s *session, f Frame) bool {
	if ctx.Err() != nil {
		return false
	}
	frames := b.beginDelivery()
	defer b.endDelivery()
	select {
	case frames <- delivery{f, s}:
		return true
	case <-ctx.Done():
		return false
	}
}

// beginDelivery announces a frame, wakes a resting receiver, and returns the channel for the frame.
func (b *inbox) beginDelivery() chan<- delivery {
	b.conn.mu.Lock()
	defer b.conn.mu.Unlock()
	b.delivering++
	b.wakeReceiver()
	return b.channel()
}

// endDelivery ends the announcement of a frame, whether or not Receive has accepted it.
func (b *inbox) endDelivery() {
	b.conn.mu.Lock()
	defer b.conn.mu.Unlock()
	b.delivering--
	b.noteCalm()
}

// channel returns the channel for frames, which it creates if necessary. conn.mu is held.
func (b *inbox) channel() chan delivery {
	if b.frames == nil {
		b.frames = make(chan delivery)
	}
	return b.frames
}

// streamOpened calls [Config.Stream] and returns a function that reports the end of the stream.
func (b *inbox) streamOpened(kind string) (ended func(error)) {
	var tell func(error)
	if opened := b.conn.requests.hooks.stream; opened != nil {
		tell = opened(kind)
	}
	b.streaming(1)
	return func(why error) {
		b.streaming(-1)
		if tell != nil {
			tell(why)
		}
	}
}

// streaming adds n to the number of open streams that serve no single request.
func (b *inbox) streaming(n int32) {
	b.conn.mu.Lock()
	defer b.conn.mu.Unlock()
	b.streams += n
	b.noteCalm()
}

// isCalm reports whether no frame is expected. conn.mu is held.
func (b *inbox) isCalm() bool {
	return b.conn.why == nil && b.conn.flight.isIdle() && b.streams == 0 && b.delivering == 0
}

// noteCalm wakes a waiting receiver when no frame is expected any more, so that it can rest. conn.mu is held.
func (b *inbox) noteCalm() {
	if b.news != nil && b.isCalm() {
		b.signal()
	}
}

// signal makes a waiting receiver check again. conn.mu is held.
func (b *inbox) signal() {
	select {
	case b.news <- struct{}{}:
	default: // already signalled, or no receiver waits
	}
}

// wakeReceiver wakes a resting receiver. conn.mu is held.
func (b *inbox) wakeReceiver() {
	if wake := b.wake; wake != nil {
		b.wake = nil
		wake()
	}
}
