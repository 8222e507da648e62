//go:build unix && !linux

package transport

import "syscall"

// descent is empty: the process group is all there is.
type descent struct{}

func (descent) attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// reap kills the group when its leader has been reaped. Its id is not given away as long as the group has members; if
// it has none, there is a moment in which a new group could get it.
func (p *process) reap() {
	_ = p.cmd.Wait() // the status is in cmd.ProcessState
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = syscall.Kill(-p.pid, syscall.SIGKILL)
	p.reaped = true
}
