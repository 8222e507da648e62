package mcpserver

import "syscall"

// dup2 makes the descriptor to another name of from. Not all architectures have a system call of that name.
func dup2(from, to int) error { return syscall.Dup3(from, to, 0) }
