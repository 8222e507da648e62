package benchmarks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"testing"

	"github.com/mcpotel/mcpotel/benchmarks/workload"
	"github.com/mcpotel/mcpotel/internal/ndjson"
	"github.com/mcpotel/mcpotel/internal/oversize"
)

// BenchmarkFramesRead reads frames from a pipe that another goroutine fills. The floor reads the same bytes into one
// buffer and drops them; v1 is a json.Decoder that decodes into json.RawMessage. The CPU time includes the writer.
func BenchmarkFramesRead(b *testing.B) {
	for _, size := range sizes {
		line := append(workload.NewPayload(workload.Modern, workload.Text, size).Frame, '\n')
		name := fmt.Sprintf("transport=pipe/size=%s/peer=", workload.SizeName(size))
		b.Run(name+"floor", func(b *testing.B) {
			r, buf := feed(b, line), make([]byte, min(len(line), 256<<10))
			each(b, size, func() error { return drop(r, buf, len(line)) })
		})
		b.Run(name+"v1", func(b *testing.B) {
			d := json.NewDecoder(feed(b, line))
			each(b, size, func() error {
				var raw json.RawMessage
				return d.Decode(&raw)
			})
		})
		b.Run(name+"ours", func(b *testing.B) {
			r := ndjson.NewReader(feed(b, line), 16<<20, false)
			each(b, size, func() error {
				_, err := r.Next()
				return err
			})
		})
	}
}

// drop reads and discards left bytes. Each read overwrites buf.
func drop(r io.Reader, buf []byte, left int) error {
	for left > 0 {
		n, err := r.Read(buf[:min(left, len(buf))])
		if err != nil {
			return err
		}
		left -= n
	}
	return nil
}

// BenchmarkFramesRejected reads frames that exceed a limit of 64 KiB and must be skipped. The floor reads and drops
// them.
func BenchmarkFramesRejected(b *testing.B) {
	for _, size := range []int{100 * workload.KiB, workload.MiB, workload.Limit} {
		line := append(workload.NewPayload(workload.Modern, workload.Text, size).Frame, '\n')
		name := fmt.Sprintf("transport=pipe/size=%s/peer=", workload.SizeName(size))
		b.Run(name+"floor", func(b *testing.B) {
			r, buf := feed(b, line), make([]byte, 64<<10)
			each(b, size, func() error { return drop(r, buf, len(line)) })
		})
		b.Run(name+"ours", func(b *testing.B) {
			r := ndjson.NewReader(feed(b, line), 64<<10, true)
			each(b, size, func() error {
				if _, err := r.Next(); !errors.As(err, new(*oversize.Error)) {
					return fmt.Errorf("want the frame rejected, got %v", err)
				}
				return nil
			})
		})
	}
}

// BenchmarkFramesWrite sends requests into a pipe that another goroutine empties. The floor writes each frame with one
// system call, in which senders wait for each other. Peer ours queues frames during a write, and writes all queued
// frames together. An op is one frame.
func BenchmarkFramesWrite(b *testing.B) {
	frame := bytes.Repeat([]byte("x"), requestSize)
	for _, callers := range []int{1, 8, 64, 512} {
		name := fmt.Sprintf("transport=pipe/size=%dB/callers=%d/peer=", requestSize, callers)
		b.Run(name+"floor", func(b *testing.B) {
			w, line := drain(b), append(bytes.Clone(frame), '\n')
			senders(b, callers, func() error {
				_, err := w.Write(line)
				return err
			})
		})
		b.Run(name+"ours", func(b *testing.B) {
			w := ndjson.NewWriter(drain(b), 0)
			senders(b, callers, func() error { return w.SendWait(b.Context(), frame) })
			if err := w.Flush(b.Context()); err != nil {
				b.Error(err)
			}
		})
	}
}

// senders measures b.N calls of f, which this number of goroutines share.
func senders(b *testing.B, callers int, f func() error) {
	b.SetBytes(requestSize)
	b.ReportAllocs()
	b.ResetTimer()
	cpu := workload.StartCPU()
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			for range b.N*(i+1)/callers - b.N*i/callers {
				if err := f(); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	cpu.Report(b)
	b.StopTimer()
}

// feed returns a pipe. A goroutine writes the line into it again and again, whenever the pipe has room.
func feed(b *testing.B, line []byte) *os.File {
	r, w, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	var writer sync.WaitGroup
	writer.Go(func() { // ends when the pipe's other end is closed
		defer w.Close()
		for {
			if _, err := w.Write(line); err != nil {
				return
			}
		}
	})
	b.Cleanup(func() {
		_ = r.Close()
		writer.Wait()
	})
	return r
}

// drain returns a pipe that a goroutine reads continuously.
func drain(b *testing.B) *os.File {
	r, w, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	var reader sync.WaitGroup
	reader.Go(func() { // ends when the pipe's other end is closed
		defer r.Close()
		buf := make([]byte, 1<<20)
		for {
			if _, err := r.Read(buf); err != nil {
				return
			}
		}
	})
	b.Cleanup(func() {
		_ = w.Close()
		reader.Wait()
	})
	return w
}
