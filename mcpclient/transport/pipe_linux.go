package transport

import (
	"os"

	"golang.org/x/sys/unix"
)

// enlarge makes the pipe hold a megabyte, which saves a third of the time a large frame takes. It may be refused: all
// pipes of a user share a quota. Fd would put the descriptor into blocking mode, and then Close could hang.
func enlarge(f *os.File) {
	conn, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = conn.Control(func(fd uintptr) {
		_, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, pipeSize)
	})
}
