package benchmarks

import (
	"testing"

	"github.com/mcpotel/mcpotel/benchmarks/workload"
)

// BenchmarkRoundtrip is a call, from its arguments to the typed result, of a server that has its answers ready.
func BenchmarkRoundtrip(b *testing.B) {
	workload.Roundtrips(b, workload.Floor, workload.FloorJSON, workload.Ours)
}
