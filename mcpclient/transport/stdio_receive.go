package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/ndjson"
)

// statusWait is how long a child that has closed its standard output is given to end. One that ends takes a millisecond,
// on an overloaded machine many; only one that does not end makes Receive wait that long.
const statusWait = 250 * time.Millisecond

// reader is what Receive needs, guarded by reading.
type reader struct {
	reading sync.Mutex // held while somebody waits for a frame
	in      *ndjson.Reader
	skip    bool
	over    error // what every Receive returns from now on
}

// answer is what a fetch brings.
type answer struct {
	frame Frame
	err   error
}

// Receive reads in the goroutine of its caller if the caller waits as long as it takes. Otherwise it sends a goroutine
// for the frame and leaves it there when ctx ends; the next Receive finds what it has brought.
func (c *stdioConn) Receive(ctx context.Context) (Frame, error) {
	if ctx.Err() != nil {
		return Frame{}, context.Cause(ctx)
	}
	if c.life.Err() != nil || !c.asked && (ctx.Done() == nil || !c.ask()) {
		return c.next()
	}
	return c.asking(ctx)
}

// asking waits for what the goroutine brings. It is not part of Receive because of what it needs on the stack: an idle
// connection waits in next.
func (c *stdioConn) asking(ctx context.Context) (Frame, error) {
	select {
	case a := <-c.answer:
		c.asked = false
		return a.frame, a.err
	case <-ctx.Done():
		return Frame{}, context.Cause(ctx)
	case <-c.life.Done():
		return c.next()
	}
}

// ask sends a goroutine for the next frame, unless the connection is being closed. The goroutine ends when it has one, or
// when the connection is over.
func (c *stdioConn) ask() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.life.Err() != nil {
		return false
	}
	c.asked = true
	c.tasks.Go(func() {
		frame, err := c.next()
		c.answer <- answer{frame, err}
	})
	return true
}

// Interrupter implements [Interruptible].
func (c *stdioConn) Interrupter() func() {
	if !c.stdout.interruptible() {
		return nil
	}
	return c.stdout.interrupt
}

// next waits for the next frame, or for the reason why there is none.
func (c *stdioConn) next() (Frame, error) {
	c.reading.Lock()
	defer c.reading.Unlock()
	if c.over == nil && c.life.Err() != nil {
		c.over = ErrClosed
	}
	if c.over != nil {
		return Frame{}, c.over
	}
	data, err := c.in.Next()
	if err == ndjson.ErrInterrupted {
		return Frame{}, ErrInterrupted
	}
	if err != nil {
		return c.without(err)
	}
	return Frame{Data: data}, nil
}

// without makes of the reader's error what Receive returns.
func (c *stdioConn) without(err error) (Frame, error) {
	if tooLarge, ok := errors.AsType[*ndjson.TooLargeError](err); ok && c.skip {
		return Frame{Err: &RequestError{
			Reason: TooLarge, Size: tooLarge.Size, Limit: tooLarge.Limit, Head: tooLarge.Head, Tail: tooLarge.Tail,
		}}, nil
	}
	c.over = c.reason(err)
	return Frame{}, c.over
}

// reason says why there are no more frames, given the error of the reader. The end of the child's output is mostly seen
// before its status can be had and before all it wrote to standard error was read, so both are waited for. When the child
// has ended, watch sees to it that this takes no longer than settle.
func (c *stdioConn) reason(err error) error {
	if tooLarge, ok := errors.AsType[*ndjson.TooLargeError](err); ok {
		return &FrameTooLargeError{Size: tooLarge.Size, Limit: tooLarge.Limit, Head: tooLarge.Head}
	}
	until := time.Now().Add(statusWait)
	await(c.life, c.proc.ended, statusWait)
	await(c.life, c.heard, time.Until(until))
	switch exit := c.exit(); {
	case c.life.Err() != nil:
		return ErrClosed
	case exit != nil:
		return exit
	case errors.Is(err, io.EOF):
		return fmt.Errorf("process %d closed its standard output: %w", c.proc.pid, err)
	}
	return fmt.Errorf("read from process %d: %w", c.proc.pid, err)
}
