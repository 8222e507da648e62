package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// killWait is how long a process is waited for after SIGKILL, even beyond the deadline: it takes a millisecond unless
// the machine is overloaded or the process hangs in the kernel.
const killWait = 2 * time.Second

// Close is described at [Stdio]. Each call climbs the ladder at its own pace, and what one has done need not be done by
// the others.
func (c *stdioConn) Close(ctx context.Context) error {
	p := patienceOf(ctx, c.grace)
	c.begin()
	c.closeStdin(ctx, p)
	ended := c.proc.end(ctx, p)
	c.cleaned.Do(func() { c.clean(p, ended) })
	var err error
	if !within(0, c.proc.ended) {
		err = fmt.Errorf("process %d was killed and has not ended after %v", c.proc.pid, killWait)
	}
	if !within(0, c.heard) {
		err = errors.Join(err, errors.New("a callback or a log handler does not return from a line of standard error"))
	}
	return err
}

// begin makes Receive return, Send refuse, and drops what the child still has to say: it may have to get rid of that
// before it finds the end of its standard input.
func (c *stdioConn) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.life.Err() != nil {
		return
	}
	c.hangUp()
	c.stdout.cut()
	c.tasks.Go(c.discard)
}

// discard ends when standard output does, or when clean closes it.
func (c *stdioConn) discard() {
	c.reading.Lock()
	c.stdout.drain()
	c.reading.Unlock()
	_, _ = io.Copy(io.Discard, c.stdout.f)
}

// closeStdin gives what has been accepted a part of the time to go out, and then tells the child that nothing will
// follow.
func (c *stdioConn) closeStdin(ctx context.Context, p patience) {
	ctx, cancel := context.WithDeadline(ctx, p.start.Add(p.budget/5))
	defer cancel()
	_ = c.out.Flush(ctx) // what does not get out in time is lost, as it would be a moment later
	_ = c.stdin.Close()
}

// clean ends the goroutines and closes the descriptors.
func (c *stdioConn) clean(p patience, ended bool) {
	if ended {
		<-c.watched // it does not linger any more
	}
	c.stderr.cut()
	p.last(c.heard)
	_ = c.stdout.f.Close()
	_ = c.stderr.f.Close()
	ctx, cancel := context.WithTimeout(context.Background(), killWait)
	defer cancel()
	_ = c.out.Close(ctx) // standard input is closed, which ended every write
	c.tasks.Wait()
}
