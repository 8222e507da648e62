package transport

import "context"

// receiving is how streams hand their frames over to Receive, and what tells when nobody need receive: while no
// exchange is in flight, no stream open and no frame handed over. A receiver that rests is woken by the first frame,
// not by what may bring one: most answers go to their callers past it. Guarded by httpConn.mu.
type receiving struct {
	frames  chan delivery // hands over; nil as long as nobody has, or wants, a frame
	news    chan struct{} // tells a receiver that waits to look again; holds one, nil as long as there is none
	streams int           // that serve no single request
	handing int           // frames that wait to be received, or just were
	wake    func()        // of a receiver that rests, nil for none
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
	f, err, ok := c.receive(ctx.Done(), nil)
	if !ok {
		return Frame{}, context.Cause(ctx)
	}
	return f, err
}

// ReceiveOrRest is in the doc of [Rester].
func (c *httpConn) ReceiveOrRest(wake func()) (Frame, error) {
	f, err, ok := c.receive(nil, wake)
	if !ok {
		return Frame{}, ErrResting
	}
	return f, err
}

// receive returns what is received next. It reports false if enough is closed first, or, if wake is not nil, if the
// receiver may rest.
func (c *httpConn) receive(enough <-chan struct{}, wake func()) (_ Frame, _ error, ok bool) {
	for {
		frames, news, over := c.attend(wake)
		switch {
		case over:
			f, err := c.last()
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
func (c *httpConn) attend(wake func()) (frames <-chan delivery, news <-chan struct{}, over bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if wake != nil && c.isCalm() {
		c.frames, c.news, c.wake = nil, nil, wake
		return nil, nil, false
	}
	if c.news == nil {
		c.news = make(chan struct{}, 1)
	}
	return c.handOver(), c.news, c.why != nil
}

// last returns what there still is when the connection is over, and then why it is.
func (c *httpConn) last() (Frame, error) {
	c.mu.Lock()
	closing, frames, why := c.closing, c.frames, c.why
	c.mu.Unlock()
	if !closing && !c.told {
		select {
		case d := <-frames:
			return d.frame, nil
		default:
		}
	}
	c.told = true
	return Frame{}, why
}

// deliver waits until Receive has taken the frame or ctx has ended, and reports whether it was taken.
func (c *httpConn) deliver(ctx context.Context, s *session, f Frame) bool {
	if ctx.Err() != nil {
		return false
	}
	frames := c.hand()
	defer c.handed()
	select {
	case frames <- delivery{f, s}:
		return true
	case <-ctx.Done():
		return false
	}
}

// hand says that a frame is about to be handed over, and returns where.
func (c *httpConn) hand() chan<- delivery {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.handing++
	c.rouse()
	return c.handOver()
}

// handed says that a frame is handed over, or will not be.
func (c *httpConn) handed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.handing--
	c.noteCalm()
}

// handOver returns the channel for frames. c.mu is held.
func (c *httpConn) handOver() chan delivery {
	if c.frames == nil {
		c.frames = make(chan delivery)
	}
	return c.frames
}

// streaming says that one more stream is open which serves no single request, or one less.
func (c *httpConn) streaming(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.streams += n
	c.noteCalm()
}

// isCalm reports whether nothing is to be expected. c.mu is held.
func (c *httpConn) isCalm() bool {
	return c.why == nil && c.inFlight == 0 && c.line.first == nil && c.streams == 0 && c.handing == 0
}

// noteCalm tells a receiver that waits if nothing is to be expected any more. c.mu is held.
func (c *httpConn) noteCalm() {
	if c.news != nil && c.isCalm() {
		c.tell()
	}
}

// tell has a receiver that waits look again. c.mu is held.
func (c *httpConn) tell() {
	select {
	case c.news <- struct{}{}:
	default: // it will anyway, or there is none
	}
}

// rouse wakes the receiver if it rests. c.mu is held.
func (c *httpConn) rouse() {
	if wake := c.wake; wake != nil {
		c.wake = nil
		wake()
	}
}
