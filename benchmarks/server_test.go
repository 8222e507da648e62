package benchmarks

import (
	"testing"

	"github.com/mcpotel/mcpotel/benchmarks/workload"
)

// BenchmarkServer measures a tool call by a client with prepared requests.
func BenchmarkServer(b *testing.B) {
	workload.Servers(b, workload.FloorServer, workload.FloorJSONServer, workload.OursServer)
}
