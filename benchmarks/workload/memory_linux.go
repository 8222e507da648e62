package workload

import (
	"bytes"
	"fmt"
	"os"
	"runtime/debug"

	"golang.org/x/sys/unix"
)

// OffHeap returns a copy of b that the collector does not count, where the system allows: with a frame on the heap it
// would wait for as much garbage again. It stays until free.
func OffHeap(b []byte) (c []byte, free func()) {
	m, err := unix.Mmap(-1, 0, max(1, len(b)), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return bytes.Clone(b), func() {}
	}
	return m[:copy(m, b)], func() { _ = unix.Munmap(m) }
}

// PeakResident returns by how many bytes the memory of this process that is resident grows at most while f runs. It
// returns false where the system does not tell.
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

// resident returns a line of /proc/self/status in bytes.
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
