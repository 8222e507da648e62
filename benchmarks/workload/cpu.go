package workload

import (
	"testing"
	"time"
)

// CPU measures the CPU time of a benchmark's loop.
type CPU struct{ from time.Duration }

// StartCPU begins to measure. A child that is alive when the loop ends is not in the figure; one that was started and
// waited for in the loop is.
func StartCPU() CPU { return CPU{cpuTime()} }

// Spent returns the CPU time since then, 0 where the system does not tell.
func (c CPU) Spent() time.Duration { return cpuTime() - c.from }

// Report reports cpu-ns/op, at the end of the loop; nothing where the system does not tell.
func (c CPU) Report(b *testing.B) {
	if spent := c.Spent(); spent > 0 {
		b.ReportMetric(float64(spent)/float64(b.N), "cpu-ns/op")
	}
}
