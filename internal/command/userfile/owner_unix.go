//go:build unix

package userfile

import (
	"io/fs"
	"syscall"
)

// Owner returns the id of the user who owns a file.
func Owner(info fs.FileInfo) (uid int, known bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(s.Uid), true
}
