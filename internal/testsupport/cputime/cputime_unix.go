//go:build unix

// Package cputime says how much CPU time a test has used, which a busy machine changes less than the clock.
package cputime

import (
	"fmt"
	"syscall"
	"time"
)

// Used is what the process has used so far.
func Used() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(fmt.Sprintf("cputime: %v", err))
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
