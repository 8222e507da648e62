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

// statusWait is how long Receive waits for the exit of a child that has closed its standard output. An exit takes a
// millisecond, or more on an overloaded machine; Receive waits the whole time only if the child keeps running.
const statusWait = 250 * time.Millisecond

// reader is the state of Receive, guarded by reading.
type reader struct {
	reading sync.Mutex // held while a goroutine waits for a frame
	in      *ndjson.Reader
	skip    bool
	over    error // result of every Receive from now on; nil while the stream works

	end   error     // error that in has returned, while its cause is still unknown; nil for none
	until time.Time // deadline for the cause of end
}

// Interrupter implements [seam.Interruptible].
func (c *stdioConn) Interrupter() func() {
	if !c.stdout.interruptible() {
		return nil
	}
	return c.stdout.interrupt
}

// nextFrame implements fetcher.next.
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

// without converts an error of the reader to the result of Receive.
func (c *stdioConn) without(err error) (Frame, error) {
	if tooLarge, ok := errors.AsType[*oversize.Error](err); ok {
		var skipped Frame
		skipped, c.over = aboveLimit(tooLarge, c.skip)
		return skipped, c.over
	}
	if c.end == nil {
		c.end, c.until = err, time.Now().Add(statusWait)
	}
	if !c.await(c.proc.ended) || !c.await(c.stderrRead) {
		return Frame{}, seam.ErrInterrupted
	}
	c.over = c.reason(err)
	return Frame{}, c.over
}

// await waits for done, until the deadline for the cause or until the connection is closed. It reports false if an
// interruption has ended the wait; then the goroutine that reads must return.
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

// reason returns the final error, given the error of the reader. The output of a child usually ends before its status
// is known and before its standard error was read to the end, so [stdioConn.without] waits for both. After the child's
// exit, watch bounds that wait to settle.
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
