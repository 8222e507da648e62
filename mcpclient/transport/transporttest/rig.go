package transporttest

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

const (
	patience = 30 * time.Second       // for events that must happen
	moment   = 200 * time.Millisecond // for events that must not happen
	slack    = 1 * time.Second        // added to deadlines, for a busy machine
	limit    = 1 << 20                // frame limit of most tests
	room     = 512 << 10              // outbound queue of the tests that fill it
)

// rig is one test of a subject.
type rig struct {
	*testing.T
	Subject
	before map[string]bool // ids of the goroutines at the beginning
}

// dial opens a connection and accepts it. The connection is closed at the end of the test.
func (r *rig) dial(cfg transport.Config) (transport.Conn, Peer) {
	r.Helper()
	conn, err := r.Transport.Dial(r.within(patience), cfg)
	if err != nil {
		r.Fatalf("dial: want a connection, got %v", err)
	}
	r.Cleanup(func() { _ = conn.Close(ended()) })
	return conn, r.accept()
}

func (r *rig) accept() Peer {
	r.Helper()
	peer, err := r.Accept(r.within(patience))
	if err != nil {
		r.Fatalf("accept: want a peer, got %v", err)
	}
	return peer
}

// within returns a context that ends after d, or with the test.
func (r *rig) within(d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(r.Context(), d)
	r.Cleanup(cancel)
	return ctx
}

// ended returns a cancelled context.
func ended() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// does fails the test if err is not nil.
func (r *rig) does(what string, err error) {
	r.Helper()
	if err != nil {
		r.Fatalf("%s: want no error, got %v", what, err)
	}
}

// receives fails the test unless Receive returns the frame want.
func (r *rig) receives(ctx context.Context, conn transport.Conn, want []byte) {
	r.Helper()
	frame, err := conn.Receive(ctx)
	switch {
	case err != nil:
		r.Fatalf("receive: want a frame of %d bytes, got error %v", len(want), err)
	case frame.Err != nil:
		r.Fatalf("receive: want a frame of %d bytes, got a failed request: %v", len(want), frame.Err)
	case !bytes.Equal(frame.Data, want):
		r.Fatalf("receive: want %s, got %s", show(want), show(frame.Data))
	}
}

// hears fails the test unless the peer receives the frame want.
func (r *rig) hears(peer Peer, want []byte) {
	r.Helper()
	got, err := peer.Receive(r.within(patience))
	if err != nil {
		r.Fatalf("peer receives: want a frame of %d bytes, got error %v", len(want), err)
	}
	if !bytes.Equal(got, want) {
		r.Fatalf("peer receives: want %s, got %s", show(want), show(got))
	}
}

// pingPong sends a frame in each direction.
func (r *rig) pingPong(conn transport.Conn, peer Peer) {
	r.Helper()
	ping, pong := frame(100), frame(200)
	r.does("send", conn.Send(r.within(patience), message(ping)))
	r.hears(peer, ping)
	r.does("peer sends", peer.Send(r.within(patience), pong))
	r.receives(r.within(patience), conn, pong)
}

// closes closes the connection and fails the test if that takes longer than d plus slack.
func (r *rig) closes(conn transport.Conn, d time.Duration) {
	r.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	start := time.Now()
	r.does("close", conn.Close(ctx))
	if took := time.Since(start); took > d+slack {
		r.Errorf("close with a deadline in %v: want it to return by then, got %v", d, took)
	}
}

// retry calls f until it reports true, and fails the test after patience.
func (r *rig) retry(what string, f func() bool) {
	r.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	ctx := r.within(patience)
	for !f() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			r.Fatalf("want %s, got nothing of it in %v", what, patience)
		}
	}
}

// frame returns a JSON text of n bytes. Frames of different sizes differ.
func frame(n int) []byte {
	if n < 2 {
		return []byte("7")
	}
	b := bytes.Repeat([]byte("abcdefghij"), n/10+1)[:n]
	b[0], b[n-1] = '"', '"'
	return b
}

// tagged returns a JSON text of about n bytes with a number in it.
func tagged(tag, n int) []byte {
	return fmt.Appendf(nil, `{"tag":%d,"pad":%s}`, tag, frame(max(n, 2)))
}

func message(data []byte) transport.Message {
	return transport.Message{Data: data, Kind: transport.KindNotification, Method: "notifications/test"}
}

// show returns data in a form that fits on a line.
func show(data []byte) string {
	if len(data) <= 80 {
		return fmt.Sprintf("%q", data)
	}
	return fmt.Sprintf("%d bytes %q…%q", len(data), data[:30], data[len(data)-30:])
}
