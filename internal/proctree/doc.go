// Package proctree measures processes together with the processes that they have started: memory, CPU time and age. A
// command such as npx starts the program that does the work, so the numbers of the command alone are useless.
//
// The package reads the file /proc/PID/stat of every process that the user may see. It needs Linux: on other systems
// [Measure] returns nothing.
package proctree

import "time"

// Usage is the use of resources by a process tree: a process, its descendants, and the members of its process group.
type Usage struct {
	Processes int   // number of processes
	Memory    int64 // resident memory in bytes; memory that several processes share counts for each of them

	// User and System are CPU times of the tree's processes, with those of ended processes whose parents have waited for
	// them.
	User, System time.Duration

	Age time.Duration // time since the start of the root process
}
