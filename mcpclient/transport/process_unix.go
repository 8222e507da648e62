//go:build unix

package transport

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// start makes the child the leader of a new process group. It does not use Pdeathsig, which is bound to the
// forking thread: the runtime may end that thread at any time.
func (p *process) start() error {
	p.cmd.SysProcAttr = p.attributes()
	return p.cmd.Start()
}

// terminate sends SIGTERM to the group.
func (p *process) terminate() { p.send(syscall.SIGTERM) }

// kill sends SIGKILL to the group.
func (p *process) kill() { p.send(syscall.SIGKILL) }

// send signals the group, and also the child itself in case the child has changed its group. Until the child is reaped,
// its id is not reused.
func (p *process) send(sig syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped {
		return
	}
	_ = syscall.Kill(-p.pid, sig) // an error means that the process does not exist
	_ = p.cmd.Process.Signal(sig)
}

// exitStatus returns the status of a process, or -1 and the name of the signal that ended it.
func exitStatus(state *os.ProcessState) (code int, signal string) {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return -1, unix.SignalName(status.Signal())
	}
	return state.ExitCode(), ""
}
