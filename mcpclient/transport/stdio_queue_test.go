//go:build unix

package transport_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

func TestStdioReportsQueueOfChildThatDoesNotRead(t *testing.T) {
	h := newHarness(t)
	reports := make(chan time.Duration, 10_000)
	conn, child := h.dial(h.stdio(), transport.Config{SendQueue: 256 << 10,
		QueueWait: func(d time.Duration) { reports <- d }})
	if got := conn.Info().Queued; got != 0 {
		t.Errorf("nothing sent: want no frame queued, got %d", got)
	}
	m := transport.Message{Data: bytes.Repeat([]byte("f"), 5000)}
	accepted := 0
	for err := error(nil); !errors.Is(err, transport.ErrBusy); accepted++ {
		if err = conn.Send(t.Context(), m); err != nil && !errors.Is(err, transport.ErrBusy) {
			t.Fatalf("send: want ErrBusy in the end, got %v", err)
		}
	}
	accepted-- // the last one was refused
	full, queued := time.Now(), conn.Info().Queued
	if queued == 0 || queued >= accepted || len(reports) != 0 {
		t.Fatalf("pipe full: want some of %d frames queued, no wait reported, got %d, %d", accepted, queued, len(reports))
	}
	h.do(child, command{Op: opStderr}) // some time passes
	least := time.Since(full)
	for range accepted {
		h.do(child, command{Op: opRead})
	}
	var waited []time.Duration
	for range queued {
		select {
		case d := <-reports:
			waited = append(waited, d)
		case <-h.within(patience).Done():
			t.Fatalf("want %d frames reported, got %d", queued, len(waited))
		}
	}
	if got := slices.Min(waited); got < least {
		t.Errorf("want each frame to have waited %v at least, got %v", least, got)
	}
	if err := conn.Close(h.within(patience)); err != nil {
		t.Errorf("close: want no error, got %v", err)
	}
	if got := conn.Info().Queued; got != 0 || len(reports) != 0 {
		t.Errorf("closed: want no frame queued and no other reported, got %d and %d", got, len(reports))
	}
}

// The send queue is measured in bytes. If the child does not read, the queue holds as many bytes as the frame limit, or
// the user's SendQueue, in frames of any size.
func TestStdioIsBusyOnlyWhenItsQueueIsFull(t *testing.T) {
	const size = 300
	for name, tt := range map[string]struct {
		cfg  transport.Config
		want int
	}{
		"default":           {transport.Config{}, transport.DefaultFrameLimit},
		"small frame limit": {transport.Config{FrameLimit: 1000}, 256 << 10},
		"frame limit":       {transport.Config{FrameLimit: 1 << 20}, 1 << 20},
		"own":               {transport.Config{SendQueue: 100 << 10}, 100 << 10},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t)
			conn, _ := h.dial(h.stdio(), tt.cfg)
			m := transport.Message{Data: bytes.Repeat([]byte("s"), size-1)}
			accepted, err := 0, error(nil)
			for ; err == nil && accepted < 2*tt.want+4<<20; accepted += size {
				err = conn.Send(t.Context(), m)
			}
			// Accepted bytes are in the queue, in the pipe, or in the frames that are being written.
			if most := 2*tt.want + 2<<20; !errors.Is(err, transport.ErrBusy) || accepted < tt.want || accepted > most {
				t.Errorf("accepted %d bytes, then %v; want from %d to %d bytes, then %v", accepted, err, tt.want, most,
					transport.ErrBusy)
			}
			if err := conn.Close(h.within(100 * time.Millisecond)); err != nil {
				t.Errorf("close: %v", err)
			}
		})
	}
}

func TestStdioSendToExitedChildQueuesNothing(t *testing.T) {
	h := newHarness(t)
	reports := make(chan time.Duration, 10_000)
	conn, child := h.dial(h.stdio(), transport.Config{QueueWait: func(d time.Duration) { reports <- d }})
	large := transport.Message{Data: make([]byte, 1<<20)} // larger than any pipe
	if err := conn.Send(t.Context(), large); err != nil {
		t.Fatalf("send: want no error, got %v", err)
	}
	if err := conn.Send(t.Context(), message("{}")); err != nil {
		t.Fatalf("send: want no error, got %v", err)
	}
	if got := conn.Info().Queued; got != 2 {
		t.Errorf("child does not read: want 2 frames queued, got %d", got)
	}
	h.do(child, command{Op: opExit})
	if _, err := conn.Receive(t.Context()); err == nil {
		t.Error("receive: want the child's end, got a frame")
	}
	if err := conn.Close(h.within(patience)); err != nil {
		t.Errorf("close: want no error, got %v", err)
	}
	if got := conn.Info().Queued; got != 0 || len(reports) != 0 {
		t.Errorf("child gone: want no frame queued and no wait reported, got %d and %d", got, len(reports))
	}
}
