package transport

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/mcpotel/mcpotel/internal/oversize"
)

// InMemory returns a transport whose server is a function in the same process. Each Dial runs accept in a goroutine of
// its own, with the other end of a new connection; when accept returns, that connection is over.
//
// The context of accept is not derived from that of Dial. It is cancelled when the client has closed the connection and
// accept has not returned soon after. accept must return then: [Conn.Close] waits for it as long as its own context
// allows (5 s if that has no deadline) and returns an error if it still runs.
//
// Frames are copied, so neither end sees what the other does to its bytes. There are no descriptors, and everything
// that waits does so on channels: the transport works in a bubble of testing/synctest.
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
		_ = cfg.guard("InMemory", func() { t.accept(life, p) }) // then the connection is over
	}()
	return c, nil
}

// Peer is the server's end of an in-memory connection. Its methods may be called from any goroutine.
type Peer struct {
	in, out *lane
}

// Send delivers a frame to the client. It waits until the client has taken the one before, or until ctx ends, and then
// returns its cause. After either end was closed it returns [ErrClosed]. data may be used again afterwards.
func (p *Peer) Send(ctx context.Context, data []byte) error { return p.out.put(ctx, data) }

// Receive returns the next frame of the client, which then belongs to the caller. After the client has closed the
// connection come the frames that were accepted before, and then [io.EOF]; after Close comes [ErrClosed]. When ctx
// ends, Receive returns its cause.
func (p *Peer) Receive(ctx context.Context) ([]byte, error) { return p.in.take(ctx) }

// Close ends the connection: the client receives the frame that waits for it, if any, and then [io.EOF]. It returns
// nil.
func (p *Peer) Close() error {
	p.in.abandon(ErrClosed)
	p.out.finish(io.EOF)
	return nil
}

// memoryConn is the client's end.
type memoryConn struct {
	out, in *lane
	limit   int
	skip    bool
	end     context.CancelFunc // of accept's context
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
	_, _ = c.out.offer(notice.Data) // best effort: the caller has left
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

// Close lets accept end by itself for 40 % of the time there is, and then cancels its context.
func (c *memoryConn) Close(ctx context.Context) error {
	c.hangUp()
	p := patienceOf(ctx, defaultGrace)
	p.await(ctx, c.ended, 40)
	c.end()
	if p.last(c.ended) {
		return nil
	}
	return errors.New("the in-memory server still runs though its context was cancelled")
}

// hangUp closes both directions, once.
func (c *memoryConn) hangUp() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.closed = true
		c.in.abandon(ErrClosed) // first: the peer's answer to the other must not be seen
		c.out.finish(io.EOF)
	}
}
