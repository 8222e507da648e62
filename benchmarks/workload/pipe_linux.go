package workload

import (
	"os"

	"golang.org/x/sys/unix"
)

// enlarge sets the capacity of a pipe to a megabyte, as our client does for its child processes. The system may refuse
// that, because all pipes of a user share a quota.
func enlarge(f *os.File) {
	conn, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = conn.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, 1<<20) })
}
