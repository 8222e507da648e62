package ndjson_test

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"github.com/mcpotel/mcpotel/internal/ndjson"
)

// BenchmarkReader reads frames that another goroutine writes into a pipe. The floor reads and drops the same bytes.
func BenchmarkReader(b *testing.B) {
	for _, size := range []int{1 << 10, 64 << 10, 3 << 19, 5 << 20, 16<<20 - 1} {
		line := append(bytes.Repeat([]byte("x"), size), '\n')
		feed := func(b *testing.B) *os.File {
			r, w, err := os.Pipe()
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { r.Close() })
			go func() { // ends when the benchmark closes the pipe's other end
				defer w.Close()
				for {
					if _, err := w.Write(line); err != nil {
						return
					}
				}
			}()
			return r
		}
		b.Run(fmt.Sprintf("size=%d/floor", size), func(b *testing.B) {
			r := feed(b)
			buf := make([]byte, min(len(line), 256<<10))
			b.SetBytes(int64(size))
			for b.Loop() {
				for left := len(line); left > 0; {
					n, err := r.Read(buf[:min(left, len(buf))])
					if err != nil {
						b.Fatal(err)
					}
					left -= n
				}
			}
		})
		b.Run(fmt.Sprintf("size=%d/reader", size), func(b *testing.B) {
			r := ndjson.NewReader(feed(b), 16<<20, false)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Next(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkWriter(b *testing.B) {
	frame := bytes.Repeat([]byte("x"), 427)
	for _, senders := range []int{1, 8, 64} {
		drained := func(b *testing.B) *os.File {
			r, f, err := os.Pipe()
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { f.Close() })
			go func() { // ends when the pipe is closed
				buf := make([]byte, 1<<20)
				for {
					if _, err := r.Read(buf); err != nil {
						return
					}
				}
			}()
			return f
		}
		b.Run(fmt.Sprintf("senders=%d/floor", senders), func(b *testing.B) {
			f := drained(b)
			line := append(bytes.Clone(frame), '\n')
			b.SetParallelism(senders)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if _, err := f.Write(line); err != nil {
						b.Error(err)
					}
				}
			})
		})
		b.Run(fmt.Sprintf("senders=%d/writer", senders), func(b *testing.B) {
			w := ndjson.NewWriter(drained(b), 0)
			b.ReportAllocs()
			b.SetParallelism(senders)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := w.SendWait(b.Context(), frame); err != nil {
						b.Error(err)
					}
				}
			})
			if err := w.Flush(b.Context()); err != nil {
				b.Error(err)
			}
		})
	}
}
