package benchmarks

import (
	"errors"
	"testing"

	"github.com/mcpotel/mcpotel/benchmarks/workload"
)

var errWrong = errors.New("not what was expected")

// each measures f. size is the number of bytes that f handles, for the rate in MB/s; zero if f does not read the bytes.
func each(b *testing.B, size int, f func() error) {
	b.Helper()
	b.SetBytes(int64(size))
	b.ReportAllocs()
	cpu := workload.StartCPU()
	for b.Loop() {
		if err := f(); err != nil {
			b.Fatal(err)
		}
	}
	cpu.Report(b)
}

// payload returns an answer of the modern era whose frame is not on the heap. It must not be written to.
func payload(b *testing.B, s workload.Shape, size int) workload.Payload {
	p := workload.NewPayload(workload.Modern, s, size)
	var free func()
	p.Frame, free = workload.OffHeap(p.Frame)
	b.Cleanup(free)
	return p
}
