package benchmarks

import (
	"testing"

	"github.com/mcpotel/mcpotel/benchmarks/workload"
)

// BenchmarkConnect measures the whole life of a client that makes one call.
func BenchmarkConnect(b *testing.B) {
	workload.Connects(b, workload.Floor, workload.FloorJSON, workload.Ours)
}

// BenchmarkFirstCall measures the first call of a connected client.
func BenchmarkFirstCall(b *testing.B) {
	workload.FirstCalls(b, workload.Floor, workload.FloorJSON, workload.Ours)
}
