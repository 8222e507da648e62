//go:build unix

package filelock

import (
	"os"

	"golang.org/x/sys/unix"
)

// TryLock tries to lock f, and reports whether it got the lock. It does not wait. Closing f, or the end of the process,
// releases the lock.
func TryLock(f *os.File) (held bool, _ error) {
	for {
		switch err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err {
		case nil:
			return true, nil
		case unix.EINTR:
		case unix.EWOULDBLOCK:
			return false, nil
		default:
			return false, err
		}
	}
}
