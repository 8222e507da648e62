package mcptest

import (
	"context"
	"io"
	"testing"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpclient/transport/transporttest"
)

// TestServerConnectionsPassTransportTests replaces the MCP server by ends of connections that the suite controls.
func TestServerConnectionsPassTransportTests(t *testing.T) {
	transporttest.TestTransport(t, func(t *testing.T) transporttest.Subject {
		ends := make(chan *end, 64)
		s := &Server{conns: map[*conn]bool{}}
		s.memory = transport.InMemory(func(ctx context.Context, p *transport.Peer) {
			e := &end{Peer: p, frames: make(chan []byte)}
			ends <- e
			e.read(ctx)
		})
		accept := func(ctx context.Context) (transporttest.Peer, error) {
			select {
			case e := <-ends:
				return e, nil
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
		return transporttest.Subject{Transport: s, Accept: accept, Notices: true}
	})
}

// end is the server's end of a connection. It reads one frame ahead, and so notices that the connection is closed.
type end struct {
	*transport.Peer
	frames chan []byte
}

func (e *end) read(ctx context.Context) {
	defer close(e.frames)
	for {
		frame, err := e.Peer.Receive(ctx)
		if err != nil {
			return
		}
		select {
		case e.frames <- frame:
		case <-ctx.Done():
			return
		}
	}
}

func (e *end) Receive(ctx context.Context) ([]byte, error) {
	select {
	case frame, ok := <-e.frames:
		if !ok {
			return nil, io.EOF
		}
		return frame, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (e *end) Exit(context.Context) error { return e.Peer.Close() }
