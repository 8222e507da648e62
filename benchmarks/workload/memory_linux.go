package workload

import (
	"bytes"
	"fmt"
	"os"
	"runtime/debug"

	"golang.org/x/sys/unix"
)

// OffHeap returns a copy of b outside the heap, if the system allows it: a frame on the heap would let the collector
// wait for the same amount of garbage. The copy is valid until free is called.
func OffHeap(b []byte) (c []byte, free func()) {
	m, err := unix.Mmap(-1, 0, max(1, len(b)), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return bytes.Clone(b), func() {}
	}
	return m[:copy(m, b)], func() { _ = unix.Munmap(m) }
}

// PeakResident returns the maximum growth of this process's resident memory while f runs, in bytes. It returns false if
// the system does not provide it.
func PeakResident(f func()) (int, bool) {
	debug.FreeOSMemory()
	if os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) != nil { // resets VmHWM
		return 0, false
	}
	before, ok := resident("VmRSS:")
	f()
	peak, ok2 := resident("VmHWM:")
	return peak - before, ok && ok2
}

// resident returns the value of a line in /proc/self/status, in bytes.
func resident(name string) (n int, ok bool) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, false
	}
	_, rest, found := bytes.Cut(status, []byte("\n"+name))
	if !found {
		return 0, false
	}
	_, err = fmt.Sscan(string(rest[:min(len(rest), 40)]), &n)
	return n << 10, err == nil
}
