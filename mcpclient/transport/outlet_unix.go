//go:build unix

package transport

import (
	"os"
	"syscall"
)

// readNow reads available data without waiting, even after the deadline. EAGAIN means that there is no data.
func readNow(f *os.File, p []byte) (n int, err error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return 0, err
	}
	failed := conn.Control(func(fd uintptr) {
		for {
			if n, err = syscall.Read(int(fd), p); err != syscall.EINTR {
				return
			}
		}
	})
	if failed != nil {
		return 0, failed
	}
	return max(n, 0), err
}
