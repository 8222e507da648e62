package transporttest

import (
	"context"
	"errors"
	"sync"

	"github.com/mcpotel/mcpotel/internal/client/seam"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// interrupter returns the function that interrupts the connection, nil if it cannot be interrupted.
func interrupter(conn transport.Conn) func() {
	if i, ok := conn.(seam.Interruptible); ok {
		return i.Interrupter()
	}
	return nil
}

// interrupted fails the test unless the next Receive returns seam.ErrInterrupted.
func (r *rig) interrupted(conn transport.Conn) {
	r.Helper()
	if got, err := conn.Receive(context.Background()); !errors.Is(err, seam.ErrInterrupted) {
		r.Fatalf("receive: want %v, got %s and error %v", seam.ErrInterrupted, show(got.Data), err)
	}
}

func interruptBefore(r *rig) {
	conn, peer := r.dial(transport.Config{})
	interrupt := interrupter(conn)
	for i := range 3 {
		interrupt()
		interrupt() // two interruptions count as one
		r.interrupted(conn)
		r.does("peer sends", peer.Send(r.within(patience), tagged(i, 1000)))
		r.receives(context.Background(), conn, tagged(i, 1000))
	}
}

func interruptDuring(r *rig) {
	conn, peer := r.dial(transport.Config{})
	interrupt := interrupter(conn)
	for i := range 20 {
		done := make(chan struct{})
		go func() {
			defer close(done)
			interrupt()
		}()
		r.interrupted(conn)
		<-done
		r.does("peer sends", peer.Send(r.within(patience), tagged(i, 1000)))
		r.receives(r.within(patience), conn, tagged(i, 1000))
	}
}

// interruptPart interrupts the receive of a partial frame, and of a frame that is skipped.
func interruptPart(r *rig) {
	conn, peer := r.dial(transport.Config{FrameLimit: limit, SkipOversize: true})
	interrupt := interrupter(conn)
	partial, ok := peer.(Partial)
	if !ok {
		r.Skip("the peer cannot send a part of a frame")
	}
	for _, size := range []int{100_000, 4 * limit, 200_000} {
		whole := frame(size)
		rest := whole
		for range 4 {
			part := rest[:size/5]
			rest = rest[size/5:]
			begun := make(chan error, 1)
			go func() {
				begun <- partial.Begin(r.within(patience), part)
				interrupt()
			}()
			r.interrupted(conn)
			r.does("peer begins", <-begun)
		}
		sent := make(chan error, 1)
		go func() { sent <- peer.Send(r.within(patience), rest) }()
		if size > limit {
			r.skips(conn, size)
		} else {
			r.receives(context.Background(), conn, whole)
		}
		r.does("peer sends", <-sent)
	}
}

func interruptOften(r *rig) {
	conn, peer := r.dial(transport.Config{})
	interrupt := interrupter(conn)
	const frames = 2000
	ctx, stop := context.WithCancel(r.Context())
	var others sync.WaitGroup
	for range 2 {
		others.Go(func() {
			for ctx.Err() == nil {
				interrupt()
			}
		})
	}
	others.Go(func() {
		for i := range frames {
			if err := peer.Send(r.Context(), tagged(i, i)); err != nil {
				r.Errorf("peer sends: %v", err)
				return
			}
		}
	})
	for i := range frames {
		got, err := conn.Receive(context.Background())
		for errors.Is(err, seam.ErrInterrupted) {
			got, err = conn.Receive(context.Background())
		}
		if err != nil || string(got.Data) != string(tagged(i, i)) {
			r.Errorf("receive: want frame %d, got %s and error %v", i, show(got.Data), err)
			break
		}
	}
	stop()
	others.Wait()
}

func interruptClosed(r *rig) {
	conn, _ := r.dial(transport.Config{})
	interrupt := interrupter(conn)
	interrupt()
	r.closes(conn, patience)
	interrupt()
	for range 3 {
		if got, err := conn.Receive(context.Background()); !errors.Is(err, transport.ErrClosed) {
			r.Fatalf("receive after close: want an error that is ErrClosed, got %s and error %v", show(got.Data), err)
		}
	}
}
