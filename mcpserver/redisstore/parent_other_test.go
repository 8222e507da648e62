//go:build !linux

package redisstore_test

import "os/exec"

// diesWithParent does nothing on systems without such a function: a killed test leaves the process running.
func diesWithParent(*exec.Cmd) {}
