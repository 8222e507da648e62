//go:build !unix

package workload

import "time"

// cpuTime returns 0: only Unix systems are measured.
func cpuTime() time.Duration { return 0 }
