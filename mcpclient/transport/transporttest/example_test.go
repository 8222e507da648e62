package transporttest_test

import (
	"context"
	"io"
	"testing"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpclient/transport/transporttest"
)

// pipes makes transports to servers that a test plays. This example uses in-memory transports; use your own instead.
type pipes struct{ peers chan *pipe }

func (p *pipes) accept(ctx context.Context) (transporttest.Peer, error) {
	select {
	case peer := <-p.peers:
		return peer, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (p *pipes) serve(ctx context.Context, peer *transport.Peer) {
	end := &pipe{Peer: peer, frames: make(chan []byte)}
	select {
	case p.peers <- end:
		end.read(ctx)
	case <-ctx.Done(): // the test has not accepted the connection
	}
}

// pipe is the server's end of a connection. It reads one frame ahead of the test, so that it notices when the
// connection is closed.
type pipe struct {
	*transport.Peer
	frames chan []byte
}

func (p *pipe) read(ctx context.Context) {
	defer close(p.frames)
	for {
		frame, err := p.Peer.Receive(ctx)
		if err != nil {
			return
		}
		select {
		case p.frames <- frame:
		case <-ctx.Done():
			return
		}
	}
}

func (p *pipe) Receive(ctx context.Context) ([]byte, error) {
	select {
	case frame, open := <-p.frames:
		if !open {
			return nil, io.EOF
		}
		return frame, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (p *pipe) Exit(context.Context) error { return p.Peer.Close() }

// testContract shows the test that a package with a transport has under the name TestContract.
func testContract(t *testing.T) {
	transporttest.TestTransport(t, func(*testing.T) transporttest.Subject {
		p := &pipes{peers: make(chan *pipe)}
		return transporttest.Subject{Transport: transport.InMemory(p.serve), Accept: p.accept, Notices: true}
	})
}

func ExampleTestTransport() {
	_ = testing.InternalTest{Name: "TestContract", F: testContract}
}
