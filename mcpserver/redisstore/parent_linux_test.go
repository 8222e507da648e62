package redisstore_test

import (
	"os/exec"
	"syscall"
)

// diesWithParent makes the process end when the test process is killed, because a killed test runs no cleanup.
func diesWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
