//go:build unix && !linux

package transport

import "syscall"

// descent is empty: the process group needs no further state.
type descent struct{}

func (descent) attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// reap kills the group after it has reaped the group's leader. The system does not reuse the group's id while the group
// has members. If the leader was the last member, a new group could get the id between the two steps.
func (p *process) reap() {
	_ = p.cmd.Wait() // the status is in cmd.ProcessState
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = syscall.Kill(-p.pid, syscall.SIGKILL)
	p.reaped = true
}
