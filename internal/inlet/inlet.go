// Package inlet provides a connection whose owner can add received frames, immediately or at a later time, and can end
// the connection. Servers that fail on purpose are built on it: package mcptest and package chaos.
package inlet

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// Conn is a connection to which its owner can add received frames. It has no goroutine: Next returns the added frames.
// All methods are safe for concurrent use, except that only one Next at a time is allowed.
type Conn struct {
	transport.Conn // connection to the peer

	// Room limits the waiting frames, in bytes. When they reach Room, Next stops reading from the peer. Zero means no
	// limit.
	Room int

	mu        sync.Mutex
	waiting   []parcel                // ordered by time, then by order of addition; mu guards this and all fields below
	bytes     int                     // size of waiting, including parcelOverhead for each parcel
	until     time.Time               // receive nothing before this time
	over      error                   // error passed to End; nil before End
	peerOver  error                   // error of the peer's connection, while frames still wait
	closed    bool                    // Close was called; Next returns only the error of the peer's connection
	interrupt context.CancelCauseFunc // ends the wait of Next; nil if Next is not waiting
}

// parcel is a waiting frame.
type parcel struct {
	frame transport.Frame
	at    time.Time
	held  bool // Release can deliver the frame early
}

// parcelOverhead is the memory of a parcel besides the bytes of its frame.
const parcelOverhead = 128

// errLook interrupts a wait for the peer when another frame may be due.
var errLook = errors.New("look again")

// Deliver makes Next return f after all frames that were delivered earlier, and before frames from the peer.
func (c *Conn) Deliver(f transport.Frame) { c.put(parcel{frame: f}) }

// DeliverAt makes Next return f at the given time.
func (c *Conn) DeliverAt(at time.Time, f transport.Frame) { c.put(parcel{frame: f, at: at}) }

// Hold is like DeliverAt, for a frame that [Conn.Release] can deliver earlier.
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

// insert adds p behind all parcels with the same or an earlier time. The caller holds c.mu.
func (c *Conn) insert(p parcel) {
	at, _ := slices.BinarySearchFunc(c.waiting, p.at, func(q parcel, t time.Time) int {
		if q.at.After(t) {
			return 1
		}
		return -1
	})
	c.waiting = slices.Insert(c.waiting, at, p)
}

// Release delivers the first held frame now. It reports false if no frame is held.
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

// Pause stops all receiving until the given time, both of frames from the peer and of delivered frames.
func (c *Conn) Pause(until time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.until = until
	c.look()
}

// Full reports whether the waiting frames have reached Room.
func (c *Conn) Full() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.full()
}

func (c *Conn) full() bool { return c.Room > 0 && c.bytes >= c.Room }

// End ends the connection: Next returns err from now on. Only the first call has an effect.
func (c *Conn) End(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over == nil && !c.closed {
		c.over = err
	}
	c.look()
}

// Over returns the error passed to End, or nil before End.
func (c *Conn) Over() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.over
}

// Close drops the waiting frames and closes the peer's connection.
func (c *Conn) Close(ctx context.Context) error {
	c.mu.Lock()
	c.closed = true
	c.waiting, c.bytes = nil, 0
	c.look()
	c.mu.Unlock()
	return c.Conn.Close(ctx)
}

// look makes a waiting Next check again for frames. The caller holds c.mu.
func (c *Conn) look() {
	if c.interrupt != nil {
		c.interrupt(errLook)
	}
}
