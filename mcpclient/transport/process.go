package transport

import (
	"context"
	"os/exec"
	"sync"
)

// process is a child and its descendants, as far as the system keeps them together: a process group on Unix, a job on
// Windows. What differs between systems is in process_*.go: start, terminate, kill and reap, and what they need,
// descent.
type process struct {
	cmd *exec.Cmd
	pid int
	descent

	// mu is held to signal and to reap, and reaped is set when the child's id may belong to another process.
	mu     sync.Mutex
	reaped bool

	ended  chan struct{} // closed when the child has been reaped and its descendants have been killed
	code   int           // set before that: the exit status, -1 if there is none
	signal string        // and the signal instead of it
}

// startProcess starts the command. wait has to be called for it, once.
func startProcess(cmd *exec.Cmd) (*process, error) {
	p := &process{cmd: cmd, ended: make(chan struct{}), code: -1}
	if err := p.start(); err != nil {
		return nil, err
	}
	p.pid = cmd.Process.Pid
	return p, nil
}

// wait waits for the end of the child, kills what it leaves behind, and closes ended. It is called once.
func (p *process) wait() {
	defer close(p.ended)
	p.reap()
	if state := p.cmd.ProcessState; state != nil {
		p.code, p.signal = exitStatus(state)
	}
}

// end makes the process end: it is given its time, then asked, then killed. end reports whether it has ended.
func (p *process) end(ctx context.Context, pt patience) bool {
	if pt.await(ctx, p.ended, 40) {
		return true
	}
	p.terminate()
	if pt.await(ctx, p.ended, 70) {
		return true
	}
	p.kill()
	return within(killWait, p.ended)
}
