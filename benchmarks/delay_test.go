package benchmarks

import (
	"testing"

	"github.com/mcpotel/mcpotel/benchmarks/workload"
)

// BenchmarkDelay measures how long a small answer waits behind a large one.
func BenchmarkDelay(b *testing.B) {
	workload.Delays(b, workload.Floor, workload.FloorJSON, workload.Ours)
}
