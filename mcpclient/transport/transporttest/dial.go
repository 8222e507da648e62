package transporttest

import (
	"context"
	"errors"
	"runtime"
	"time"
	"weak"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

func dialEachTime(r *rig) {
	for range 3 {
		conn, peer := r.dial(transport.Config{})
		r.pingPong(conn, peer)
		r.closes(conn, patience)
	}
	one, peerOne := r.dial(transport.Config{})
	two, peerTwo := r.dial(transport.Config{})
	r.does("send on the first", one.Send(r.within(patience), message(frame(11))))
	r.does("send on the second", two.Send(r.within(patience), message(frame(22))))
	r.hears(peerTwo, frame(22))
	r.hears(peerOne, frame(11))
	r.closes(one, patience)
	r.pingPong(two, peerTwo)
}

func dialEnded(r *rig) {
	reason := errors.New("the reason")
	ctx, cancel := context.WithCancelCause(r.Context())
	cancel(reason)
	conn, err := r.Transport.Dial(ctx, transport.Config{})
	if conn != nil || !errors.Is(err, reason) {
		r.Fatalf("dial: want no connection and the cause of the context, got %v and %v", conn, err)
	}
	r.nothingLeft()
}

func dialMidway(r *rig) {
	for i := range 20 {
		ctx, cancel := context.WithTimeout(r.Context(), time.Duration(i*i)*20*time.Microsecond)
		conn, err := r.Transport.Dial(ctx, transport.Config{})
		switch {
		case err == nil:
			r.does("close", conn.Close(ended()))
		case !errors.Is(err, context.DeadlineExceeded):
			r.Errorf("dial: want a connection or the cause of the context, got %v", err)
		}
		cancel()
	}
	r.nothingLeft()
}

func dialContextEnds(r *rig) {
	ctx, cancel := context.WithCancel(r.Context())
	conn, err := r.Transport.Dial(ctx, transport.Config{})
	r.does("dial", err)
	r.Cleanup(func() { _ = conn.Close(ended()) })
	peer := r.accept()
	cancel()
	r.pingPong(conn, peer)
}

func dialForgets(r *rig) {
	ctx, value := valued(r.Context())
	conn, err := r.Transport.Dial(ctx, transport.Config{})
	ctx = nil
	r.does("dial", err)
	r.Cleanup(func() { _ = conn.Close(ended()) })
	r.accept()
	r.forgets(value)
	runtime.KeepAlive(conn)
}

func named(r *rig) {
	if r.Transport.Name() == "" {
		r.Error("want the transport to have a name, got none")
	}
	if one, two := r.Transport.Network(), r.Transport.Network(); one != two {
		r.Errorf("want the network to be always the same, got %v and %v", one, two)
	}
}

type key struct{}

// valued returns a context with a value, and a weak pointer to the value.
func valued(ctx context.Context) (context.Context, weak.Pointer[[64]byte]) {
	value := new([64]byte)
	return context.WithValue(ctx, key{}, value), weak.Make(value)
}

// forgets fails the test if the value is still referenced.
func (r *rig) forgets(value weak.Pointer[[64]byte]) {
	r.Helper()
	for range 20 {
		runtime.GC()
		if value.Value() == nil {
			return
		}
	}
	r.Error("want the context to be released, but its value is still in use")
}
