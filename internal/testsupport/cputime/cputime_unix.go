//go:build unix

// Package cputime measures the CPU time of a test, which depends less on other load than wall-clock time does.
package cputime

import (
	"fmt"
	"syscall"
	"time"
)

// Used returns the CPU time of the process so far.
func Used() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(fmt.Sprintf("cputime: %v", err))
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
