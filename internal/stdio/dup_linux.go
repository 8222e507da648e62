package stdio

import "syscall"

// dup2 makes the descriptor named to a duplicate of the descriptor named from. It uses dup3, because not all
// architectures have dup2.
func dup2(from, to int) error { return syscall.Dup3(from, to, 0) }
