package transport_test

import (
	"context"
	"io"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpclient/transport/transporttest"
)

// memoryHarness serves in-memory connections with peers that a test drives.
type memoryHarness struct {
	peers chan *memoryPeer
}

func newMemoryHarness() *memoryHarness {
	return &memoryHarness{peers: make(chan *memoryPeer, 100)}
}

func (h *memoryHarness) transport() transport.Transport {
	return transport.InMemory(func(ctx context.Context, p *transport.Peer) {
		m := &memoryPeer{Peer: p, frames: make(chan []byte)}
		h.peers <- m
		m.read(ctx)
	})
}

func (h *memoryHarness) accept(ctx context.Context) (transporttest.Peer, error) {
	select {
	case m := <-h.peers:
		return m, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// memoryPeer reads one frame ahead of the test, so that it notices when the connection is closed.
type memoryPeer struct {
	*transport.Peer
	frames chan []byte
}

func (m *memoryPeer) read(ctx context.Context) {
	defer close(m.frames)
	for {
		data, err := m.Peer.Receive(ctx)
		if err != nil {
			return
		}
		select {
		case m.frames <- data:
		case <-ctx.Done():
			return
		}
	}
}

func (m *memoryPeer) Receive(ctx context.Context) ([]byte, error) {
	select {
	case data, ok := <-m.frames:
		if !ok {
			return nil, io.EOF
		}
		return data, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (m *memoryPeer) Exit(context.Context) error { return m.Peer.Close() }
