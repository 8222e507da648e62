//go:build unix

package transport

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// start makes the child the leader of a new process group. Pdeathsig is not used: it is bound to the thread that forks,
// and the runtime may end that at any time.
func (p *process) start() error {
	p.cmd.SysProcAttr = p.attributes()
	return p.cmd.Start()
}

// terminate asks the group to end.
func (p *process) terminate() { p.send(syscall.SIGTERM) }

// kill ends the group.
func (p *process) kill() { p.send(syscall.SIGKILL) }

// send signals the group, and the child by itself in case it has moved to another one. As long as the child has not
// been reaped, its id is its own.
func (p *process) send(sig syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped {
		return
	}
	_ = syscall.Kill(-p.pid, sig) // an error says that there is no process to signal
	_ = p.cmd.Process.Signal(sig)
}

// exitStatus returns the status of a process, or -1 and the name of the signal that ended it.
func exitStatus(state *os.ProcessState) (code int, signal string) {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return -1, unix.SignalName(status.Signal())
	}
	return state.ExitCode(), ""
}
