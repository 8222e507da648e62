package redisstore_test

import (
	"os/exec"
	"syscall"
)

// diesWithParent ends the process when the test is killed, which runs no cleanup.
func diesWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
