package transport_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/examples/transport"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/transport/transporttest"
	"github.com/mcpotel/mcpotel/mcpserver"
)

func TestFramedPassesTransportTests(t *testing.T) {
	transporttest.TestTransport(t, func(t *testing.T) transporttest.Subject {
		listener := listen(t)
		accept := func(context.Context) (transporttest.Peer, error) {
			stream, err := listener.Accept()
			if err != nil {
				return nil, err
			}
			p := &peer{server: server{stream}, frames: make(chan []byte, 1)}
			go p.read(t.Context())
			return p, nil
		}
		return transporttest.Subject{Transport: framedTo(listener), Accept: accept, Notices: true}
	})
}

// A client over this transport calls a tool, and reconnects when the stream breaks.
func TestClientReconnectsOverFramed(t *testing.T) {
	listener := listen(t)
	s := mcpserver.New(mcp.Implementation{Name: "adder", Version: "1"}, nil)
	if err := mcpserver.AddTool(s, &mcp.Tool{Name: "add"}, add); err != nil {
		t.Fatal(err)
	}
	streams := make(chan net.Conn, 8)
	go func() { // until the listener is closed
		for {
			stream, err := listener.Accept()
			if err != nil {
				return
			}
			streams <- stream
			go s.Serve(t.Context(), server{stream})
		}
	}()
	client, err := mcpclient.Connect(t.Context(), framedTo(listener), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for range 2 {
		result, err := client.CallTool(t.Context(), "add", terms{1, 2}, mcpclient.WaitForReady())
		if err != nil || result.Text() != `{"sum":3}` {
			t.Fatalf("got %v, %v", result, err)
		}
		(<-streams).Close()
		if err := client.WaitForState(t.Context(), connstate.Backoff); err != nil {
			t.Fatal(err)
		}
	}
}

type terms struct {
	A int `json:"a"`
	B int `json:"b"`
}

type sum struct {
	Sum int `json:"sum"`
}

func add(_ context.Context, in terms) (sum, error) { return sum{in.A + in.B}, nil }

func listen(t *testing.T) net.Listener {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return listener
}

func framedTo(l net.Listener) transport.Framed {
	return transport.Framed{Server: "adder", Open: func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", l.Addr().String())
	}}
}

// server makes the server's end of a stream a [mcpserver.Conn].
type server struct{ net.Conn }

func (s server) Send(ctx context.Context, frame []byte) error {
	defer context.AfterFunc(ctx, func() { s.SetWriteDeadline(time.Unix(1, 0)) })()
	_, err := s.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(frame))), frame...))
	return causeOf(ctx, err)
}

func (s server) Receive(ctx context.Context) ([]byte, error) {
	defer context.AfterFunc(ctx, func() { s.SetReadDeadline(time.Unix(1, 0)) })()
	var length [4]byte
	if _, err := io.ReadFull(s, length[:]); err != nil {
		return nil, causeOf(ctx, err)
	}
	frame := make([]byte, binary.BigEndian.Uint32(length[:]))
	_, err := io.ReadFull(s, frame)
	return frame, causeOf(ctx, err)
}

func causeOf(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("%w: %w", context.Cause(ctx), err)
	}
	return err
}

// peer is the server's end for the test suite. It reads ahead, to detect that the client has closed the stream.
type peer struct {
	server
	frames chan []byte
}

func (p *peer) read(ctx context.Context) {
	defer close(p.frames)
	defer p.Close()
	for {
		frame, err := p.server.Receive(ctx)
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

func (p *peer) Receive(ctx context.Context) ([]byte, error) {
	select {
	case frame, ok := <-p.frames:
		if !ok {
			return nil, io.EOF
		}
		return frame, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (p *peer) Exit(context.Context) error { return p.Close() }
