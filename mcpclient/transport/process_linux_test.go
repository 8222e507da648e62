package transport

import (
	"io"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestExitIsDetectedWithoutPidfd(t *testing.T) {
	p, _ := startCat(t)
	if p.pidfd >= 0 {
		if err := unix.Close(p.pidfd); err != nil {
			t.Fatal(err)
		}
	}
	p.pidfd = -1
	go p.wait()
	p.kill()
	<-p.ended
	if p.code != -1 || p.signal != "SIGKILL" {
		t.Errorf("want the process ended by SIGKILL, got %d and %q", p.code, p.signal)
	}
}

func TestExitedDoesNotReapTheProcess(t *testing.T) {
	p, err := startProcess(exec.Command("true"))
	if err != nil {
		t.Fatal(err)
	}
	p.awaitExit()
	for range 2 {
		if !exited(p.pid) {
			t.Errorf("want exited to return true every time")
		}
	}
	if err := syscall.Kill(p.pid, 0); err != nil {
		t.Errorf("want the id of the process still taken, got %v", err)
	}
	p.wait()
	if p.code != 0 || p.signal != "" {
		t.Errorf("want status 0, got %d and %q", p.code, p.signal)
	}
	if err := syscall.Kill(p.pid, 0); err != syscall.ESRCH {
		t.Errorf("want the process reaped, got %v", err)
	}
}

func TestNoSignalIsSentAfterReaping(t *testing.T) {
	p, err := startProcess(exec.Command("true"))
	if err != nil {
		t.Fatal(err)
	}
	p.wait()
	other, says := startCat(t)
	p.pid = other.pid // as if another process had got the id
	p.terminate()
	p.kill()
	if !says("alive") {
		t.Error("want no signal to the process that has the id now, but it is dead")
	}
	other.kill()
	other.wait()
}

// startCat starts cat. says sends a word to cat and reports whether cat sends the word back.
func startCat(t *testing.T) (p *process, says func(word string) bool) {
	t.Helper()
	cmd := exec.Command("cat")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if p, err = startProcess(cmd); err != nil {
		t.Fatal(err)
	}
	return p, func(word string) bool {
		_, _ = io.WriteString(stdin, word)
		heard := make([]byte, len(word))
		_, err := io.ReadFull(stdout, heard)
		return err == nil && string(heard) == word
	}
}

func TestPipesAreLargeAndNonBlocking(t *testing.T) {
	conn, err := Stdio{Command: "cat"}.Dial(t.Context(), Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	c := conn.(*stdioConn)
	flags := func(f syscall.Conn, cmd int) (n int) {
		raw, err := f.SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		if err := raw.Control(func(fd uintptr) { n, err = unix.FcntlInt(fd, cmd, 0) }); err != nil {
			t.Fatal(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for name, f := range map[string]syscall.Conn{"stdin": c.stdin, "stdout": c.stdout.f, "stderr": c.stderr.f} {
		if flags(f, unix.F_GETFL)&unix.O_NONBLOCK == 0 {
			t.Errorf("want our end of %s in non-blocking mode, got blocking", name)
		}
	}
	if got := flags(c.stdout.f, unix.F_GETPIPE_SZ); got != pipeSize && got != 64<<10 {
		t.Errorf("want a pipe of %d bytes, or of 64 KiB if the system refuses, got %d", pipeSize, got)
	}
}
