package transport

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/seam"
	"github.com/mcpotel/mcpotel/internal/ndjson"
	"github.com/mcpotel/mcpotel/internal/oversize"
)

// statusWait is how long a child that has closed its standard output is given to end. One that ends takes a
// millisecond, on an overloaded machine many; only one that does not end makes Receive wait that long.
const statusWait = 250 * time.Millisecond

// reader is what Receive needs, guarded by reading.
type reader struct {
	reading sync.Mutex // held while a goroutine waits for a frame
	in      *ndjson.Reader
	skip    bool
	over    error // what every Receive returns from now on

	end   error     // of the reader, of which it is not known yet what it means
	until time.Time // so long that may take
}

// Interrupter implements [seam.Interruptible].
func (c *stdioConn) Interrupter() func() {
	if !c.stdout.interruptible() {
		return nil
	}
	return c.stdout.interrupt
}

// nextFrame is what the fetcher fetches.
func (c *stdioConn) nextFrame() (Frame, error) {
	c.reading.Lock()
	defer c.reading.Unlock()
	if c.over == nil && c.life.Err() != nil {
		c.over = ErrClosed
	}
	if c.over != nil {
		return Frame{}, c.over
	}
	var data []byte
	err := c.end
	if err == nil {
		data, err = c.in.Next()
	}
	if err == ndjson.ErrInterrupted {
		return Frame{}, seam.ErrInterrupted
	}
	if err != nil {
		return c.without(err)
	}
	return Frame{Data: data}, nil
}

// without makes of the reader's error what Receive returns.
func (c *stdioConn) without(err error) (Frame, error) {
	if tooLarge, ok := errors.AsType[*oversize.Error](err); ok {
		var skipped Frame
		skipped, c.over = aboveLimit(tooLarge, c.skip)
		return skipped, c.over
	}
	if c.end == nil {
		c.end, c.until = err, time.Now().Add(statusWait)
	}
	if !c.await(c.proc.ended) || !c.await(c.heard) {
		return Frame{}, seam.ErrInterrupted
	}
	c.over = c.reason(err)
	return Frame{}, c.over
}

// await waits for done until the time is over that the end of the output may take to be understood, or the connection
// is being closed. It reports false if it was interrupted: the caller who reads may have to leave before.
func (c *stdioConn) await(done <-chan struct{}) bool {
	for {
		interrupted, ok := c.stdout.interruption()
		if !ok {
			return false
		}
		timer := time.NewTimer(time.Until(c.until))
		select {
		case <-interrupted:
			timer.Stop()
			continue
		case <-done:
		case <-timer.C:
		case <-c.life.Done():
		}
		timer.Stop()
		return true
	}
}

// reason says why there are no more frames, given the error of the reader. The end of the child's output is mostly seen
// before its status can be had and before all it wrote to standard error was read, so both have been waited for. When
// the child has ended, watch sees to it that this takes no longer than settle.
func (c *stdioConn) reason(err error) error {
	switch exit := c.exit(); {
	case c.life.Err() != nil:
		return ErrClosed
	case exit != nil:
		return exit
	case errors.Is(err, io.EOF):
		return reworded{fmt.Sprintf("process %d has closed its standard output", c.proc.pid), err}
	}
	return fmt.Errorf("read from process %d: %w", c.proc.pid, err)
}
