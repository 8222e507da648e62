//go:build unix

package transport_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpotel/mcpotel/internal/testsupport/best"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// soon bounds the best time of an operation that should not wait, such as Receive after the child's end. The contract
// allows 50 ms; the rest is for a busy machine.
const soon = 1 * time.Second

// exitOf receives until the connection is over and returns the final ExitError.
func exitOf(t *testing.T, conn transport.Conn) *transport.ExitError {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		_, err := conn.Receive(ctx)
		if exit, ok := errors.AsType[*transport.ExitError](err); ok {
			return exit
		}
		if err != nil {
			t.Fatalf("receive: want an ExitError in the end, got %v", err)
		}
	}
}

func TestErrorHasExitStatusAndLastStderrLines(t *testing.T) {
	h := newHarness(t)
	conn, child := h.dial(h.stdio(), transport.Config{})
	var want []string
	for i := range 30 {
		line := fmt.Sprintf("line %d", i)
		h.do(child, command{Op: opStderr, Data: []byte(line + "\n")})
		want = append(want, line)
	}
	h.do(child, command{Op: opStderr, Data: []byte("\n" + strings.Repeat("x", 5000))})
	h.do(child, command{Op: opExit, N: 42})

	exit := exitOf(t, conn)
	want = append(want, strings.Repeat("x", 1024))[11:]
	if diff := cmp.Diff(want, exit.Stderr); diff != "" {
		t.Errorf("want the last 20 lines that are not blank, each cut after 1 KiB (-want +got):\n%s", diff)
	}
	if exit.PID != child.pid || exit.Code != 42 || exit.Signal != "" {
		t.Errorf("want process %d, status 42, no signal, got %d, %d, %q", child.pid, exit.PID, exit.Code, exit.Signal)
	}
	text := fmt.Sprintf("process %d exited with status 42; its last output: %q", child.pid, want[19])
	if exit.Error() != text {
		t.Errorf("want the text %q, got %q", text, exit.Error())
	}
	if diff := cmp.Diff(exit, conn.Info().Exit); diff != "" {
		t.Errorf("want the same ExitError in Info (-receive +info):\n%s", diff)
	}
}

// On a busy machine, reading standard error may take longer than Receive waits for it, so the test tries several times.
func TestReceiveWaitsForLastStderrLines(t *testing.T) {
	for range 20 {
		h := newHarness(t)
		s := h.stdio()
		release := make(chan struct{})
		s.Stderr = func(string) { <-release }
		conn, child := h.dial(s, transport.Config{})
		h.do(child, command{Op: opStderr, Data: []byte("one\ntwo\n")})
		h.do(child, command{Op: opExit})
		mustClose(t, child.gone, "the child to end")
		time.AfterFunc(10*time.Millisecond, func() { close(release) })
		_, err := conn.Receive(t.Context())
		exit, ok := errors.AsType[*transport.ExitError](err)
		if ok && slices.Equal(exit.Stderr, []string{"one", "two"}) {
			return
		}
	}
	t.Error("want receive to wait for the unread last lines, got none in 20 tries")
}

func TestErrorHasSignalThatEndedTheChild(t *testing.T) {
	for _, tt := range []struct {
		n    int
		name string
	}{{9, "SIGKILL"}, {15, "SIGTERM"}} {
		h := newHarness(t)
		conn, child := h.dial(h.stdio(), transport.Config{})
		h.do(child, command{Op: opKill, N: tt.n})
		exit := exitOf(t, conn)
		if exit.Code != -1 || exit.Signal != tt.name {
			t.Errorf("kill -%d: want code -1 and signal %s, got %d and %q", tt.n, tt.name, exit.Code, exit.Signal)
		}
		if err := conn.Send(t.Context(), message("{}")); !errors.Is(err, transport.ErrClosed) {
			t.Errorf("kill -%d: want ErrClosed from a later send, got %v", tt.n, err)
		}
	}
}

func TestExitWithStatusZeroIsExitError(t *testing.T) {
	h := newHarness(t)
	conn, child := h.dial(h.stdio(), transport.Config{})
	h.do(child, command{Op: opExit})
	if exit := exitOf(t, conn); exit.Code != 0 || exit.Signal != "" || exit.Stderr != nil {
		t.Errorf("want status 0 and nothing else, got %+v", exit)
	}
}

func TestOutputClosedByLivingChildEndsConnection(t *testing.T) {
	h := newHarness(t)
	conn, child := h.dial(h.stdio(), transport.Config{})
	h.do(child, command{Op: opMute})
	_, err := conn.Receive(t.Context())
	if _, ok := errors.AsType[*transport.ExitError](err); ok || !errors.Is(err, io.EOF) {
		t.Errorf("receive: want io.EOF without an ExitError, got %v", err)
	}
}

func TestFramesWrittenBeforeExitAreDelivered(t *testing.T) {
	const n = 50 // less than the smallest pipe holds
	h := newHarness(t)
	conn, child := h.dial(h.stdio(), transport.Config{})
	frame := []byte(strings.Repeat("y", 1000))
	h.do(child, command{Op: opWrite, Data: append(frame, '\n'), N: n})
	h.do(child, command{Op: opExit, N: 1})
	mustClose(t, transport.Watched(conn), "the child's streams to be cut after its end")
	for i := range n {
		got, err := conn.Receive(context.Background())
		if err != nil || string(got.Data) != string(frame) {
			t.Fatalf("receive: want frame %d of %d, got %d bytes and error %v", i, n, len(got.Data), err)
		}
	}
	exitOf(t, conn)
}

func TestExitOfGroupLeaderEndsConnection(t *testing.T) {
	for _, tt := range []struct {
		name string
		fork int
		dies bool // whether the grandchild dies too
	}{
		{"a grandchild in the group that holds the streams", 0, true},
		{"a grandchild outside of the group that holds the streams", 1, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var h *harness
			var conn transport.Conn
			var grandchild *childPeer
			took := best.Of(soon, func() time.Duration {
				var child *childPeer
				h = newHarness(t)
				conn, child = h.dial(h.stdio(), transport.Config{})
				h.do(child, command{Op: opFork, N: tt.fork})
				grandchild = h.next()
				h.do(grandchild, command{Op: opResist})
				h.do(child, command{Op: opExit, N: 5})
				start := time.Now()
				if exit := exitOf(t, conn); exit.Code != 5 {
					t.Errorf("want status 5, got %v", exit)
				}
				return time.Since(start)
			})
			if took > soon {
				t.Errorf("want receive to end about 50 ms after the leader, got %v at best", took)
			}
			mustClose(t, transport.Watched(conn), "the child's streams to be cut after its end")
			if err := conn.Send(t.Context(), message("{}")); !errors.Is(err, transport.ErrClosed) {
				t.Errorf("send: want ErrClosed although the grandchild could read the frame, got %v", err)
			}
			if err := conn.Close(h.within(patience)); err != nil {
				t.Errorf("close: want no error, got %v", err)
			}
			if tt.dies {
				mustClose(t, grandchild.gone, "the grandchild to end with the close")
				return
			}
			select {
			case <-grandchild.gone:
				t.Error("want a process that left the group to survive, but it is dead")
			default:
				_, _ = grandchild.tell(h.within(patience), command{Op: opExit})
			}
		})
	}
}

func TestEscapedProcessDoesNotKeepTheConnectionOpen(t *testing.T) {
	h := newHarness(t)
	conn, child := h.dial(h.stdio(), transport.Config{})
	h.do(child, command{Op: opFork, N: 1})
	grandchild := h.next()
	h.do(grandchild, command{Op: opResist})
	go func() { // read until no process holds the other end
		_, _ = grandchild.tell(h.within(patience),
			command{Op: opWrite, Data: []byte(strings.Repeat("z", 1000) + "\n"), N: 1 << 30})
	}()
	if _, err := conn.Receive(h.within(patience)); err != nil {
		t.Fatalf("receive: want a frame of the grandchild, got %v", err)
	}
	h.do(child, command{Op: opExit, N: 6})
	if exit := exitOf(t, conn); exit.Code != 6 {
		t.Errorf("want status 6, got %v", exit)
	}
	if err := conn.Close(h.within(patience)); err != nil {
		t.Errorf("close: want no error, got %v", err)
	}
	_, _ = grandchild.tell(h.within(patience), command{Op: opExit})
}

// mustClose fails the test if the channel is not closed within patience.
func mustClose(t *testing.T, done <-chan struct{}, want string) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatalf("want %s, got nothing in %v", want, patience)
	}
}
