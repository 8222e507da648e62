// Package inlet has a connection that receives more than its peer sends: frames that its owner gives it, now or at a
// later time, and an end that the owner decides. What makes servers fail on purpose is built on it: package mcptest and
// package chaos.
package inlet

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// Conn is such a connection. It has no goroutine: what waits is given out by the Receive that is asked. Its methods may
// be called from any goroutine, but for Next, which is for one at a time.
type Conn struct {
	transport.Conn // the peer's

	// Room is how many bytes of frames may wait for their time before no more are taken from the peer. Zero means that
	// they always are.
	Room int

	mu        sync.Mutex
	waiting   []parcel                // by their time, then by their order; guarded by mu, as all below
	bytes     int                     // of those, with parcelOverhead
	until     time.Time               // nothing is received before
	over      error                   // how the owner has ended it
	peerOver  error                   // how the peer has, while frames still wait
	closed    bool                    // all that is left to receive is the error of the peer's connection
	interrupt context.CancelCauseFunc // ends the wait of Next, nil for none
}

// parcel is a frame that waits.
type parcel struct {
	frame transport.Frame
	at    time.Time
	held  bool // until Release
}

// parcelOverhead is what a parcel takes besides the bytes of its frame.
const parcelOverhead = 128

// errLook ends the wait for the peer when there may be something else to receive.
var errLook = errors.New("look again")

// Deliver has Next return f, behind what was delivered before and before what the peer sends.
func (c *Conn) Deliver(f transport.Frame) { c.put(parcel{frame: f}) }

// DeliverAt has Next return f when it is time, and not before.
func (c *Conn) DeliverAt(at time.Time, f transport.Frame) { c.put(parcel{frame: f, at: at}) }

// Hold is DeliverAt for a frame that [Conn.Release] lets go earlier.
func (c *Conn) Hold(at time.Time, f transport.Frame) { c.put(parcel{frame: f, at: at, held: true}) }

func (c *Conn) put(p parcel) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	c.bytes += len(p.frame.Data) + parcelOverhead
	c.insert(p)
	c.look()
}

// insert puts p behind those that have its time or an earlier one. c.mu is held.
func (c *Conn) insert(p parcel) {
	at, _ := slices.BinarySearchFunc(c.waiting, p.at, func(q parcel, t time.Time) int {
		if q.at.After(t) {
			return 1
		}
		return -1
	})
	c.waiting = slices.Insert(c.waiting, at, p)
}

// Release lets go what was held, and reports whether there was anything.
func (c *Conn) Release() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.waiting, func(p parcel) bool { return p.held })
	if i < 0 {
		return false
	}
	p := c.waiting[i]
	p.at, p.held = time.Now(), false
	c.waiting = slices.Delete(c.waiting, i, i+1)
	c.insert(p)
	c.look()
	return true
}

// Pause has nothing received until then, neither from the peer nor what was delivered.
func (c *Conn) Pause(until time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.until = until
	c.look()
}

// Full reports whether as much waits as there is room for.
func (c *Conn) Full() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.full()
}

func (c *Conn) full() bool { return c.Room > 0 && c.bytes >= c.Room }

// End ends the connection: Next returns err from now on. The first call counts.
func (c *Conn) End(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over == nil && !c.closed {
		c.over = err
	}
	c.look()
}

// Over returns what End was called with, nil as long as it was not.
func (c *Conn) Over() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.over
}

// Close drops what waits and closes the peer's connection.
func (c *Conn) Close(ctx context.Context) error {
	c.mu.Lock()
	c.closed = true
	c.waiting, c.bytes = nil, 0
	c.look()
	c.mu.Unlock()
	return c.Conn.Close(ctx)
}

// look has a Next that waits look again. c.mu is held.
func (c *Conn) look() {
	if c.interrupt != nil {
		c.interrupt(errLook)
	}
}
