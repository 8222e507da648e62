package transport

import (
	"context"
	"os"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/ndjson"
)

// stdioConn is a connection to a child process.
//
// Two goroutines live as long as it: watch waits for the child's end, and readStderr reads its standard error. A third
// exists while a Receive whose context can end waits for a frame, a fourth while Close waits for the child.
type stdioConn struct {
	proc  *process
	grace time.Duration

	stdin *os.File
	out   *ndjson.Writer

	stdout *outlet
	reader
	fetcher

	stderr *outlet
	said   *lines
	heard  chan struct{} // closed when standard error has been read to its end

	watched chan struct{} // closed when the child has ended and what follows from it is done
	cleaned sync.Once
}

func newStdioConn(s Stdio, cfg Config, proc *process, std streams) *stdioConn {
	c := &stdioConn{
		proc:    proc,
		grace:   s.Grace,
		stdin:   std.in,
		out:     ndjson.NewWriter(std.in, cfg.sendQueue(), ndjson.Waited(cfg.QueueWait)),
		stdout:  &outlet{f: std.out},
		stderr:  &outlet{f: std.err},
		said:    &lines{logger: cfg.logger(), callback: s.Stderr, config: &cfg},
		heard:   make(chan struct{}),
		watched: make(chan struct{}),
	}
	if c.grace <= 0 {
		c.grace = defaultGrace
	}
	c.in = ndjson.NewReader(c.stdout, cfg.frameLimit(), cfg.SkipOversize)
	c.skip = cfg.SkipOversize
	c.fetcher.init(c.nextFrame)
	go c.readStderr()
	go c.watch()
	return c
}

// readStderr ends when the child has, or with the connection.
func (c *stdioConn) readStderr() {
	defer close(c.heard)
	c.said.readAll(c.stderr)
}

// watch ends with the child. Processes that have left its group may still hold its streams; they are given a moment,
// and then the streams end all the same.
func (c *stdioConn) watch() {
	defer close(c.watched)
	c.proc.wait()
	await(c.life, nil, settle)
	_ = c.stdin.Close()
	c.stdout.cut()
	c.stderr.cut()
}

func (c *stdioConn) Send(ctx context.Context, m Message) error {
	return offer(ctx, c.life, c.out, m.Data)
}

// Cancel sends the notice: all requests share one stream. (specification 2026-07-28, basic/transports/stdio,
// "Cancellation")
func (c *stdioConn) Cancel(_ int64, notice Message) {
	_ = c.Send(c.life, notice) // best effort: the caller has left
}

func (c *stdioConn) Info() Info {
	return Info{PID: c.proc.pid, Queued: c.out.Queued(), LastWords: c.said.latest(), Exit: c.exit()}
}

// exit returns how the child has ended, nil if it has not.
func (c *stdioConn) exit() *ExitError {
	select {
	case <-c.proc.ended:
		return &ExitError{PID: c.proc.pid, Code: c.proc.code, Signal: c.proc.signal, Stderr: c.said.last()}
	default:
		return nil
	}
}
