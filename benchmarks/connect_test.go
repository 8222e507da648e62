package benchmarks

import (
	"testing"

	"github.com/mcpotel/mcpotel/benchmarks/workload"
)

// BenchmarkConnect is the whole life of a client that makes one call.
func BenchmarkConnect(b *testing.B) {
	workload.Connects(b, workload.Floor, workload.FloorJSON, workload.Ours)
}
