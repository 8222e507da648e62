package transporttest

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

func receiveWithDeadline(r *rig) { receiveInOrder(r, r.within(patience)) }
func receiveWithoutEnd(r *rig)   { receiveInOrder(r, context.Background()) }

func receiveInOrder(r *rig, ctx context.Context) {
	conn, peer := r.dial(transport.Config{FrameLimit: limit})
	sizes := []int{1, 2, 3, 100, 4095, 4096, 4097, 1, 65535, 65536, 65537, 1, 300_000, limit - 1, limit, 1, 2}
	sent := make(chan error, 1)
	go func() {
		for _, n := range sizes {
			if err := peer.Send(r.Context(), frame(n)); err != nil {
				sent <- err
				return
			}
		}
		sent <- nil
	}()
	for _, n := range sizes {
		r.receives(ctx, conn, frame(n))
	}
	r.does("peer sends", <-sent)
}

func receiveLimit(r *rig) {
	conn, peer := r.dial(transport.Config{FrameLimit: limit})
	go func() {
		_ = peer.Send(r.Context(), frame(limit))
		_ = peer.Send(r.Context(), frame(limit+1))
	}()
	r.receives(r.within(patience), conn, frame(limit))
	for range 2 {
		_, err := conn.Receive(r.within(patience))
		e, ok := errors.AsType[*transport.FrameTooLargeError](err)
		if !ok {
			r.Fatalf("receive: want a FrameTooLargeError each time, got %v", err)
		}
		if e.Limit != limit || e.Size <= limit || !bytes.HasPrefix(frame(limit), e.Head) {
			r.Errorf("want a size over the limit of %d and the frame's beginning, got %+v", limit, e)
		}
	}
}

func receiveSkip(r *rig) {
	conn, peer := r.dial(transport.Config{FrameLimit: limit, SkipOversize: true})
	go func() {
		for _, n := range []int{limit + 1, 5, 4 * limit, 6, limit} {
			_ = peer.Send(r.Context(), frame(n))
		}
	}()
	r.skips(conn, limit+1)
	r.receives(r.within(patience), conn, frame(5))
	r.skips(conn, 4*limit)
	r.receives(r.within(patience), conn, frame(6))
	r.receives(r.within(patience), conn, frame(limit))
}

// skips fails the test unless the next Receive reports a skipped frame of this size.
func (r *rig) skips(conn transport.Conn, size int) {
	r.Helper()
	got, err := conn.Receive(r.within(patience))
	if err != nil || got.Data != nil || got.Err == nil {
		r.Fatalf("receive: want a failed request, got data of %d bytes, request error %v, error %v", len(got.Data), got.Err,
			err)
	}
	e, whole := got.Err, frame(size)
	if e.Reason != transport.ReasonTooLarge || e.Size != size || e.Limit != limit {
		r.Errorf("want reason %v, size %d, limit %d, got %+v", transport.ReasonTooLarge, size, limit, e)
	}
	if len(e.Head) == 0 || !bytes.HasPrefix(whole, e.Head) || len(e.Tail) == 0 || !bytes.HasSuffix(whole, e.Tail) {
		r.Errorf("want beginning and end of the frame, got %s and %s", show(e.Head), show(e.Tail))
	}
}

func receiveResumes(r *rig) {
	conn, peer := r.dial(transport.Config{})
	for i := range 10 {
		r.expires(conn)
		r.does("peer sends", peer.Send(r.within(patience), tagged(i, 1000)))
		ctx := r.within(patience)
		if i%2 == 0 {
			ctx = context.Background()
		}
		r.receives(ctx, conn, tagged(i, 1000))
	}
}

func receivePartResumes(r *rig) {
	conn, peer := r.dial(transport.Config{})
	partial, ok := peer.(Partial)
	if !ok {
		r.Skip("the peer cannot send a part of a frame")
	}
	whole := frame(100_000)
	rest := whole
	for range 4 {
		part := rest[:20_000]
		rest = rest[20_000:]
		r.does("peer begins", partial.Begin(r.within(patience), part))
		r.expires(conn)
	}
	r.does("peer sends", peer.Send(r.within(patience), rest))
	r.receives(r.within(patience), conn, whole)
}

// expires fails the test unless a Receive times out because there is no frame.
func (r *rig) expires(conn transport.Conn) {
	r.Helper()
	got, err := conn.Receive(r.within(10 * time.Millisecond))
	if !errors.Is(err, context.DeadlineExceeded) {
		r.Fatalf("receive: want the cause of the context, got data of %d bytes and error %v", len(got.Data), err)
	}
}

func receiveEnded(r *rig) {
	conn, peer := r.dial(transport.Config{})
	reason := errors.New("the reason")
	ctx, cancel := context.WithCancelCause(r.Context())
	cancel(reason)
	r.does("peer sends", peer.Send(r.within(patience), frame(100)))
	for end := time.Now().Add(moment); time.Now().Before(end); runtime.Gosched() {
		if got, err := conn.Receive(ctx); !errors.Is(err, reason) || got.Data != nil {
			r.Fatalf("receive: want no frame and the cause of the context, got %s and %v", show(got.Data), err)
		}
	}
	r.receives(r.within(patience), conn, frame(100))
}

func receiveForgets(r *rig) {
	conn, peer := r.dial(transport.Config{})
	ctx, value := valued(r.Context())
	r.does("peer sends", peer.Send(r.within(patience), frame(100)))
	r.receives(ctx, conn, frame(100))
	ctx, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
	_, err := conn.Receive(ctx)
	cancel()
	ctx, cancel = nil, nil
	if !errors.Is(err, context.DeadlineExceeded) {
		r.Fatalf("receive: want the cause of the context, got %v", err)
	}
	r.forgets(value)
	runtime.KeepAlive(conn)
}

// receivePulls checks that the client reads nothing before it calls Receive: the peer sends until Send blocks. A pipe
// holds 1 MiB, the windows of a network connection somewhat more.
func receivePulls(r *rig) {
	const size, enough = 1 << 20, 64
	conn, peer := r.dial(transport.Config{})
	taken := 0
	for ; taken < enough; taken++ {
		ctx, cancel := context.WithTimeout(r.Context(), moment)
		err := peer.Send(ctx, tagged(taken, size))
		cancel()
		if errors.Is(err, context.DeadlineExceeded) {
			break
		}
		r.does("peer sends", err)
	}
	if taken == enough {
		r.Fatalf("want the peer's sends to block while the client does not receive, got %d frames of %d bytes", taken, size)
	}
	for i := range taken {
		r.receives(r.within(patience), conn, tagged(i, size))
	}
}

func receivePeerEnds(r *rig) {
	conn, peer := r.dial(transport.Config{})
	r.pingPong(conn, peer)
	r.does("peer sends", peer.Send(r.within(patience), frame(300)))
	r.does("peer exits", peer.Exit(r.within(patience)))
	r.receives(r.within(patience), conn, frame(300))
	_, first := conn.Receive(r.within(patience))
	if first == nil || errors.Is(first, context.DeadlineExceeded) {
		r.Fatalf("receive: want an error for the peer's end, got %v", first)
	}
	for range 3 {
		if _, err := conn.Receive(context.Background()); err == nil || err.Error() != first.Error() {
			r.Errorf("receive: want the same error as before, %q, got %v", first, err)
		}
	}
	r.closes(conn, patience)
	if _, err := conn.Receive(context.Background()); err == nil || err.Error() != first.Error() {
		r.Errorf("receive after close: want the same error as before, %q, got %v", first, err)
	}
}
