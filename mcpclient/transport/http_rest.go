package transport

// rest is what tells when nobody need receive: while no exchange is in flight, no stream open and no frame handed over. A
// receiver that rests is woken by the first frame, not by what may bring one: most answers go to their callers past it.
// Guarded by httpConn.mu.
type rest struct {
	streams int           // that serve no single request
	handing int           // frames that wait to be received, or just were
	wake    func()        // of a receiver that rests, nil for none
	calm    chan struct{} // tells the one who waits that there may be nothing to wait for; holds one, nil while nobody waits
}

// ReceiveOrRest is in the doc of [Rester].
func (c *httpConn) ReceiveOrRest(wake func()) (Frame, error) {
	for {
		calm := c.restOrWait(wake)
		if calm == nil {
			return Frame{}, ErrResting
		}
		if f, err, ok := c.next(calm); ok {
			return f, err
		}
	}
}

// restOrWait puts the receiver to rest if it may, and otherwise returns a channel that says when to ask again.
func (c *httpConn) restOrWait(wake func()) (calm <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.isCalm() {
		c.rest.wake, c.rest.calm = wake, nil
		return nil
	}
	if c.rest.calm == nil {
		c.rest.calm = make(chan struct{}, 1)
	}
	return c.rest.calm
}

// isCalm reports whether nothing is to be expected. c.mu is held.
func (c *httpConn) isCalm() bool {
	return c.why == nil && len(c.inFlight) == 0 && c.rest.streams == 0 && c.rest.handing == 0
}

// noteCalm lets the receiver ask again if it is time. c.mu is held.
func (c *httpConn) noteCalm() {
	if c.rest.calm == nil || !c.isCalm() {
		return
	}
	select {
	case c.rest.calm <- struct{}{}:
	default:
	}
}

// rouse wakes the receiver if it rests. c.mu is held.
func (c *httpConn) rouse() {
	if wake := c.rest.wake; wake != nil {
		c.rest.wake = nil
		wake()
	}
}

// handing says that a frame is about to be handed over, or no more.
func (c *httpConn) handing(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rest.handing += n; n > 0 {
		c.rouse()
	} else {
		c.noteCalm()
	}
}

// streaming says that one more stream is open which serves no single request, or one less.
func (c *httpConn) streaming(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rest.streams += n
	c.noteCalm()
}
