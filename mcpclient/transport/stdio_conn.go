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
// Two goroutines live as long as the connection: watch waits for the child's end, and readStderr reads standard
// error. A third exists while a Receive with a context that can end waits for a frame, a fourth while Close waits
// for the child.
type stdioConn struct {
	proc  *process
	grace time.Duration

	stdin *os.File
	out   *ndjson.Writer

	stdout *outlet
	reader
	fetcher

	stderr     *outlet
	lines      *lines
	stderrRead chan struct{} // closed when standard error was read to its end

	watched chan struct{} // closed when watch has returned
	cleaned sync.Once
}

func newStdioConn(s Stdio, cfg Config, proc *process, std streams) *stdioConn {
	c := &stdioConn{
		proc:       proc,
		grace:      s.Grace,
		stdin:      std.in,
		out:        ndjson.NewWriter(std.in, cfg.sendQueue(), ndjson.Waited(cfg.QueueWait)),
		stdout:     &outlet{f: std.out},
		stderr:     &outlet{f: std.err},
		lines:      &lines{logger: cfg.logger(), callback: s.Stderr, config: &cfg},
		stderrRead: make(chan struct{}),
		watched:    make(chan struct{}),
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

// readStderr reads standard error until the child ends or the connection is closed.
func (c *stdioConn) readStderr() {
	defer close(c.stderrRead)
	c.lines.readAll(c.stderr)
}

// watch waits for the end of the child, and then cuts the child's streams. Processes outside of the child's group may
// still hold the streams; watch cuts them after settle anyway.
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

// Cancel sends the notice, because all requests share one stream.
// (specification 2026-07-28, basic/transports/stdio, "Cancellation")
func (c *stdioConn) Cancel(_ int64, notice Message) {
	_ = c.Send(c.life, notice) // best effort: the caller no longer waits
}

func (c *stdioConn) Info() Info {
	return Info{PID: c.proc.pid, Queued: c.out.Queued(), LastWords: c.lines.latest(), Exit: c.exit()}
}

// exit returns how the child ended, nil if it runs.
func (c *stdioConn) exit() *ExitError {
	select {
	case <-c.proc.ended:
		return &ExitError{PID: c.proc.pid, Code: c.proc.code, Signal: c.proc.signal, Stderr: c.lines.last()}
	default:
		return nil
	}
}
