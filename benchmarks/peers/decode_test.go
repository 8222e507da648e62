package peers_test

import (
	"fmt"
	"testing"

	"github.com/mcpotel/mcpotel/benchmarks/peers"
	"github.com/mcpotel/mcpotel/benchmarks/workload"
)

// BenchmarkDecode has the same cases as BenchmarkDecode in package benchmarks, which has the other peers.
func BenchmarkDecode(b *testing.B) {
	const kib, mib = workload.KiB, workload.MiB
	for _, s := range workload.Shapes {
		for _, size := range []int{workload.Tiny, kib, 10 * kib, 100 * kib, mib, 10 * mib, workload.Limit} {
			if size < 400 && s != workload.Text { // no room for other shapes
				continue
			}
			for _, d := range peers.Decoders {
				b.Run(fmt.Sprintf("shape=%s/size=%s/peer=%s", s, workload.SizeName(size), d.Name), func(b *testing.B) {
					decodes(b, s, size, d.Call)
				})
			}
		}
	}
	for _, d := range peers.Decoders {
		b.Run("shape=tools/size=1000/peer="+d.Name, func(b *testing.B) { decodes(b, workload.Tools, 1000, d.List) })
	}
}

func decodes(b *testing.B, s workload.Shape, size int, decode func([]byte) (int, error)) {
	p := workload.NewPayload(workload.Modern, s, size)
	var free func()
	p.Frame, free = workload.OffHeap(p.Frame)
	defer free()
	one := func() {
		if n, err := decode(p.Frame); err != nil || n != p.Content+p.Tools {
			b.Fatalf("want %d, got %d, %v", p.Content+p.Tools, n, err)
		}
	}
	b.SetBytes(int64(len(p.Frame)))
	b.ReportAllocs()
	cpu := workload.StartCPU()
	for b.Loop() {
		one()
	}
	cpu.Report(b)
	if len(p.Frame) < workload.MiB {
		return
	}
	peak, ok := workload.PeakResident(func() {
		for range 10 {
			one()
		}
	})
	if ok {
		b.ReportMetric(float64(peak)/float64(len(p.Frame)), "peak-x")
	}
}

func TestEveryDecoderFindsTheContent(t *testing.T) {
	for _, d := range peers.Decoders {
		for _, e := range workload.Eras {
			for _, s := range workload.Shapes {
				p := workload.NewPayload(e, s, 10*workload.KiB)
				if n, err := d.Call(p.Frame); err != nil || n != p.Content {
					t.Errorf("%s, %s of %s: want %d bytes of content, got %d, %v", d.Name, s, e, p.Content, n, err)
				}
			}
			p := workload.NewPayload(e, workload.Tools, 100)
			if n, err := d.List(p.Frame); err != nil || n != p.Tools {
				t.Errorf("%s, tools of %s: want %d, got %d, %v", d.Name, e, p.Tools, n, err)
			}
		}
	}
}
