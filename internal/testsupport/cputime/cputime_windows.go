package cputime

import (
	"fmt"
	"syscall"
	"time"
)

// Used returns the CPU time of the process so far.
func Used() time.Duration {
	process, err := syscall.GetCurrentProcess()
	if err != nil {
		panic(fmt.Sprintf("cputime: %v", err))
	}
	var created, ended, kernel, user syscall.Filetime
	if err := syscall.GetProcessTimes(process, &created, &ended, &kernel, &user); err != nil {
		panic(fmt.Sprintf("cputime: %v", err))
	}
	ticks := func(f syscall.Filetime) int64 { return int64(f.HighDateTime)<<32 | int64(f.LowDateTime) }
	return time.Duration(100 * (ticks(kernel) + ticks(user)))
}
