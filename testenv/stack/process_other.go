//go:build !linux

package stack

import (
	"os"
	"os/exec"
	"syscall"
)

func attributes() *syscall.SysProcAttr { return nil }

// terminate asks the process to end, or kills it on systems without such a request.
func terminate(cmd *exec.Cmd) {
	if cmd.Process.Signal(os.Interrupt) != nil {
		kill(cmd)
	}
}

func kill(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
