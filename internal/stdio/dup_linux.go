package stdio

import "syscall"

// dup2 turns the second descriptor into a duplicate of the first. It uses dup3, because not all architectures have
// dup2.
func dup2(from, to int) error { return syscall.Dup3(from, to, 0) }
