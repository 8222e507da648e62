package benchmarks

import (
	"os"
	"testing"

	"github.com/mcpotel/mcpotel/benchmarks/workload"
)

// A test binary is also the canned server of its own clients.
func TestMain(m *testing.M) {
	workload.Play()
	os.Exit(m.Run())
}
