package transport_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpclient/transport/transporttest"
)

// linePeer is the server's end of streams. It reads two frames ahead of the test, so that it notices the end of the
// connection, and then ends.
type linePeer struct {
	out    io.Writer
	close  func() error
	frames chan []byte
}

// newLinePeer ends with the connection, or with the test.
func newLinePeer(t *testing.T, r io.ReadCloser, w io.WriteCloser) *linePeer {
	p := &linePeer{
		out: w, frames: make(chan []byte, 1),
		close: sync.OnceValue(func() error {
			if any(r) == any(w) {
				return w.Close()
			}
			return errors.Join(w.Close(), r.Close())
		}),
	}
	t.Cleanup(func() { _ = p.close() })
	go p.read(t.Context(), r)
	return p
}

func (p *linePeer) read(ctx context.Context, r io.Reader) {
	defer close(p.frames)
	for in := bufio.NewReader(r); ; {
		line, err := in.ReadBytes('\n')
		if err != nil {
			_ = p.close()
			return
		}
		select {
		case p.frames <- bytes.TrimSuffix(line, []byte("\n")):
		case <-ctx.Done():
			return
		}
	}
}

func (p *linePeer) Send(ctx context.Context, frame []byte) error {
	return p.Begin(ctx, append(bytes.Clone(frame), '\n'))
}

func (p *linePeer) Begin(ctx context.Context, part []byte) error {
	written := make(chan error, 1)
	go func() { // ends at the latest with the connection
		_, err := p.out.Write(part)
		written <- err
	}()
	select {
	case err := <-written:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (p *linePeer) Receive(ctx context.Context) ([]byte, error) {
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

func (p *linePeer) Exit(context.Context) error { return p.close() }

func pipePair(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = r.Close()
		_ = w.Close()
	})
	return r, w
}

func socketPair(t *testing.T) (ours, theirs net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if ours, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if theirs, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = ours.Close()
		_ = theirs.Close()
	})
	return ours, theirs
}

// redialled is a transport that opens new streams for each connection.
type redialled struct {
	transport.Transport
	dial func() transport.Transport
}

// Unwrap implements [transporttest.Wrapper].
func (r redialled) Unwrap() transport.Transport { return r.Transport }

func (r redialled) Dial(ctx context.Context, cfg transport.Config) (transport.Conn, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return r.dial().Dial(ctx, cfg)
}

// pair joins two streams to one stream. The transport does not know its type, so it treats a pair as user code.
type pair struct {
	io.Reader
	io.Writer
	close func() error
}

func (p pair) Close() error { return p.close() }

func TestStreamsPassTransportTests(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) (transport.Transport, *linePeer){
		"sockets": func(t *testing.T) (transport.Transport, *linePeer) {
			ours, theirs := socketPair(t)
			opened := func(context.Context) (io.ReadWriteCloser, error) { return ours, nil }
			return transport.StreamsFrom(transport.Network{}, opened), newLinePeer(t, theirs, theirs)
		},
		"pipes": func(t *testing.T) (transport.Transport, *linePeer) {
			ourR, theirW := pipePair(t)
			theirR, ourW := pipePair(t)
			return transport.Streams(ourR, ourW), newLinePeer(t, theirR, theirW)
		},
		"streams of an unknown type": func(t *testing.T) (transport.Transport, *linePeer) {
			ourR, theirW := pipePair(t)
			theirR, ourW := pipePair(t)
			p := pair{ourR, ourW, func() error { return errors.Join(ourW.Close(), ourR.Close()) }}
			return transport.Streams(p, p), newLinePeer(t, theirR, theirW)
		},
	} {
		t.Run(name, func(t *testing.T) {
			transporttest.TestTransport(t, func(t *testing.T) transporttest.Subject {
				peers := make(chan transporttest.Peer, 100)
				never := func(context.Context) (io.ReadWriteCloser, error) { return nil, errors.ErrUnsupported }
				tr := redialled{transport.StreamsFrom(transport.Network{}, never), func() transport.Transport {
					tr, peer := open(t)
					peers <- peer
					return tr
				}}
				return transporttest.Subject{Transport: tr, Notices: true,
					Accept: func(ctx context.Context) (transporttest.Peer, error) {
						select {
						case p := <-peers:
							return p, nil
						case <-ctx.Done():
							return nil, context.Cause(ctx)
						}
					}}
			})
		})
	}
}

func TestStreamsCanBeDialledOnce(t *testing.T) {
	ours, theirs := net.Pipe()
	tr := transport.Streams(ours, ours)
	conn, err := tr.Dial(t.Context(), transport.Config{})
	if err != nil {
		t.Fatal(err)
	}
	peer := newLinePeer(t, theirs, theirs)
	if err := conn.Send(t.Context(), message(`{}`)); err != nil {
		t.Fatal(err)
	}
	if got, err := peer.Receive(t.Context()); err != nil || string(got) != "{}" {
		t.Errorf("got %q and %v", got, err)
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Errorf("close: %v", err)
	}
	if _, err := tr.Dial(t.Context(), transport.Config{}); err == nil || !transport.Permanent(err) {
		t.Errorf("dialled again: want a permanent error, got %v", err)
	}
}

func TestStreamsReportTheirNetwork(t *testing.T) {
	socket, _ := socketPair(t)
	port := socket.RemoteAddr().(*net.TCPAddr).Port
	r, w := pipePair(t)
	elsewhere := transport.Network{Transport: "tcp", Address: "files.example", Port: 22}
	open := func(context.Context) (io.ReadWriteCloser, error) { return nil, errors.ErrUnsupported }
	for _, test := range []struct {
		tr   transport.Transport
		name string
		want transport.Network
	}{
		{transport.Streams(socket, socket), "127.0.0.1",
			transport.Network{Transport: "tcp", Address: "127.0.0.1", Port: port}},
		{transport.Streams(r, w), "streams", transport.Network{Transport: "pipe"}},
		{transport.StreamsFrom(elsewhere, open), "files.example", elsewhere},
	} {
		if got := test.tr.Network(); got != test.want || test.tr.Name() != test.name {
			t.Errorf("got %q, %+v, want %q, %+v", test.tr.Name(), got, test.name, test.want)
		}
		_, _ = test.tr.Dial(t.Context(), transport.Config{})
	}
}

func TestDialReturnsTheErrorOfOpen(t *testing.T) {
	refused := errors.New("refused")
	for name, test := range map[string]struct {
		open func(context.Context) (io.ReadWriteCloser, error)
		is   func(error) bool
	}{
		"error": {func(context.Context) (io.ReadWriteCloser, error) { return nil, refused },
			func(err error) bool { return err == refused }},
		"panic": {func(context.Context) (io.ReadWriteCloser, error) { panic("open") }, isFailure},
		"exit":  {func(context.Context) (io.ReadWriteCloser, error) { runtime.Goexit(); return nil, nil }, isFailure},
	} {
		conn, err := transport.StreamsFrom(transport.Network{}, test.open).Dial(t.Context(), transport.Config{})
		if conn != nil || !test.is(err) {
			t.Errorf("%s: got %v, %v, want the error", name, conn, err)
		}
	}
}

// stubborn is a stream whose Read does not end when the stream is closed.
type stubborn struct {
	io.Writer
	free chan struct{}
}

func (s stubborn) Read([]byte) (int, error) { <-s.free; return 0, io.EOF }
func (stubborn) Close() error               { return nil }

func TestCloseReportsAReadThatDoesNotEnd(t *testing.T) {
	s := stubborn{io.Discard, make(chan struct{})}
	conn, err := transport.Streams(s, s).Dial(t.Context(), transport.Config{})
	if err != nil {
		t.Fatal(err)
	}
	received := make(chan error, 1)
	go func() {
		_, err := conn.Receive(context.Background())
		received <- err
	}()
	for deadline := time.Now().Add(20 * time.Second); !reading(); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatal("the stream is not read")
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := conn.Close(ctx); err == nil {
		t.Error("close: want an error about the Read that does not end")
	}
	if err := <-received; !errors.Is(err, transport.ErrClosed) {
		t.Errorf("receive: want %v, got %v", transport.ErrClosed, err)
	}
	close(s.free)
	if err := conn.Close(t.Context()); err != nil {
		t.Errorf("close after the end of the Read: %v", err)
	}
}

// reading reports whether a goroutine is in the Read method of a stubborn stream.
func reading() bool {
	b := make([]byte, 1<<20)
	return strings.Contains(string(b[:runtime.Stack(b, true)]), "transport_test.stubborn.Read")
}

// failing is a stream whose methods panic or end their goroutine.
type failing struct{ fail func() }

func (f failing) Read([]byte) (int, error)    { f.fail(); return 0, io.EOF }
func (f failing) Write(p []byte) (int, error) { f.fail(); return len(p), nil }
func (f failing) Close() error                { f.fail(); return nil }

func TestPanicOrGoexitInStreamFailsConnection(t *testing.T) {
	for name, fail := range map[string]func(){"panic": func() { panic("stream") }, "exit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			var told sync.Map
			cfg := transport.Config{Failed: func(name string, _ any, _ []byte) { told.Store(name, true) }}
			conn, err := transport.Streams(failing{fail}, failing{fail}).Dial(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			for err = error(nil); !errors.Is(err, transport.ErrClosed); runtime.Gosched() {
				err = conn.Send(t.Context(), message("{}"))
			}
			if !errors.Is(err, transport.ErrClosed) || !isFailure(err) {
				t.Errorf("send: want %v and a failure of the user's code, got %v", transport.ErrClosed, err)
			}
			for range 2 {
				if _, err := conn.Receive(t.Context()); !isFailure(err) {
					t.Errorf("receive: want a failure of the user's code, got %v", err)
				}
			}
			if err := conn.Close(t.Context()); err != nil {
				t.Errorf("close: %v", err)
			}
			for _, name := range []string{"Read", "Write", "Close"} {
				if _, ok := told.Load(name); !ok {
					t.Errorf("the failure of %s was not reported", name)
				}
			}
		})
	}
}

func isFailure(err error) bool {
	_, ok := errors.AsType[*usercode.Failure](err)
	return ok
}
