//go:build unix

package workload

import (
	"syscall"
	"time"
)

// cpuTime returns the CPU time, user and system, of this process and of its children that have ended and been waited
// for.
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
