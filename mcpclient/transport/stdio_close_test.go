//go:build unix

package transport_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/testsupport/best"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

func TestCloseLeavesNoDescendantInTheGroup(t *testing.T) {
	for _, resists := range []bool{false, true} {
		h := newHarness(t)
		conn, child := h.dial(h.stdio(), transport.Config{})
		var all []*childPeer
		for range 3 {
			h.do(child, command{Op: opFork})
			all = append(all, h.next())
		}
		h.do(all[0], command{Op: opFork})
		all = append(all, h.next())
		for _, p := range all {
			h.do(p, command{Op: opResist})
		}
		if resists {
			h.do(child, command{Op: opResist})
		}
		if err := conn.Close(h.within(200 * time.Millisecond)); err != nil {
			t.Errorf("close: want no error, got %v", err)
		}
		mustClose(t, child.gone, "the child to end with the close")
		for _, p := range all {
			mustClose(t, p.gone, "the descendants to end with the close")
		}
	}
}

func TestCloseOfUnresponsiveChildTakes100Milliseconds(t *testing.T) {
	const budget, want = 100 * time.Millisecond, 150 * time.Millisecond
	took := best.Of(want, func() time.Duration {
		h := newHarness(t)
		conn, child := h.dial(h.stdio(), transport.Config{})
		h.do(child, command{Op: opResist})
		ctx, cancel := context.WithTimeout(t.Context(), budget)
		defer cancel()
		start := time.Now()
		err := conn.Close(ctx)
		took := time.Since(start)
		if err != nil {
			t.Fatalf("close: want no error, got %v", err)
		}
		if exit := conn.Info().Exit; exit == nil || exit.Signal != "SIGKILL" {
			t.Fatalf("want the child to be killed, got %v", exit)
		}
		return took
	})
	if took > want {
		t.Errorf("close with %v: want it to take at most %v, got %v at best", budget, want, took)
	}
}

func TestCloseSendsSIGTERMBeforeSIGKILL(t *testing.T) {
	h := newHarness(t)
	conn, child := h.dial(h.stdio(), transport.Config{})
	h.do(child, command{Op: opFork})
	h.do(h.next(), command{Op: opResist})
	// Unread input prevents the child from reaching the end of its input, so only SIGTERM ends the child.
	if err := conn.Send(t.Context(), transport.Message{Data: []byte("unread")}); err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(h.within(2 * time.Second)); err != nil {
		t.Errorf("close: want no error, got %v", err)
	}
	if exit := conn.Info().Exit; exit == nil || exit.Signal != "SIGTERM" {
		t.Errorf("want the child to be ended by SIGTERM, got %v", exit)
	}
}

func TestChildBlockedOnOutputSeesEndOfInput(t *testing.T) {
	const size, pipes = 16 << 10, 1<<20 + 64<<10
	h := newHarness(t)
	conn, child := h.dial(h.stdio(), transport.Config{})
	h.do(child, command{Op: opEcho})
	// If the system refuses large pipes, the child blocks earlier, and Send keeps returning ErrBusy.
	ctx := h.within(patience / 10)
	for sent := 0; sent < pipes+6*size && ctx.Err() == nil; { // then the child blocks until the test reads
		switch err := conn.Send(ctx, transport.Message{Data: bytes.Repeat([]byte("e"), size)}); {
		case err == nil:
			sent += size
		case !errors.Is(err, transport.ErrBusy):
			t.Fatal(err)
		}
	}
	if err := conn.Close(h.within(patience)); err != nil {
		t.Errorf("close: want no error, got %v", err)
	}
	if exit := conn.Info().Exit; exit == nil || exit.Code != 0 {
		t.Errorf("want the child to exit by itself with status 0, got %v", exit)
	}
}

func TestChildThatNeverReadsDoesNotBlock(t *testing.T) {
	large := bytes.Repeat([]byte("l"), 16<<20)
	took := best.Of(soon, func() time.Duration {
		h := newHarness(t)
		conn, _ := h.dial(h.stdio(), transport.Config{})
		start := time.Now()
		if err := conn.Send(t.Context(), transport.Message{Data: large}); err != nil {
			t.Errorf("send of 16 MiB: want it accepted, got %v", err)
		}
		if err := conn.Send(t.Context(), transport.Message{Data: large}); !errors.Is(err, transport.ErrBusy) {
			t.Errorf("send of 16 MiB more: want ErrBusy, got %v", err)
		}
		conn.Cancel(1, transport.Message{Data: large})
		took := time.Since(start)
		if err := conn.Close(h.within(100 * time.Millisecond)); err != nil {
			t.Errorf("close: want no error, got %v", err)
		}
		if err := conn.Send(t.Context(), transport.Message{Data: []byte("{}")}); !errors.Is(err, transport.ErrClosed) {
			t.Errorf("send after close: want ErrClosed, got %v", err)
		}
		return took
	})
	if took > soon {
		t.Errorf("want send and cancel to return at once, got %v at best", took)
	}
}

func TestCloseWithoutDeadlineTakesGracePeriod(t *testing.T) {
	const grace = 50 * time.Millisecond
	took := best.Of(soon, func() time.Duration {
		h := newHarness(t)
		s := h.stdio()
		s.Grace = grace
		conn, child := h.dial(s, transport.Config{})
		h.do(child, command{Op: opResist})
		start := time.Now()
		if err := conn.Close(context.Background()); err != nil {
			t.Errorf("close: want no error, got %v", err)
		}
		return time.Since(start)
	})
	if took < 35*time.Millisecond || took > soon {
		t.Errorf("want close to take 70 %% of a grace of %v, got %v", grace, took)
	}
}

func TestCallbackThatDoesNotReturnIsReported(t *testing.T) {
	h := newHarness(t)
	s := h.stdio()
	called, release := make(chan struct{}), make(chan struct{})
	s.Stderr = func(string) {
		close(called)
		<-release
	}
	conn, child := h.dial(s, transport.Config{})
	h.do(child, command{Op: opStderr, Data: []byte("hello\n")})
	mustClose(t, called, "the callback to be called")
	if err := conn.Close(h.within(100 * time.Millisecond)); err == nil {
		t.Error("close: want an error as long as the callback does not return, got none")
	}
	mustClose(t, child.gone, "the child to end nevertheless")
	close(release)
}
