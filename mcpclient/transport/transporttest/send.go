package transporttest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

func sendInOrder(r *rig) {
	conn, peer := r.dial(transport.Config{})
	sizes := []int{1, 2, 3, 100, 4095, 4096, 4097, 1, 65535, 65536, 65537, 1, 200_000, 1, 2}
	if r.Unordered {
		for _, n := range sizes {
			r.sends(conn, frame(n))
			r.hears(peer, frame(n))
		}
		return
	}
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		for _, n := range sizes {
			got, err := peer.Receive(r.Context())
			if err != nil || string(got) != string(frame(n)) {
				r.Errorf("peer receives: want %s, got %s and error %v", show(frame(n)), show(got), err)
				return
			}
		}
	}()
	for _, n := range sizes {
		r.sends(conn, frame(n))
	}
	<-heard
}

// sends sends a frame as soon as there is room for it.
func (r *rig) sends(conn transport.Conn, data []byte) {
	r.Helper()
	r.does("send", r.sendWhenFree(conn, data))
}

// sendWhenFree does the same as sends, for goroutines other than the test's. It returns the error.
func (r *rig) sendWhenFree(conn transport.Conn, data []byte) error {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for ctx := r.within(patience); ; {
		err := conn.Send(ctx, message(data))
		if !errors.Is(err, transport.ErrBusy) {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("%w for %v", err, patience)
		}
	}
}

func sendLarge(r *rig) {
	conn, peer := r.dial(transport.Config{SendQueue: room})
	large := frame(transport.DefaultFrameLimit)
	r.does("send", conn.Send(r.within(patience), message(large)))
	r.hears(peer, large)
	r.sends(conn, frame(9))
	r.hears(peer, frame(9))
}

func sendEnded(r *rig) {
	conn, peer := r.dial(transport.Config{})
	reason := errors.New("the reason")
	ctx, cancel := context.WithCancelCause(r.Context())
	cancel(reason)
	if err := conn.Send(ctx, message(frame(50))); !errors.Is(err, reason) {
		r.Fatalf("send: want the cause of the context, got %v", err)
	}
	r.does("send", conn.Send(r.within(patience), message(frame(60))))
	r.hears(peer, frame(60))
}

func sendBusy(r *rig) {
	const size, enough = 64 << 10, 2048
	conn, peer := r.dial(transport.Config{SendQueue: room})
	accepted := 0
	for ; accepted < enough; accepted++ {
		took, err := r.sendTimed(conn, tagged(accepted, size))
		if took > patience/2 {
			r.Fatalf("send: want it not to wait, got %v", took)
		}
		if errors.Is(err, transport.ErrBusy) {
			break
		}
		r.does("send", err)
	}
	if accepted == enough {
		r.Fatalf("want ErrBusy from a send to a peer that does not read, got %d frames of %d bytes accepted", accepted,
			size)
	}
	conn.Cancel(1, message([]byte("[]"))) // may use free room, and must not wait
	wants := make([][]byte, accepted)
	for i := range wants {
		wants[i] = tagged(i, size)
	}
	r.hearsAll(peer, wants)
	r.sends(conn, tagged(-1, size))
	r.hearsAll(peer, [][]byte{tagged(-1, size)})
}

// hearsAll fails the test unless the peer receives these frames. A transport that is not unordered must keep their
// order. hearsAll ignores the frame [].
func (r *rig) hearsAll(peer Peer, wants [][]byte) {
	r.Helper()
	for len(wants) > 0 {
		got, err := peer.Receive(r.within(patience))
		if err != nil {
			r.Fatalf("peer receives: want %d more frames, got error %v", len(wants), err)
		}
		at := slices.IndexFunc(wants, func(want []byte) bool { return bytes.Equal(got, want) })
		switch {
		case string(got) == "[]":
		case at < 0 || at > 0 && !r.Unordered:
			r.Fatalf("peer receives: want %s, got %s", show(wants[0]), show(got))
		default:
			wants = slices.Delete(wants, at, at+1)
		}
	}
}

// sendForgets overwrites data after it was sent, like a client that reuses its buffers. The peer starts to read when
// the queue is full, so some of the frames have waited.
func sendForgets(r *rig) {
	const enough = 4096
	sizes := []int{10, 5000, 100_000}
	conn, peer := r.dial(transport.Config{SendQueue: room})
	accepted := 0
	for ; accepted < enough; accepted++ {
		data := tagged(accepted, sizes[accepted%len(sizes)])
		err := conn.Send(r.within(patience), message(data))
		clear(data)
		if errors.Is(err, transport.ErrBusy) {
			break
		}
		r.does("send", err)
	}
	if accepted == enough {
		r.Fatalf("want ErrBusy from a send to a peer that does not read, got %d frames accepted", accepted)
	}
	wants := make([][]byte, accepted)
	for i := range wants {
		wants[i] = tagged(i, sizes[i%len(sizes)])
	}
	r.hearsAll(peer, wants)
}

// sendTimed sends with a deadline, and fails the test if Send blocks long beyond it.
func (r *rig) sendTimed(conn transport.Conn, data []byte) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(r.Context(), patience/2)
	defer cancel()
	start := time.Now()
	result := make(chan error, 1)
	go func() { result <- conn.Send(ctx, message(data)) }()
	select {
	case err := <-result:
		return time.Since(start), err
	case <-r.within(patience).Done():
		r.Fatalf("send: want it to return when its context ends, but it waits for %v", patience)
		return 0, nil
	}
}

func sendConcurrently(r *rig) {
	const senders, each = 64, 20
	conn, peer := r.dial(transport.Config{})
	var wg sync.WaitGroup
	for s := range senders {
		wg.Go(func() {
			for i := range each {
				if err := r.sendWhenFree(conn, tagged(s*each+i, (s*each+i)*37%20_000)); err != nil {
					r.Errorf("send: want it to be accepted in the end, got %v", err)
				}
			}
		})
	}
	next, seen := make([]int, senders), make(map[int]bool) // next frame of each sender, and frames of all
	for range senders * each {
		got, err := peer.Receive(r.within(patience))
		r.does("peer receives", err)
		var f struct {
			Tag int
			Pad string
		}
		if err := json.Unmarshal(got, &f); err != nil || string(got) != string(tagged(f.Tag, f.Tag*37%20_000)) {
			r.Fatalf("peer receives: want each frame whole, got %s", show(got))
		}
		s, i := f.Tag/each, f.Tag%each
		if next[s] != i && !r.Unordered {
			r.Fatalf("peer receives: want frame %d of sender %d, got %d", next[s], s, i)
		}
		if seen[f.Tag] {
			r.Fatalf("peer receives: want each frame once, got frame %d of sender %d again", i, s)
		}
		next[s]++
		seen[f.Tag] = true
	}
	wg.Wait()
}

func sendPeerEnds(r *rig) {
	conn, peer := r.dial(transport.Config{})
	r.does("peer exits", peer.Exit(r.within(patience)))
	for {
		if _, err := conn.Receive(r.within(patience)); err != nil {
			break
		}
	}
	if err := conn.Send(r.within(patience), message(frame(10))); !errors.Is(err, transport.ErrClosed) {
		r.Errorf("send: want an error that is ErrClosed once receive has reported the end, got %v", err)
	}
}

func sendClosed(r *rig) {
	conn, _ := r.dial(transport.Config{})
	r.closes(conn, patience)
	if err := conn.Send(r.within(patience), message(frame(10))); !errors.Is(err, transport.ErrClosed) {
		r.Errorf("send: want an error that is ErrClosed, got %v", err)
	}
	conn.Cancel(1, message(frame(10))) // must have no effect and return at once
	if _, err := conn.Receive(r.within(patience)); !errors.Is(err, transport.ErrClosed) {
		r.Errorf("receive: want an error that is ErrClosed, got %v", err)
	}
}

func cancelNotice(r *rig) {
	if !r.Notices {
		r.Skip("the transport cancels in another way")
	}
	conn, peer := r.dial(transport.Config{})
	m := message(frame(70))
	m.Kind, m.ID = transport.KindRequest, 7
	r.does("send", conn.Send(r.within(patience), m))
	r.hears(peer, frame(70))
	notice := message(frame(80))
	conn.Cancel(7, notice)
	clear(notice.Data)
	r.hears(peer, frame(80))
}
