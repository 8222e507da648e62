package transport

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/mcpotel/mcpotel/internal/oversize"
)

// InMemory returns a transport to a function in the same process. Each Dial creates a connection and runs accept
// in a new goroutine with the other end of the connection; when accept returns, the connection is over.
//
// The context of accept is not derived from the context of Dial. It is cancelled when the client has closed the
// connection and accept has not returned soon after. accept must then return: [Conn.Close] waits for accept until the
// deadline of the context of Close (5 s without a deadline), and returns an error if accept still runs.
//
// Frames are copied, so neither end sees changes that the other makes to its bytes. The transport uses no file
// descriptors and waits only on channels, so it works in a bubble of testing/synctest.
func InMemory(accept func(ctx context.Context, p *Peer)) Transport {
	if accept == nil {
		panic("transport: InMemory without a function")
	}
	return inMemory{accept}
}

type inMemory struct {
	accept func(ctx context.Context, p *Peer)
}

func (inMemory) Name() string     { return "in-memory" }
func (inMemory) Network() Network { return Network{} }

func (t inMemory) Dial(ctx context.Context, cfg Config) (Conn, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	life, end := context.WithCancel(context.Background())
	c := &memoryConn{
		out:   &lane{maxBytes: cfg.sendQueue(), waited: cfg.QueueWait},
		in:    &lane{maxFrames: 1},
		limit: cfg.frameLimit(),
		skip:  cfg.SkipOversize,
		end:   end,
		ended: make(chan struct{}),
	}
	go func() {
		defer close(c.ended)
		p := &Peer{in: c.out, out: c.in}
		defer p.Close()
		_ = cfg.guard("InMemory", func() { t.accept(life, p) }) // either way the connection is over
	}()
	return c, nil
}

// Peer is the server's end of an in-memory connection. Its methods may be called from any goroutine.
type Peer struct {
	in, out *lane
}

// Send delivers a frame to the client. It waits until the client has received the previous frame, or until ctx ends;
// then Send returns the cause of ctx. After either end was closed, Send returns [ErrClosed]. Send does not keep data.
func (p *Peer) Send(ctx context.Context, data []byte) error { return p.out.put(ctx, data) }

// Receive returns the next frame of the client; the frame belongs to the caller. After the client has closed the
// connection, Receive returns the frames that were accepted before, and then [io.EOF]; after [Peer.Close] it returns
// [ErrClosed]. When ctx ends, it returns the cause of ctx.
func (p *Peer) Receive(ctx context.Context) ([]byte, error) { return p.in.take(ctx) }

// Close ends the connection: the client receives the frame that waits for it, if any, and then [io.EOF]. Close
// returns nil.
func (p *Peer) Close() error {
	p.in.abandon(ErrClosed)
	p.out.finish(io.EOF)
	return nil
}

// memoryConn is the client's end of an in-memory connection.
type memoryConn struct {
	out, in *lane
	limit   int
	skip    bool
	end     context.CancelFunc // cancels the context of accept
	ended   chan struct{}      // closed when accept has returned

	mu     sync.Mutex
	closed bool
}

func (c *memoryConn) Send(ctx context.Context, m Message) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	_, err := c.out.offer(m.Data)
	return err
}

func (c *memoryConn) Cancel(_ int64, notice Message) {
	_, _ = c.out.offer(notice.Data) // best effort: the caller no longer waits
}

func (c *memoryConn) Receive(ctx context.Context) (Frame, error) {
	data, err := c.in.take(ctx)
	if err != nil {
		return Frame{}, err
	}
	if len(data) <= c.limit {
		return Frame{Data: data}, nil
	}
	var ends oversize.Ends
	ends.Write(data)
	frame, err := aboveLimit(ends.Over(c.limit, c.skip), c.skip)
	if err != nil {
		c.in.abandon(err)
	}
	return frame, err
}

func (c *memoryConn) Info() Info { return Info{Queued: c.out.len()} }

// Close gives accept 40 % of the available time to return, and then cancels its context.
func (c *memoryConn) Close(ctx context.Context) error {
	c.hangUp()
	p := patienceOf(ctx, defaultGrace)
	p.await(ctx, c.ended, 40)
	c.end()
	if p.last(c.ended) {
		return nil
	}
	return errors.New("the in-memory server is still running although its context has ended")
}

// hangUp closes both directions, once.
func (c *memoryConn) hangUp() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.closed = true
		c.in.abandon(ErrClosed) // before out, so that the client does not receive the peer's reaction
		c.out.finish(io.EOF)
	}
}
