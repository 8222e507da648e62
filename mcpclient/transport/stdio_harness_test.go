//go:build unix

package transport_test

import (
	"context"
	"encoding/gob"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpclient/transport/transporttest"
)

// patience is how long a test waits for an event that must happen.
const patience = 30 * time.Second

// harness starts children and drives them.
type harness struct {
	t        testing.TB
	listener net.Listener
	peers    chan *childPeer
}

func newHarness(t testing.TB) *harness {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := &harness{t: t, listener: listener, peers: make(chan *childPeer, 100)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.serve()
	}()
	t.Cleanup(func() {
		_ = listener.Close()
		<-done
	})
	return h
}

// serve creates a peer for every connection, in the order of arrival, until the listener is closed.
func (h *harness) serve() {
	var conns []net.Conn
	for {
		conn, err := h.listener.Accept()
		if err != nil {
			break
		}
		conns = append(conns, conn)
		p := &childPeer{
			commands: gob.NewEncoder(conn),
			waiting:  make(map[int]chan reply),
			gone:     make(chan struct{}),
		}
		replies := gob.NewDecoder(conn)
		var hello reply
		if replies.Decode(&hello) != nil {
			continue // the child was killed before its first reply
		}
		p.pid = hello.N
		go func() {
			p.readReplies(replies)
			_ = conn.Close()
		}()
		h.peers <- p
	}
	for _, conn := range conns {
		_ = conn.Close()
	}
}

// stdio returns a transport whose children are driven by this harness.
func (h *harness) stdio() transport.Stdio {
	exe, err := os.Executable()
	if err != nil {
		h.t.Fatal(err)
	}
	return transport.Stdio{Command: exe, Env: append(os.Environ(),
		driverEnv+"="+h.listener.Addr().String(),
		"GORACE=atexit_sleep_ms=0", // under the race detector, a process waits a second before it exits
	)}
}

// dial starts a child and accepts its connection. The child is killed at the end of the test.
func (h *harness) dial(s transport.Stdio, cfg transport.Config) (transport.Conn, *childPeer) {
	h.t.Helper()
	conn, err := s.Dial(h.within(patience), cfg)
	if err != nil {
		h.t.Fatalf("dial: want a connection, got %v", err)
	}
	h.t.Cleanup(func() { _ = conn.Close(cancelled()) })
	return conn, h.next()
}

// next returns the next child, and fails the test if no child starts.
func (h *harness) next() *childPeer {
	h.t.Helper()
	p, err := h.accept(h.within(patience))
	if err != nil {
		h.t.Fatalf("accept: want a child, got %v", err)
	}
	return p
}

// do sends a command to the child, and fails the test if the command fails.
func (h *harness) do(p *childPeer, cmd command) {
	h.t.Helper()
	if _, err := p.tell(h.within(patience), cmd); err != nil {
		h.t.Fatalf("%s: want the child's reply, got %v", cmd.Op, err)
	}
}

// within returns a context that ends after d, and with the test.
func (h *harness) within(d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	h.t.Cleanup(cancel)
	return ctx
}

// cancelled returns a cancelled context.
func cancelled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func (h *harness) acceptPeer(ctx context.Context) (transporttest.Peer, error) { return h.accept(ctx) }

// accept returns the next child.
func (h *harness) accept(ctx context.Context) (*childPeer, error) {
	select {
	case p := <-h.peers:
		return p, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// childPeer is the test's view of a child.
type childPeer struct {
	pid  int
	gone chan struct{} // closed when no process holds the child's end of the connection to the test any more

	mu       sync.Mutex // guards the fields below
	commands *gob.Encoder
	last     int
	waiting  map[int]chan reply
}

func (p *childPeer) readReplies(replies *gob.Decoder) {
	for {
		var r reply
		if replies.Decode(&r) != nil {
			close(p.gone)
			return
		}
		p.mu.Lock()
		p.waiting[r.Seq] <- r
		delete(p.waiting, r.Seq)
		p.mu.Unlock()
	}
}

var errGone = errors.New("the child is gone")

// tell sends a command to the child and waits for the reply.
func (p *childPeer) tell(ctx context.Context, cmd command) (reply, error) {
	p.mu.Lock()
	p.last++
	cmd.Seq = p.last
	done := make(chan reply, 1)
	p.waiting[cmd.Seq] = done
	err := p.commands.Encode(cmd)
	p.mu.Unlock()
	if err != nil {
		return reply{}, err
	}
	select {
	case r := <-done:
		if r.Err != "" {
			return r, errors.New(r.Err)
		}
		return r, nil
	case <-ctx.Done():
		return reply{}, context.Cause(ctx)
	case <-p.gone:
	}
	select {
	case r := <-done:
		return r, nil
	default:
		return reply{}, errGone
	}
}

func (p *childPeer) Send(ctx context.Context, frame []byte) error {
	_, err := p.tell(ctx, command{Op: opWrite, Data: append(frame[:len(frame):len(frame)], '\n')})
	return err
}

func (p *childPeer) Begin(ctx context.Context, part []byte) error {
	_, err := p.tell(ctx, command{Op: opWrite, Data: part})
	return err
}

func (p *childPeer) Receive(ctx context.Context) ([]byte, error) {
	r, err := p.tell(ctx, command{Op: opRead})
	if errors.Is(err, errGone) || err == nil && r.EOF {
		return nil, io.EOF
	}
	return r.Data, err
}

func (p *childPeer) Exit(ctx context.Context) error {
	_, err := p.tell(ctx, command{Op: opExit, N: 3})
	return err
}

func (p *childPeer) Resist(ctx context.Context) error {
	_, err := p.tell(ctx, command{Op: opResist})
	return err
}
