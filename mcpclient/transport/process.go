package transport

import (
	"context"
	"os/exec"
	"sync"
)

// process is a child with its descendants, as far as the system keeps them together: in a process group on Unix, in a
// job on Windows. The files process_*.go contain the parts that differ between systems: the methods start, terminate,
// kill and reap, and their state, descent.
type process struct {
	cmd *exec.Cmd
	pid int
	descent

	// mu is held to signal and to reap. reaped is set when the child's id may belong to another process.
	mu     sync.Mutex
	reaped bool

	ended  chan struct{} // closed when the child has been reaped and its descendants have been killed
	code   int           // exit status, -1 if none; set before ended is closed
	signal string        // signal that ended the child, "" if none; set before ended is closed
}

// startProcess starts the command. The caller must call wait, once.
func startProcess(cmd *exec.Cmd) (*process, error) {
	p := &process{cmd: cmd, ended: make(chan struct{}), code: -1}
	if err := p.start(); err != nil {
		return nil, err
	}
	p.pid = cmd.Process.Pid
	return p, nil
}

// wait waits for the end of the child, kills its remaining descendants, and closes ended. It is called once.
func (p *process) wait() {
	defer close(p.ended)
	p.reap()
	if state := p.cmd.ProcessState; state != nil {
		p.code, p.signal = exitStatus(state)
	}
}

// end gives the process time to end, then asks it to end, then kills it. It reports whether the process has ended.
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
