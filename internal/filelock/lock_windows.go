package filelock

import (
	"errors"
	"math"
	"os"

	"golang.org/x/sys/windows"
)

// TryLock tries to lock f, and reports whether it got the lock. It does not wait. Closing f, or the end of the process,
// releases the lock. The locked byte is beyond the end of every file, because other processes cannot read a locked byte
// on Windows.
func TryLock(f *os.File) (held bool, _ error) {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0,
		1, 0, &windows.Overlapped{Offset: math.MaxUint32, OffsetHigh: math.MaxInt32})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}
