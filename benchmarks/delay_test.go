package benchmarks

import (
	"testing"

	"github.com/mcpotel/mcpotel/benchmarks/workload"
)

// BenchmarkDelay is a small answer behind a large one: how long the small one is kept waiting.
func BenchmarkDelay(b *testing.B) {
	workload.Delays(b, workload.Floor, workload.FloorJSON, workload.Ours)
}
