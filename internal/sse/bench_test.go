package sse_test

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/mcpotel/mcpotel/internal/sse"
)

// BenchmarkReader reads events of different sizes. peer=floor copies the bytes without reading them.
func BenchmarkReader(b *testing.B) {
	for _, size := range []int{200, 10_000, 1 << 20, 16 << 20} {
		stream := sse.AppendEvent(nil, sse.Event{Name: "message", Data: bytes.Repeat([]byte("x"), size)})
		b.Run(fmt.Sprintf("size=%d/peer=floor", size), func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			src := bytes.NewReader(nil)
			for b.Loop() {
				src.Reset(stream)
				data := make([]byte, len(stream))
				if _, err := io.ReadFull(src, data); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("size=%d/peer=reader", size), func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			src := bytes.NewReader(nil)
			r := sse.NewReader(src, 16<<20, false)
			for b.Loop() {
				src.Reset(stream)
				r.Reset(src)
				if e, err := r.Next(); err != nil || len(e.Data) != size {
					b.Fatal(len(e.Data), err)
				}
			}
		})
	}
}
