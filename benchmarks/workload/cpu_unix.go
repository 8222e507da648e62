//go:build unix

package workload

import (
	"syscall"
	"time"
)

// cpuTime returns the CPU time, user and system, that this process has used, and those of its children that have ended
// and been waited for.
func cpuTime() time.Duration {
	var total time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) == nil {
			total += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return total
}
