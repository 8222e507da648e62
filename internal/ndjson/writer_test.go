package ndjson_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/internal/ndjson"
)

// pipe returns a pipe. The end of the test closes both ends.
func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

// fill sends until the writer is busy, and returns the number of accepted bytes.
func fill(t *testing.T, w *ndjson.Writer, frame []byte) int {
	t.Helper()
	for n := 0; ; n += len(frame) + 1 {
		err := w.Send(frame)
		if errors.Is(err, ndjson.ErrBusy) {
			return n
		}
		if err != nil || n > 64<<20 {
			t.Fatalf("Send after %d bytes: %v, want %v at some time", n, err, ndjson.ErrBusy)
		}
	}
}

func TestSendWritesALine(t *testing.T) {
	r, f := pipe(t)
	w := ndjson.NewWriter(f, 0)
	lines := bufio.NewReader(r)
	for _, frame := range []string{"a", "", `{"b":1}`, strings.Repeat("c", 30_000)} {
		if err := w.Send([]byte(frame)); err != nil {
			t.Fatal(err)
		}
		if got, err := lines.ReadString('\n'); got != frame+"\n" || err != nil {
			t.Errorf("read %.40q, %v, want %.40q and a newline", got, err, frame)
		}
	}
}

func TestSendRefusesANewline(t *testing.T) {
	w := ndjson.NewWriter(io.Discard, 0)
	if err := w.Send([]byte("a\nb")); !errors.Is(err, ndjson.ErrNewline) {
		t.Errorf("Send of two lines: %v, want %v", err, ndjson.ErrNewline)
	}
	if err := w.SendWait(t.Context(), []byte("\n")); !errors.Is(err, ndjson.ErrNewline) {
		t.Errorf("SendWait of a newline: %v, want %v", err, ndjson.ErrNewline)
	}
}

func TestSendDoesNotWaitForAPeerThatNeverReads(t *testing.T) {
	for _, size := range []int{10, 5000, 100_000, 1 << 20} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			_, f := pipe(t)
			const queue = 64 << 10
			w := ndjson.NewWriter(f, queue)
			accepted := fill(t, w, bytes.Repeat([]byte("x"), size))
			// The pipe holds 64 KiB; the flusher holds the rest of the frame that did not fit, and then one queue; the queue
			// holds as much again, or one frame that is larger than the queue.
			if most := 64<<10 + 2*queue + 2*(size+1); accepted > most {
				t.Errorf("accepted %d bytes, want at most %d", accepted, most)
			}
			if err := w.Close(t.Context()); err != nil {
				t.Errorf("Close: %v", err)
			}
			if err := w.Send([]byte("x")); !errors.Is(err, ndjson.ErrClosed) {
				t.Errorf("Send after Close: %v, want %v", err, ndjson.ErrClosed)
			}
			if err := w.Close(t.Context()); err != nil {
				t.Errorf("second Close: %v", err)
			}
		})
	}
}

func TestOneFrameLargerThanTheQueueIsAccepted(t *testing.T) {
	r, f := pipe(t)
	w := ndjson.NewWriter(f, 1000)
	large := bytes.Repeat([]byte("L"), 1<<20)
	if err := w.Send(large); err != nil {
		t.Fatalf("large frame while idle: %v, want it to be accepted", err)
	}
	if err := w.Send(large); !errors.Is(err, ndjson.ErrBusy) {
		t.Errorf("second large frame: %v, want %v", err, ndjson.ErrBusy)
	}
	if err := w.Send([]byte("small")); err != nil {
		t.Errorf("small frame behind the large one: %v, want it to be accepted", err)
	}
	want := string(large) + "\nsmall\n"
	got := make([]byte, len(want))
	if _, err := io.ReadFull(r, got); err != nil || string(got) != want {
		t.Errorf("read %d bytes, %v, not the two frames", len(got), err)
	}
	if err := w.Flush(t.Context()); err != nil {
		t.Errorf("Flush: %v", err)
	}
}

func TestSendDoesNotKeepTheFrame(t *testing.T) {
	r, f := pipe(t)
	w := ndjson.NewWriter(f, 1<<20)
	var want bytes.Buffer
	frame := make([]byte, 50_000)
	for i := range byte(10) { // the first fits into the pipe, the second in part, the others wait
		for k := range frame {
			frame[k] = 'a' + i
		}
		if err := w.Send(frame); err != nil {
			t.Fatal(err)
		}
		want.Write(frame)
		want.WriteByte('\n')
	}
	clear(frame)
	got := make([]byte, want.Len())
	if _, err := io.ReadFull(r, got); err != nil || !bytes.Equal(got, want.Bytes()) {
		t.Errorf("frames were overwritten after Send returned (%v)", err)
	}
}

func TestFramesAreNeverInterleaved(t *testing.T) {
	const senders, each = 64, 200
	for name, queue := range map[string]int{"small queue": 2000, "large queue": 1 << 20} {
		t.Run(name, func(t *testing.T) {
			r, f := pipe(t)
			w := ndjson.NewWriter(f, queue)
			var wg sync.WaitGroup
			defer wg.Wait()
			defer r.Close() // ends the senders if the test fails
			for s := range senders {
				wg.Go(func() {
					for i := range each {
						size := (s*7919 + i*104729) % 6000
						if i%50 == 49 {
							size *= 30
						}
						frame := fmt.Appendf(nil, "%d %d %s", s, i, strings.Repeat(string(rune('A'+s%26)), size))
						if err := w.SendWait(t.Context(), frame); err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			next := make([]int, senders)
			lines := bufio.NewReaderSize(r, 1<<20)
			for range senders * each {
				line, err := lines.ReadString('\n')
				if err != nil {
					t.Fatal(err)
				}
				var s, i int
				if _, err := fmt.Sscanf(line, "%d %d", &s, &i); err != nil {
					t.Fatalf("line %.40q is no frame: %v", line, err)
				}
				text := strings.TrimPrefix(line, fmt.Sprintf("%d %d ", s, i))
				if strings.Trim(text, string(rune('A'+s%26))+"\n") != "" {
					t.Fatalf("frame %d of sender %d has something else in it", i, s)
				}
				if i != next[s] {
					t.Fatalf("sender %d: frame %d comes where %d should", s, i, next[s])
				}
				next[s]++
			}
			if err := w.Flush(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// gate is a stream without a descriptor. Each Write waits until the test releases it.
type gate struct {
	mu      sync.Mutex
	written bytes.Buffer
	writes  int
	pass    chan error
}

func newGate() *gate { return &gate{pass: make(chan error)} }

func (g *gate) Write(b []byte) (int, error) {
	if err := <-g.pass; err != nil {
		return 0, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.writes++
	return g.written.Write(b)
}

func (g *gate) String() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.written.String()
}

func TestFramesQueuedDuringAWriteAreWrittenTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		w := ndjson.NewWriter(g, 0)
		for i := range 100 {
			if err := w.Send(fmt.Appendf(nil, "frame %d", i)); err != nil {
				t.Fatal(err)
			}
		}
		g.pass <- nil
		g.pass <- nil
		if err := w.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(g.String(), "\n"); g.writes != 2 || n != 100 {
			t.Errorf("%d frames in %d writes, want 100 in 2", n, g.writes)
		}
	})
}

func TestSendWaitWaitsForSpace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		w := ndjson.NewWriter(g, 10)
		_ = w.Send([]byte("writing"))
		_ = w.Send([]byte("queued789")) // with its newline, it fills the queue
		done := make(chan error)
		go func() { done <- w.SendWait(t.Context(), []byte("waiting")) }()
		synctest.Wait()
		select {
		case err := <-done:
			t.Fatalf("SendWait returned %v while the queue was full", err)
		default:
		}
		g.pass <- nil
		if err := <-done; err != nil {
			t.Errorf("SendWait: %v", err)
		}
		g.pass <- nil
		g.pass <- nil
		if err := w.Flush(t.Context()); err != nil || g.String() != "writing\nqueued789\nwaiting\n" {
			t.Errorf("Flush: %v, written %q", err, g.String())
		}
	})
}

func TestSendWaitServesInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		w := ndjson.NewWriter(g, 10)
		_ = w.Send([]byte("writing"))
		_ = w.Send([]byte("queued789"))
		var wg sync.WaitGroup
		// The first frame is larger than the queue and needs it empty; the small frames behind it must not overtake it.
		for _, frame := range []string{"larger than the queue", "a", "b", "c"} {
			wg.Go(func() {
				if err := w.SendWait(t.Context(), []byte(frame)); err != nil {
					t.Errorf("%s: %v", frame, err)
				}
			})
			synctest.Wait()
		}
		go func() {
			for {
				select {
				case g.pass <- nil:
				case <-t.Context().Done():
					return
				}
			}
		}()
		wg.Wait()
		if err := w.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if want := "writing\nqueued789\nlarger than the queue\na\nb\nc\n"; g.String() != want {
			t.Errorf("written %q, want %q", g.String(), want)
		}
	})
}

func TestSendWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		w := ndjson.NewWriter(g, 10)
		_ = w.Send([]byte("writing"))
		_ = w.Send([]byte("queued789"))
		cause := errors.New("cause")
		ctx, cancel := context.WithCancelCause(t.Context())
		errs := make(chan error)
		for range 2 { // the sender that waits for space, and the sender that waits for its turn
			go func() { errs <- w.SendWait(ctx, []byte("waiting")) }()
			synctest.Wait()
		}
		cancel(cause)
		for range 2 {
			if err := <-errs; err != cause {
				t.Errorf("SendWait: %v, want %v", err, cause)
			}
		}
		if err := w.Flush(ctx); err != cause {
			t.Errorf("Flush: %v, want %v", err, cause)
		}
		g.pass <- nil
		g.pass <- nil
		if err := w.Flush(t.Context()); err != nil {
			t.Error(err)
		}
		if err := w.SendWait(ctx, []byte("free")); err != nil {
			t.Errorf("SendWait with an ended context while there is space: %v, want the frame to be accepted", err)
		}
		g.pass <- nil
		if err := w.Flush(t.Context()); err != nil || !strings.HasSuffix(g.String(), "free\n") {
			t.Errorf("Flush: %v, written %q", err, g.String())
		}
	})
}

func TestTheFirstFailureIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("cause")
		g := newGate()
		w := ndjson.NewWriter(g, 10)
		_ = w.Send([]byte("writing"))
		_ = w.Send([]byte("queued789"))
		errs := make(chan error)
		go func() { errs <- w.SendWait(t.Context(), []byte("waiting")) }()
		go func() { errs <- w.Flush(t.Context()) }()
		synctest.Wait()
		g.pass <- cause
		for range 2 {
			if err := <-errs; !errors.Is(err, cause) || !errors.Is(err, ndjson.ErrClosed) {
				t.Errorf("who waits gets %v, want %v and %v", err, ndjson.ErrClosed, cause)
			}
		}
		for range 2 {
			if err := w.Send([]byte("x")); !errors.Is(err, cause) || !errors.Is(err, ndjson.ErrClosed) {
				t.Errorf("Send: %v, want %v and %v", err, ndjson.ErrClosed, cause)
			}
		}
		if err := w.Close(t.Context()); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
}

// short writes less than requested and returns no error.
type short struct{}

func (short) Write(b []byte) (int, error) { return len(b) - 1, nil }

func TestAShortWriteIsAFailure(t *testing.T) {
	w := ndjson.NewWriter(short{}, 0)
	_ = w.Send([]byte("x"))
	if err := w.Flush(t.Context()); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("Flush: %v, want %v", err, io.ErrShortWrite)
	}
}

func TestSendReportsThatThePeerIsGone(t *testing.T) {
	for _, size := range []int{10, 100_000} {
		r, f := pipe(t)
		w := ndjson.NewWriter(f, 0)
		r.Close()
		if err := w.Send(make([]byte, size)); !errors.Is(err, ndjson.ErrClosed) {
			t.Errorf("Send of %d bytes into a pipe without a reader: %v, want %v", size, err, ndjson.ErrClosed)
		}
	}
	_, f := pipe(t)
	w := ndjson.NewWriter(f, 0)
	f.Close()
	if err := w.Send([]byte("x")); !errors.Is(err, ndjson.ErrClosed) {
		t.Errorf("Send into a closed file: %v, want %v", err, ndjson.ErrClosed)
	}
}

func TestCloseDropsQueuedFrames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		w := ndjson.NewWriter(g, 0)
		_ = w.Send([]byte("writing"))
		_ = w.Send([]byte("queued"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := w.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Close while a stream without deadlines is written to: %v, want %v", err, context.DeadlineExceeded)
		}
		g.pass <- nil
		if err := w.Close(t.Context()); err != nil || g.String() != "writing\n" {
			t.Errorf("Close after the write: %v, written %q, want the frame being written only", err, g.String())
		}
	})
}

func TestCloseInterruptsABlockedWrite(t *testing.T) {
	_, f := pipe(t)
	w := ndjson.NewWriter(f, 0)
	fill(t, w, make([]byte, 10_000))
	before := runtime.NumGoroutine()
	if err := w.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); runtime.NumGoroutine() >= before; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines after Close, %d before, want the flusher gone", runtime.NumGoroutine(), before)
		}
	}
}

func TestWriterWritesToFiles(t *testing.T) {
	name := filepath.Join(t.TempDir(), "frames")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := ndjson.NewWriter(f, 0)
	var want strings.Builder
	for i := range 1000 {
		frame := fmt.Sprintf("frame %d", i)
		want.WriteString(frame + "\n")
		if err := w.SendWait(t.Context(), []byte(frame)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(name); string(got) != want.String() {
		t.Errorf("file has %d bytes, want %d (%v)", len(got), want.Len(), err)
	}
}

func TestSendAllocatesNothingWhenThePeerKeepsUp(t *testing.T) {
	r, f := pipe(t)
	w := ndjson.NewWriter(f, 0)
	frame, buf := make([]byte, 400), make([]byte, 401)
	if n := testing.AllocsPerRun(100, func() {
		if err := w.Send(frame); err != nil {
			t.Error(err)
		}
		if _, err := io.ReadFull(r, buf); err != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

// eager is a pipe to which another goroutine sends during each non-blocking write.
type eager struct {
	*os.File
	meanwhile func()
}

func (e *eager) SyscallConn() (syscall.RawConn, error) {
	conn, err := e.File.SyscallConn()
	return eagerConn{conn, e}, err
}

type eagerConn struct {
	syscall.RawConn
	e *eager
}

func (c eagerConn) Write(f func(uintptr) bool) error {
	c.e.meanwhile()
	return c.RawConn.Write(f)
}

func TestSenderHandsOverContinuousWrites(t *testing.T) {
	r, f := pipe(t)
	e := &eager{File: f}
	w := ndjson.NewWriter(e, 0)
	sent := 1
	e.meanwhile = func() {
		sent++
		if err := w.Send([]byte("more")); err != nil || sent > 1000 {
			t.Fatalf("frame %d: %v", sent, err)
		}
	}
	if err := w.Send([]byte("mine")); err != nil { // returns although there is always more to write
		t.Fatal(err)
	}
	if err := w.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.Close()
	got, err := io.ReadAll(r)
	if want := "mine\n" + strings.Repeat("more\n", sent-1); string(got) != want || err != nil {
		t.Errorf("read %q, %v, want %q", got, err, want)
	}
}

// unready is a stream that has no descriptor.
type unready struct{ bytes.Buffer }

func (*unready) SyscallConn() (syscall.RawConn, error) { return nil, errors.ErrUnsupported }

func TestWriterWorksWithoutAFileDescriptor(t *testing.T) {
	u := &unready{}
	w := ndjson.NewWriter(u, 0)
	_ = w.Send([]byte("x"))
	if err := w.Flush(t.Context()); err != nil || u.String() != "x\n" {
		t.Errorf("Flush: %v, written %q", err, u.String())
	}
}
