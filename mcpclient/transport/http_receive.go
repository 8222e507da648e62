package transport

import (
	"context"

	"github.com/mcpotel/mcpotel/internal/client/seam"
)

// inbox is how streams hand their frames over to Receive, and what tells when there is no need to receive: while no
// exchange is in flight, no stream open and no frame handed over. A receiver that rests is woken by the first frame,
// not by what may bring one: most answers go to their callers past it. Guarded by conn.mu.
type inbox struct {
	conn    *httpConn
	frames  chan delivery // hands over; nil as long as no stream has, and no receiver wants, a frame
	news    chan struct{} // tells a receiver that waits to look again; holds one, nil as long as there is none
	wake    func()        // of a receiver that rests, nil for none
	streams int32         // that serve no single request
	handing int32         // frames that wait to be received, or just were
	recall  *recall       // nil before the end of the connection
}

// recall holds the requests that httpConn.takeBack ends. Guarded by conn.mu.
type recall struct {
	stopped int32   // exchanges that have not ended yet
	ended   []Frame // the failures of those that have, for Receive
}

// unsent adds the failure of a request that the server has not seen.
func (r *recall) unsent(ex *exchange) {
	e := &RequestError{Reason: Unreachable, Unsent: true, Err: ex.conn.why}
	r.ended = append(r.ended, Frame{Request: ex.m.ID, Err: e})
}

// next returns the next frame, false if there is none. r may be nil.
func (r *recall) next() (f Frame, ok bool) {
	if r == nil || len(r.ended) == 0 {
		return Frame{}, false
	}
	f, r.ended = r.ended[0], r.ended[1:]
	return f, true
}

// delivery is a frame on its way to Receive.
type delivery struct {
	frame   Frame
	session *session // whose end makes it worthless
}

// Receive waits for a stream to hand over a frame. Streams that do not find it waiting hold one each.
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

// receive returns what is received next. It reports false if enough is closed first, or, if wake is not nil, if the
// receiver may rest.
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

// attend returns what a receiver waits for, and whether the connection is over. One that has a function to wake it may
// rest instead; then it waits for nothing.
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
	return b.handOver(), b.news, b.conn.why != nil && (b.recall == nil || b.recall.stopped == 0 || b.conn.closing)
}

// last returns what there still is when the connection is over, and then why it is.
func (b *inbox) last() (Frame, error) {
	b.conn.mu.Lock()
	closing, frames, why := b.conn.closing, b.frames, b.conn.why
	f, ok := b.recall.next()
	b.conn.mu.Unlock()
	if !closing && !b.conn.told {
		if ok {
			return f, nil
		}
		select {
		case d := <-frames:
			return d.frame, nil
		default:
		}
	}
	b.conn.told = true
	return Frame{}, why
}

// deliver waits until Receive has taken the frame or ctx has ended, and reports whether it was taken.
func (b *inbox) deliver(ctx context.Context, s *session, f Frame) bool {
	if ctx.Err() != nil {
		return false
	}
	frames := b.hand()
	defer b.handed()
	select {
	case frames <- delivery{f, s}:
		return true
	case <-ctx.Done():
		return false
	}
}

// hand says that a frame is about to be handed over, and returns where.
func (b *inbox) hand() chan<- delivery {
	b.conn.mu.Lock()
	defer b.conn.mu.Unlock()
	b.handing++
	b.rouse()
	return b.handOver()
}

// handed says that a frame is handed over, or will not be.
func (b *inbox) handed() {
	b.conn.mu.Lock()
	defer b.conn.mu.Unlock()
	b.handing--
	b.noteCalm()
}

// handOver returns the channel for frames. conn.mu is held.
func (b *inbox) handOver() chan delivery {
	if b.frames == nil {
		b.frames = make(chan delivery)
	}
	return b.frames
}

// streamOpened tells a [Config.Stream] that a stream has opened, and returns a function to tell that it has ended.
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

// streaming says that one more stream is open which serves no single request, or one less.
func (b *inbox) streaming(n int32) {
	b.conn.mu.Lock()
	defer b.conn.mu.Unlock()
	b.streams += n
	b.noteCalm()
}

// isCalm reports whether nothing is to be expected. conn.mu is held.
func (b *inbox) isCalm() bool {
	return b.conn.why == nil && b.conn.flight.isIdle() && b.streams == 0 && b.handing == 0
}

// noteCalm tells a receiver that waits if nothing is to be expected any more. conn.mu is held.
func (b *inbox) noteCalm() {
	if b.news != nil && b.isCalm() {
		b.tell()
	}
}

// tell has a receiver that waits look again. conn.mu is held.
func (b *inbox) tell() {
	select {
	case b.news <- struct{}{}:
	default: // it will anyway, or there is none
	}
}

// rouse wakes the receiver if it rests. conn.mu is held.
func (b *inbox) rouse() {
	if wake := b.wake; wake != nil {
		b.wake = nil
		wake()
	}
}
