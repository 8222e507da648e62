package benchmarks

import (
	"testing"

	"github.com/mcpotel/mcpotel/benchmarks/workload"
)

// BenchmarkRoundtrip is a call, from its arguments to the typed result, of a server that has its answers ready.
func BenchmarkRoundtrip(b *testing.B) {
	workload.Roundtrips(b, workload.Floor, workload.FloorJSON, workload.Ours)
}

// BenchmarkAsUsed is the same as people use it: arguments in maps, HTTP clients of their own, in production, in a large
// heap, by several clients, with results of the sizes that tools return.
func BenchmarkAsUsed(b *testing.B) {
	workload.AsUsed(b, workload.Floor, workload.FloorJSON, workload.Ours)
}
