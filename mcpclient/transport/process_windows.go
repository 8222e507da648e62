package transport

import (
	"fmt"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// This file is compiled and vetted, but was never run.

// descent is the job of the child and its descendants.
type descent struct {
	job windows.Handle
}

// start puts the child into a job that ends when its last handle is closed. A descendant that is created between the
// start and the assignment stays outside of the job. The child has its own console process group, so a Ctrl-C for this
// process does not reach it.
func (p *process) start() (err error) {
	if p.job, err = windows.CreateJobObject(nil, nil); err != nil {
		return fmt.Errorf("create job: %w", err)
	}
	defer func() {
		if err != nil {
			_ = windows.CloseHandle(p.job)
		}
	}()
	if err := p.limit(); err != nil {
		return fmt.Errorf("limit job: %w", err)
	}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
	if err := p.cmd.Start(); err != nil {
		return err
	}
	if err := p.assign(); err != nil {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
		return fmt.Errorf("assign process to job: %w", err)
	}
	return nil
}

// limit makes the processes of the job end with the job.
func (p *process) limit() error {
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err := windows.SetInformationJobObject(p.job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	return err
}

func (p *process) assign() error {
	var err error
	failed := p.cmd.Process.WithHandle(func(handle uintptr) {
		err = windows.AssignProcessToJobObject(p.job, windows.Handle(handle))
	})
	if failed != nil {
		return failed
	}
	return err
}

// terminate does nothing: Windows cannot ask a process without a window to end.
func (p *process) terminate() {}

// kill ends the job.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		_ = windows.TerminateJobObject(p.job, 1)
	}
}

// reap ends the remaining processes of the job after the child has ended.
func (p *process) reap() {
	_ = p.cmd.Wait() // the status is in cmd.ProcessState
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = windows.TerminateJobObject(p.job, 1)
	_ = windows.CloseHandle(p.job)
	p.reaped = true
}

// exitStatus returns the exit status of a process. Windows has no signals.
func exitStatus(state *os.ProcessState) (code int, signal string) { return state.ExitCode(), "" }
