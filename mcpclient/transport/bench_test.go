//go:build unix

package transport_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// BenchmarkRoundTrip sends a frame to cat and receives it. peer=floor moves the same bytes without the transport.
func BenchmarkRoundTrip(b *testing.B) {
	cat := transport.Stdio{Command: "cat"}
	for _, size := range []int{200, 10_000, 1 << 20} {
		name := func(peer string) string { return fmt.Sprintf("size=%d/peer=%s", size, peer) }
		b.Run(name("floor"), func(b *testing.B) { roundTripFloor(b, size) })
		b.Run(name("stdio"), func(b *testing.B) { roundTrip(b, cat, context.Background(), size) })
		b.Run(name("stdio-cancellable"), func(b *testing.B) { roundTrip(b, cat, b.Context(), size) })
		b.Run(name("inmemory"), func(b *testing.B) { roundTrip(b, transport.InMemory(echo), context.Background(), size) })
	}
}

func roundTrip(b *testing.B, t transport.Transport, ctx context.Context, size int) {
	conn, err := t.Dial(b.Context(), transport.Config{})
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close(context.Background())
	m := transport.Message{Data: bytes.Repeat([]byte("f"), size)}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		for err := conn.Send(ctx, m); err != nil; err = conn.Send(ctx, m) {
			if !errors.Is(err, transport.ErrBusy) { // the frame that was just received may still occupy the queue
				b.Fatal(err)
			}
			runtime.Gosched()
		}
		if _, err := conn.Receive(ctx); err != nil {
			b.Fatal(err)
		}
	}
}

func roundTripFloor(b *testing.B, size int) {
	cmd := exec.Command("cat")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() {
		_ = stdin.Close()
		_ = cmd.Wait()
	}()
	frame, in := append(bytes.Repeat([]byte("f"), size), '\n'), make([]byte, size+1)
	write := func() { _, _ = stdin.Write(frame) }
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		if size > 32<<10 { // more than the pipes hold
			go write()
		} else {
			write()
		}
		if _, err := io.ReadFull(stdout, in); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLifetime starts cat and closes the connection.
func BenchmarkLifetime(b *testing.B) {
	for b.Loop() {
		conn, err := transport.Stdio{Command: "cat"}.Dial(b.Context(), transport.Config{})
		if err != nil {
			b.Fatal(err)
		}
		if err := conn.Close(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCloseResisted closes a connection with a deadline in 100 ms. The child ignores everything but SIGKILL.
func BenchmarkCloseResisted(b *testing.B) {
	h := newHarness(b)
	var total time.Duration
	for b.Loop() {
		conn, child := h.dial(h.stdio(), transport.Config{})
		h.do(child, command{Op: opResist})
		ctx, cancel := context.WithTimeout(b.Context(), 100*time.Millisecond)
		start := time.Now()
		if err := conn.Close(ctx); err != nil {
			b.Fatal(err)
		}
		total += time.Since(start)
		cancel()
	}
	b.ReportMetric(float64(total.Microseconds())/1000/float64(b.N), "ms/close")
}

// BenchmarkIdle reports the memory of an idle connection in this process.
func BenchmarkIdle(b *testing.B) {
	const n = 100
	used := func() (heap, stacks float64) {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc) / n / 1024, float64(m.StackInuse) / n / 1024
	}
	for b.Loop() {
		heap, stacks := used()
		goroutines := runtime.NumGoroutine()
		conns := make([]transport.Conn, n)
		for i := range conns {
			conn, err := transport.Stdio{Command: "cat"}.Dial(b.Context(), transport.Config{})
			if err != nil {
				b.Fatal(err)
			}
			conns[i] = conn
		}
		heapNow, stacksNow := used()
		b.ReportMetric(heapNow-heap, "heap-KiB/conn")
		b.ReportMetric(stacksNow-stacks, "stack-KiB/conn")
		b.ReportMetric(float64(runtime.NumGoroutine()-goroutines)/n, "goroutines/conn")
		for _, conn := range conns {
			if err := conn.Close(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	}
}
