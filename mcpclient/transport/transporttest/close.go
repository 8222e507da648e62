package transporttest

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

func closeTwice(r *rig) {
	conn, peer := r.dial(transport.Config{})
	r.pingPong(conn, peer)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := conn.Close(r.within(patience)); err != nil {
				r.Errorf("close: want no error, got %v", err)
			}
		})
	}
	wg.Wait()
	r.does("close once more", conn.Close(context.Background()))
	r.does("close with a context that has ended", conn.Close(ended()))
}

func closeEndsReceive(r *rig) {
	for _, ctx := range []context.Context{context.Background(), r.within(patience)} {
		conn, _ := r.dial(transport.Config{})
		started, result := make(chan struct{}), make(chan error, 1)
		go func() {
			close(started)
			_, err := conn.Receive(ctx)
			result <- err
		}()
		<-started
		r.closes(conn, patience)
		select {
		case err := <-result:
			if !errors.Is(err, transport.ErrClosed) {
				r.Errorf("receive during close: want an error that is ErrClosed, got %v", err)
			}
		case <-r.within(patience).Done():
			r.Fatal("want close to end a receive, but the receive still waits")
		}
	}
}

func closeEndsReceiving(r *rig) {
	conn, peer := r.dial(transport.Config{})
	r.expires(conn)
	r.does("peer sends", peer.Send(r.within(patience), frame(100))) // for the receive that timed out
	r.closes(conn, patience)
	for range 20 {
		if got, err := conn.Receive(r.within(patience)); !errors.Is(err, transport.ErrClosed) {
			r.Fatalf("receive after close: want an error that is ErrClosed, got %s and error %v", show(got.Data), err)
		}
	}
}

func closeFlushes(r *rig) {
	sizes := []int{200_000, 1000, 1000} // more than a pipe holds, less than the outbound queue
	conn, peer := r.dial(transport.Config{})
	for i, n := range sizes {
		r.does("send", conn.Send(r.within(patience), message(tagged(i, n))))
	}
	closed := make(chan error, 1)
	go func() { closed <- conn.Close(r.within(patience)) }()
	wants := make([][]byte, len(sizes))
	for i, n := range sizes {
		wants[i] = tagged(i, n)
	}
	r.hearsAll(peer, wants)
	if got, err := peer.Receive(r.within(patience)); err == nil {
		r.Errorf("peer receives: want the end of the stream after the accepted frames, got %s", show(got))
	}
	r.does("close", <-closed)
}

func closeDeadline(r *rig) {
	conn, peer := r.dial(transport.Config{})
	r.pingPong(conn, peer)
	r.closes(conn, moment)
}

func closeDeaf(r *rig) {
	conn, _ := r.dial(transport.Config{SendQueue: room})
	for {
		if err := conn.Send(r.within(patience), message(frame(64<<10))); err != nil {
			break
		}
	}
	r.closes(conn, moment)
	r.nothingLeft()
}

func closeResisted(r *rig) {
	conn, peer := r.dial(transport.Config{})
	stubborn, ok := peer.(Stubborn)
	if !ok {
		r.Skip("the peer cannot resist")
	}
	r.does("peer resists", stubborn.Resist(r.within(patience)))
	r.closes(conn, moment)
	r.nothingLeft()
}

func closeAtOnce(r *rig) {
	conn, peer := r.dial(transport.Config{})
	if stubborn, ok := peer.(Stubborn); ok {
		r.does("peer resists", stubborn.Resist(r.within(patience)))
	}
	start := time.Now()
	r.does("close", conn.Close(ended()))
	if took := time.Since(start); took > slack {
		r.Errorf("close with a cancelled context: want it to return at once, got %v", took)
	}
	r.nothingLeft()
}

func closeImpatient(r *rig) {
	conn, peer := r.dial(transport.Config{})
	if stubborn, ok := peer.(Stubborn); ok {
		r.does("peer resists", stubborn.Resist(r.within(patience)))
	}
	patient := make(chan error, 1)
	start := time.Now()
	go func() { patient <- conn.Close(r.within(patience)) }()
	r.does("impatient close", conn.Close(ended()))
	r.does("patient close", <-patient)
	if took := time.Since(start); took > 2*slack {
		r.Errorf("close with a cancelled context during a patient close: want both to return at once, got %v", took)
	}
}

func closeLeavesNothing(r *rig) {
	conn, peer := r.dial(transport.Config{})
	r.pingPong(conn, peer)
	r.closes(conn, patience)
	baseline := r.descriptors()
	for i := range 10 {
		conn, peer := r.dial(transport.Config{})
		r.pingPong(conn, peer)
		if i%2 == 0 {
			r.expires(conn) // a receive that timed out
			r.does("send", conn.Send(r.within(patience), message(frame(300_000))))
		}
		if i%3 == 0 {
			r.does("peer exits", peer.Exit(r.within(patience)))
		}
		r.closes(conn, moment)
		r.nothingLeft()
	}
	r.retry("as many descriptors as before, at most", func() bool { return r.descriptors() <= baseline })
}
