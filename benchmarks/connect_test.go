package benchmarks

import (
	"testing"

	"github.com/mcpotel/mcpotel/benchmarks/workload"
)

// BenchmarkConnect is the whole life of a client that makes one call.
func BenchmarkConnect(b *testing.B) {
	workload.Connects(b, workload.Floor, workload.FloorJSON, workload.Ours)
}

// BenchmarkFirstCall is the first call of a client that is connected.
func BenchmarkFirstCall(b *testing.B) {
	workload.FirstCalls(b, workload.Floor, workload.FloorJSON, workload.Ours)
}
