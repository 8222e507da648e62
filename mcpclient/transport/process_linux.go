package transport

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// descent is the state that Linux needs in addition to the process group.
type descent struct {
	pidfd int // pidfd of the child, -1 if the kernel does not support pidfds
}

func (d *descent) attributes() *syscall.SysProcAttr {
	d.pidfd = -1
	return &syscall.SysProcAttr{Setpgid: true, PidFD: &d.pidfd}
}

// reap kills the group after the child's end and before the child's id becomes free, so that reap cannot kill another
// group.
func (p *process) reap() {
	p.awaitExit()
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = syscall.Kill(-p.pid, syscall.SIGKILL)
	_ = p.cmd.Wait() // the status is in cmd.ProcessState
	p.reaped = true
}

// awaitExit waits until the child has ended, without reaping it. It waits in the runtime's poller if the kernel
// supports that, and otherwise blocks a thread.
func (p *process) awaitExit() {
	if p.pidfd >= 0 && p.pollExit() {
		return
	}
	for {
		err := unix.Waitid(unix.P_PID, p.pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return // ended, or another goroutine has reaped it
		}
	}
}

// pollExit waits with the runtime's poller and closes the descriptor. It reports false if that is not possible.
func (p *process) pollExit() bool {
	if err := unix.SetNonblock(p.pidfd, true); err != nil {
		_ = unix.Close(p.pidfd)
		return false
	}
	f := os.NewFile(uintptr(p.pidfd), "pidfd")
	defer f.Close()
	conn, err := f.SyscallConn()
	if err != nil {
		return false
	}
	return conn.Read(func(uintptr) bool { return exited(p.pid) }) == nil
}

// exited reports whether the child with this id has ended, without reaping it.
func exited(pid int) bool {
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return err != nil || info.Signo == int32(unix.SIGCHLD)
		}
	}
}
