//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package stdio

import "syscall"

// dup2 turns the second descriptor into a duplicate of the first.
func dup2(from, to int) error { return syscall.Dup2(from, to) }
