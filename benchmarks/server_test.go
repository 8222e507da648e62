package benchmarks

import (
	"testing"

	"github.com/mcpotel/mcpotel/benchmarks/workload"
)

// BenchmarkServer is a call of a tool, by a client that has its requests ready.
func BenchmarkServer(b *testing.B) {
	workload.Servers(b, workload.FloorServer, workload.FloorJSONServer, workload.OursServer)
}
