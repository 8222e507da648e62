package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpotel/mcpotel/internal/ndjson"
	"github.com/mcpotel/mcpotel/internal/oversize"
	"github.com/mcpotel/mcpotel/internal/usercode"
)

// Streams returns a transport over two open streams, or over one for both directions: pipes, a socket, an SSH
// channel. Each line is a frame, as with [Stdio]. (specification 2026-07-28, basic/transports/stdio)
//
// The transport makes one connection. When it is over, the client gives up, because the error of a second Dial is
// permanent. If streams can be opened again, use [StreamsFrom].
//
// [Conn.Close] sends the accepted frames within a fifth of its time, closes w and then r, and waits until no Read
// and no Write is running. If closing a stream does not end its Read or Write, Close returns an error when its
// time is over, and a goroutine remains. Streams need not support deadlines, but end sooner if they do.
//
// [Transport.Network] is derived from the addresses of a [net.Conn]; other streams count as pipes of this machine.
func Streams(r io.ReadCloser, w io.WriteCloser) Transport {
	return &givenStreams{streamNetwork: networkOf(r), r: r, w: w}
}

// StreamsFrom returns a transport that opens a stream for each connection, with a function such as the DialContext
// of a [net.Dialer]. Otherwise it works like [Streams]. An error of open is an error of [Transport.Dial]: the
// client retries later unless the error is [Permanent]. open must respect its context.
//
// network describes the destination of the streams. Telemetry names the server by it. Its Address decides which baggage
// the server gets: without an Address the streams count as local, and the server gets all baggage.
func StreamsFrom(network Network, open func(context.Context) (io.ReadWriteCloser, error)) Transport {
	if open == nil {
		panic("transport: StreamsFrom without a function")
	}
	return &openedStreams{streamNetwork: streamNetwork(network), open: open}
}

// streamNetwork implements the Network and Name of a transport.
type streamNetwork Network

func (n streamNetwork) Network() Network { return Network(n) }

func (n streamNetwork) Name() string {
	if n.Address == "" {
		return "streams"
	}
	return n.Address
}

// networkOf describes the destination of an open stream.
func networkOf(r io.Reader) streamNetwork {
	conn, ok := r.(net.Conn)
	if !ok || conn.RemoteAddr() == nil {
		return streamNetwork{Transport: "pipe"}
	}
	remote := conn.RemoteAddr()
	n := streamNetwork{Transport: remote.Network()}
	if host, port, err := net.SplitHostPort(remote.String()); err == nil && n.Transport == "tcp" {
		n.Address = host
		n.Port, _ = strconv.Atoi(port)
	}
	return n
}

type givenStreams struct {
	streamNetwork
	r      io.ReadCloser
	w      io.WriteCloser
	dialed atomic.Bool
}

func (s *givenStreams) Dial(ctx context.Context, cfg Config) (Conn, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if s.dialed.Swap(true) {
		return nil, permanentError{errors.New("an earlier connection has used the streams; open new ones with StreamsFrom")}
	}
	return newStreamConn(cfg, s.r, s.w), nil
}

type openedStreams struct {
	streamNetwork
	open func(context.Context) (io.ReadWriteCloser, error)
}

func (s *openedStreams) Dial(ctx context.Context, cfg Config) (Conn, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var stream io.ReadWriteCloser
	var err error
	if failed := cfg.guard("StreamsFrom", func() { stream, err = s.open(ctx) }); failed != nil {
		return nil, failed
	}
	if err != nil {
		return nil, err
	}
	return newStreamConn(cfg, stream, stream), nil
}

// streamConn is a connection over two streams. It has two goroutines at most: one while a Receive with a context that
// can end waits for a frame, and one while the connection is being closed.
type streamConn struct {
	r   io.ReadCloser
	w   io.WriteCloser
	out *ndjson.Writer

	fetcher
	reading sync.Mutex // held while a read waits for a frame
	in      *ndjson.Reader
	skip    bool
	over    error // result of every Receive from now on, nil while the streams work; guarded by fetcher.mu

	closing sync.Once
	force   context.Context // ends when accepted frames have no more time to be sent
	hasten  context.CancelFunc
	flushed chan struct{} // closed after accepted frames were sent, or their time is over
	closed  chan struct{} // closed when all goroutines have ended
}

func newStreamConn(cfg Config, r io.ReadCloser, w io.WriteCloser) *streamConn {
	c := &streamConn{
		r: guardedReader(&cfg, r), w: guardedWriter(&cfg, w), skip: cfg.SkipOversize,
		flushed: make(chan struct{}), closed: make(chan struct{}),
	}
	c.force, c.hasten = context.WithCancel(context.Background())
	c.in = ndjson.NewReader(c.r, cfg.frameLimit(), cfg.SkipOversize)
	c.out = ndjson.NewWriter(c.w, cfg.sendQueue(), ndjson.Waited(cfg.QueueWait))
	c.fetcher.init(c.nextFrame)
	c.uninterruptible = !endsReads(c.r)
	return c
}

// endsReads reports whether a waiting Read can certainly be ended.
func endsReads(r io.Reader) bool {
	d, ok := r.(interface{ SetReadDeadline(time.Time) error })
	return ok && d.SetReadDeadline(time.Time{}) == nil
}

func (c *streamConn) Send(ctx context.Context, m Message) error {
	c.mu.Lock()
	over := c.over
	c.mu.Unlock()
	if over != nil && ctx.Err() == nil {
		return fmt.Errorf("%w: %w", ErrClosed, over)
	}
	return offer(ctx, c.life, c.out, m.Data)
}

func (c *streamConn) Cancel(_ int64, notice Message) {
	_ = c.Send(c.life, notice) // best effort: the caller no longer waits
}

func (c *streamConn) Info() Info { return Info{Queued: c.out.Queued()} }

// nextFrame implements fetcher.next.
func (c *streamConn) nextFrame() (Frame, error) {
	if err := c.ended(nil); err != nil {
		return Frame{}, err
	}
	c.reading.Lock()
	defer c.reading.Unlock()
	data, err := c.in.Next()
	if err == nil {
		return Frame{Data: data}, nil
	}
	if tooLarge, ok := errors.AsType[*oversize.Error](err); ok {
		var skipped Frame
		if skipped, err = aboveLimit(tooLarge, c.skip); err == nil {
			return skipped, nil
		}
	}
	return Frame{}, c.ended(err)
}

// ended records err as the end of the connection, and returns why the connection is over, nil if it is not. The
// first error counts, except that ErrClosed takes precedence over a new error after Close.
func (c *streamConn) ended(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over == nil && c.life.Err() != nil {
		err = ErrClosed
	}
	if c.over == nil {
		c.over = err
	}
	return c.over
}

// Close is described at [Streams].
func (c *streamConn) Close(ctx context.Context) error {
	p := patienceOf(ctx, defaultGrace)
	c.closing.Do(func() {
		c.mu.Lock() // no goroutine is started after this
		c.hangUp()
		c.mu.Unlock()
		go c.shut() // ends when no Read and no Write is running
	})
	p.await(ctx, c.flushed, 20)
	c.hasten()
	if !p.last(c.closed) {
		return errors.New("a Read or Write is still running although its stream was closed")
	}
	return nil
}

func (c *streamConn) shut() {
	defer close(c.closed)
	_ = c.out.Flush(c.force) // best effort: the connection is being closed
	close(c.flushed)
	if d, ok := c.r.(interface{ SetReadDeadline(time.Time) error }); ok {
		_ = d.SetReadDeadline(longAgo)
	}
	_ = c.w.Close() // nothing can be done about an error
	_ = c.r.Close()
	_ = c.out.Close(context.Background()) // returns when the last Write ends, because its stream is closed
	c.tasks.Wait()
}

// isOfTheLibrary reports whether the type of a stream is from the standard library. Such a stream neither panics nor
// ends its goroutine.
func isOfTheLibrary(stream any) bool {
	switch stream.(type) {
	case *os.File, *net.TCPConn, *net.UnixConn, *tls.Conn, *io.PipeReader, *io.PipeWriter:
		return true
	}
	return false
}

// guardedReader wraps r. The wrapper returns an error if r panics or ends its goroutine.
func guardedReader(cfg *Config, r io.ReadCloser) io.ReadCloser {
	if isOfTheLibrary(r) {
		return r
	}
	return guardedStream{cfg: cfg, read: r.Read, close: r.Close}
}

// guardedWriter wraps w in the same way as guardedReader.
func guardedWriter(cfg *Config, w io.WriteCloser) io.WriteCloser {
	if isOfTheLibrary(w) {
		return w
	}
	return guardedStream{cfg: cfg, write: w.Write, close: w.Close}
}

// guardedStream calls the methods of a user's stream, each in a goroutine of its own.
type guardedStream struct {
	cfg         *Config
	read, write func([]byte) (int, error)
	close       func() error
}

func (s guardedStream) Read(p []byte) (int, error)  { return s.carry("Read", s.read, p) }
func (s guardedStream) Write(p []byte) (int, error) { return s.carry("Write", s.write, p) }

func (s guardedStream) carry(name string, f func([]byte) (int, error), p []byte) (n int, err error) {
	if failure := usercode.Apart(func() { n, err = f(p) }); failure != nil {
		s.cfg.failed().report(name, failure)
		return 0, failure
	}
	return n, err
}

func (s guardedStream) Close() (err error) {
	if failed := s.cfg.guard("Close", func() { err = s.close() }); failed != nil {
		return failed
	}
	return err
}
