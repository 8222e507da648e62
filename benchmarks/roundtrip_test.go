package benchmarks

import (
	"testing"

	"github.com/mcpotel/mcpotel/benchmarks/workload"
)

// BenchmarkRoundtrip measures a call, from its arguments to the typed result, to a server that has its answers ready.
func BenchmarkRoundtrip(b *testing.B) {
	workload.Roundtrips(b, workload.Floor, workload.FloorJSON, workload.Ours)
}

// BenchmarkAsUsed measures calls as programs make them: with arguments in maps, with the program's own HTTP client,
// with the telemetry of a service, with a large heap, by several clients, and with results of the sizes that tools
// return.
func BenchmarkAsUsed(b *testing.B) {
	workload.AsUsed(b, workload.Floor, workload.FloorJSON, workload.Ours)
}
