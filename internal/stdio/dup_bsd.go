//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package stdio

import "syscall"

// dup2 makes the descriptor named to a duplicate of the descriptor named from.
func dup2(from, to int) error { return syscall.Dup2(from, to) }
