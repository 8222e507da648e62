package benchmarks

import (
	"testing"

	"github.com/mcpotel/mcpotel/benchmarks/workload"
)

// BenchmarkReconnect is a call to a server that has gone since the last one, and is there anew at once.
func BenchmarkReconnect(b *testing.B) {
	workload.Reconnects(b, workload.Floor, workload.FloorJSON, workload.Ours)
}

// BenchmarkOutput is a call whose structured content becomes a struct of the user's: CallToolAs.
func BenchmarkOutput(b *testing.B) { workload.Outputs(b, workload.FloorJSON, workload.Ours) }
