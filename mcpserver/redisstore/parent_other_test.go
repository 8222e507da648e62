//go:build !linux

package redisstore_test

import "os/exec"

// diesWithParent does nothing, because the system cannot do this: if the test process is killed, the process keeps
// running.
func diesWithParent(*exec.Cmd) {}
