package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// killWait is how long to wait for the end of a process after SIGKILL, even beyond the deadline. The end takes a
// millisecond unless the machine is overloaded or the process is stuck in the kernel.
const killWait = 2 * time.Second

// Close is described at [Stdio]. Concurrent calls each keep their own time, and skip steps that another call has
// done.
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
	if !within(0, c.stderrRead) {
		err = errors.Join(err,
			errors.New("Stdio.Stderr or a log handler is still blocked on a line of the process's standard error"))
	}
	return err
}

// begin makes Receive return and Send fail. It discards the child's further output, because a child that is blocked on
// output does not read the end of its standard input.
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

// discard reads standard output until it ends, or until clean closes it.
func (c *stdioConn) discard() {
	c.reading.Lock()
	c.stdout.drain()
	c.reading.Unlock()
	_, _ = io.Copy(io.Discard, c.stdout.f)
}

// closeStdin sends the accepted frames, for at most a fifth of the budget of Close, and then closes the child's
// standard input.
func (c *stdioConn) closeStdin(ctx context.Context, p patience) {
	ctx, cancel := context.WithDeadline(ctx, p.start.Add(p.budget/5))
	defer cancel()
	_ = c.out.Flush(ctx) // best effort: the connection is being closed
	_ = c.stdin.Close()
}

// clean ends the goroutines and closes the descriptors.
func (c *stdioConn) clean(p patience, ended bool) {
	if ended {
		<-c.watched // watch closes the streams before clean does
	}
	c.stderr.cut()
	p.last(c.stderrRead)
	_ = c.stdout.f.Close()
	_ = c.stderr.f.Close()
	ctx, cancel := context.WithTimeout(context.Background(), killWait)
	defer cancel()
	_ = c.out.Close(ctx) // standard input is closed, so every write has ended
	c.tasks.Wait()
}
