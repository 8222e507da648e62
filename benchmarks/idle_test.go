package benchmarks

import (
	"testing"

	"github.com/mcpotel/mcpotel/benchmarks/workload"
)

// BenchmarkIdleClient is what many clients hold that wait.
func BenchmarkIdleClient(b *testing.B) {
	workload.Idles(b, workload.Floor, workload.FloorJSON, workload.Ours)
}

// BenchmarkIdleServer is what many sessions of one server hold that wait.
func BenchmarkIdleServer(b *testing.B) {
	workload.IdleServers(b, workload.FloorServer, workload.FloorJSONServer, workload.OursServer)
}
