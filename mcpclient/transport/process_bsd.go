//go:build unix && !linux

package transport

import "syscall"

// descent is empty: the process group needs no further state.
type descent struct{}

func (descent) attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// reap kills the group after its leader was reaped. The group's id is not reused while the group has members; if
// it has none, a new group could get the id for a moment.
func (p *process) reap() {
	_ = p.cmd.Wait() // the status is in cmd.ProcessState
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = syscall.Kill(-p.pid, syscall.SIGKILL)
	p.reaped = true
}
