package workload

import (
	"testing"
	"time"
)

// CPU measures the CPU time of a benchmark's loop.
type CPU struct{ from time.Duration }

// StartCPU starts the measurement. It includes children that are started and waited for in the loop, and excludes
// children that still run at its end.
func StartCPU() CPU { return CPU{cpuTime()} }

// Spent returns the CPU time since StartCPU, or 0 if the system does not provide it.
func (c CPU) Spent() time.Duration { return cpuTime() - c.from }

// Report reports cpu-ns/op at the end of the loop, if the system provides it.
func (c CPU) Report(b *testing.B) {
	if spent := c.Spent(); spent > 0 {
		b.ReportMetric(float64(spent)/float64(b.N), "cpu-ns/op")
	}
}
