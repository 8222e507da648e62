// Package transport is an example of a custom transport, written only with exported names: each frame on a stream
// follows its length. Its test checks the contract with package transporttest; start with that test when you write your
// own transport.
//
// Besides moving frames, the contract has these requirements. Send never waits, and refuses frames beyond a bound in
// bytes. The transport reads only when Receive is called. It skips a frame over the limit, or ends the connection.
// Close waits for everything that the connection has started.
package transport

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// Framed opens streams on which each frame follows its length in four bytes.
type Framed struct {
	Server string // default of the client's name
	Open   func(context.Context) (net.Conn, error)
}

// Name returns the name of the server.
func (f Framed) Name() string { return f.Server }

// Network returns TCP as the transport.
func (f Framed) Network() transport.Network { return transport.Network{Transport: "tcp"} }

// Dial opens a connection with two goroutines; its Close waits for them.
func (f Framed) Dial(ctx context.Context, cfg transport.Config) (transport.Conn, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	stream, err := f.Open(ctx)
	if err != nil {
		if end, ok := ctx.Deadline(); ok && !time.Now().Before(end) {
			<-ctx.Done() // a dialer may return slightly before the deadline
		}
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	c := &framedConn{
		stream: stream, limit: cfg.FrameLimit, space: cfg.SendQueue, skip: cfg.SkipOversize, more: make(chan struct{}, 1),
		asked: make(chan struct{}, 1), got: make(chan received, 1), closed: make(chan struct{}), wrote: make(chan struct{}),
	}
	if c.limit <= 0 {
		c.limit = transport.DefaultFrameLimit
	}
	if c.space <= 0 {
		c.space = max(c.limit, 256<<10)
	}
	c.running.Go(c.write)
	c.running.Go(c.read)
	return c, nil
}

// framedConn is one connection. One goroutine writes the accepted frames, another reads a frame when Receive asks.
type framedConn struct {
	stream       net.Conn
	limit, space int
	skip         bool

	asked   chan struct{} // requests a frame for Receive; holds one
	got     chan received // carries the frame to Receive; holds one
	waiting bool          // Receive has requested a frame and not received it; owned by Receive
	over    error         // the error of all further calls to Receive; owned by Receive

	closing sync.Once
	closed  chan struct{} // Close has been called
	wrote   chan struct{} // closed when write has returned
	running sync.WaitGroup

	mu    sync.Mutex
	queue [][]byte      // frames with their lengths, the first is being written; guarded by mu
	bytes int           // size of queue; guarded by mu
	shut  bool          // Send refuses all frames; guarded by mu
	more  chan struct{} // wakes write; holds one
}

type received struct {
	frame transport.Frame
	err   error
}

// Send accepts the frame or returns an error. It never waits.
func (c *framedConn) Send(ctx context.Context, m transport.Message) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case c.shut:
		return transport.ErrClosed
	case len(c.queue) > 0 && c.bytes+len(m.Data) > c.space:
		return transport.ErrBusy
	}
	c.queue = append(c.queue, withLength(m.Data)) // a copy, because m.Data belongs to the caller
	c.bytes += len(m.Data)
	c.wake()
	return nil
}

// Cancel sends the notice, because all requests share the stream.
func (c *framedConn) Cancel(_ int64, notice transport.Message) {
	if len(notice.Data) > 0 {
		_ = c.Send(context.Background(), notice)
	}
}

// Receive requests one frame and waits for it. If ctx ends first, the next Receive waits for the same frame.
func (c *framedConn) Receive(ctx context.Context) (transport.Frame, error) {
	select {
	case <-c.closed:
		c.end(transport.ErrClosed)
	default:
	}
	switch {
	case c.over != nil:
		return transport.Frame{}, c.over
	case ctx.Err() != nil:
		return transport.Frame{}, context.Cause(ctx)
	case !c.waiting:
		c.waiting = true
		c.asked <- struct{}{}
	}
	select {
	case r := <-c.got:
		c.waiting = false
		c.end(r.err)
		return r.frame, c.over
	case <-c.closed:
		c.end(transport.ErrClosed)
		return transport.Frame{}, c.over
	case <-ctx.Done():
		return transport.Frame{}, context.Cause(ctx)
	}
}

// end keeps the first error.
func (c *framedConn) end(err error) {
	if c.over == nil {
		c.over = err
	}
}

// Close sends the accepted frames until ctx ends, or for 5 s if ctx has no deadline.
func (c *framedConn) Close(ctx context.Context) error {
	c.closing.Do(func() { close(c.closed); c.refuse() })
	limit := time.NewTimer(5 * time.Second)
	defer limit.Stop()
	if _, ok := ctx.Deadline(); ok {
		limit.Stop()
	}
	select {
	case <-c.wrote:
	case <-ctx.Done():
	case <-limit.C:
	}
	_ = c.stream.Close() // ends the reading and writing goroutines, and another waiting Close
	c.running.Wait()
	return nil
}

// Info returns the number of accepted frames that have not been sent.
func (c *framedConn) Info() transport.Info {
	c.mu.Lock()
	defer c.mu.Unlock()
	return transport.Info{Queued: len(c.queue)}
}

// write writes the queue until Close has been called and the queue is empty, or the stream is broken.
func (c *framedConn) write() {
	defer close(c.wrote)
	defer c.refuse()
	for data := []byte(nil); ; {
		if data = c.next(len(data)); data == nil {
			select {
			case <-c.more:
				continue
			case <-c.closed:
			}
			if data = c.next(0); data == nil {
				return
			}
		}
		if _, err := c.stream.Write(data); err != nil {
			return // Receive returns the reason
		}
	}
}

// next removes the written frame, if there was one, and returns the next one.
func (c *framedConn) next(written int) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if written > 0 {
		c.queue, c.bytes = c.queue[1:], c.bytes-(written-4)
	}
	if len(c.queue) == 0 {
		return nil
	}
	return c.queue[0]
}

// refuse makes Send refuse frames.
func (c *framedConn) refuse() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shut = true
}

// wake makes write check the queue. The caller holds c.mu.
func (c *framedConn) wake() {
	select {
	case c.more <- struct{}{}:
	default:
	}
}

// read reads one frame for each request of Receive, so that the stream itself stops a server that sends too much.
func (c *framedConn) read() {
	for {
		select {
		case <-c.asked:
			frame, err := c.readFrame()
			if err != nil {
				c.refuse()
			}
			c.got <- received{frame, err}
		case <-c.closed:
			return
		}
	}
}

func (c *framedConn) readFrame() (transport.Frame, error) {
	size, err := readLength(c.stream)
	if err != nil {
		return transport.Frame{}, err
	}
	var data bytes.Buffer // grows with the received bytes, not with the announced size
	if size <= c.limit {
		_, err = io.CopyN(&data, c.stream, int64(size))
		return transport.Frame{Data: data.Bytes()}, err
	}
	ends := make([]byte, 2*min(size/2, 1024)) // the client searches these ends for the id of a request
	head, tail := ends[:len(ends)/2], ends[len(ends)/2:]
	if _, err = io.ReadFull(c.stream, head); err != nil {
		return transport.Frame{}, err
	}
	if !c.skip {
		return transport.Frame{}, &transport.FrameTooLargeError{Size: size, Limit: c.limit, Head: head}
	}
	if _, err = io.CopyN(io.Discard, c.stream, int64(size-len(ends))); err == nil {
		_, err = io.ReadFull(c.stream, tail)
	}
	return transport.Frame{Err: &transport.RequestError{
		Reason: transport.ReasonTooLarge, Size: size, Limit: c.limit, Head: head, Tail: tail,
	}}, err
}

func withLength(frame []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(frame))), frame...)
}

func readLength(r io.Reader) (int, error) {
	var length [4]byte
	_, err := io.ReadFull(r, length[:])
	return int(binary.BigEndian.Uint32(length[:])), err
}
