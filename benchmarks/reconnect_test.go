package benchmarks

import (
	"testing"

	"github.com/mcpotel/mcpotel/benchmarks/workload"
)

// BenchmarkReconnect measures the first call after the server has stopped and restarted at once.
func BenchmarkReconnect(b *testing.B) {
	workload.Reconnects(b, workload.Floor, workload.FloorJSON, workload.Ours)
}

// BenchmarkOutput measures a call whose structured content is decoded into the user's struct: CallToolAs.
func BenchmarkOutput(b *testing.B) { workload.Outputs(b, workload.FloorJSON, workload.Ours) }
