package e2e

import (
	"os/exec"
	"syscall"
)

// diesWithParent ends the process when the test is killed without running its cleanup functions.
func diesWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
