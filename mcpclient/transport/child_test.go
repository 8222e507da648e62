//go:build unix

package transport_test

import (
	"bufio"
	"bytes"
	"encoding/gob"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// The child processes of these tests run this test binary. Each connects to the test that has started it, and carries
// out commands.

// driverEnv holds the address of the test that drives this process. It is set only in children.
const driverEnv = "MCPOTEL_TEST_DRIVER"

func TestMain(m *testing.M) {
	if address := os.Getenv(driverEnv); address != "" {
		os.Exit(playChild(address))
	}
	os.Exit(m.Run())
}

// A command is an instruction from a test to a child.
type command struct {
	Seq  int
	Op   op
	Data []byte
	N    int
}

type op string

const (
	opWrite  op = "write"  // write Data to standard output
	opStderr op = "stderr" // write Data to standard error, N times
	opRead   op = "read"   // read a frame from standard input
	opEcho   op = "echo"   // from now on, copy standard input to standard output
	opExit   op = "exit"   // exit with status N
	opKill   op = "kill"   // kill this process with signal N
	opResist op = "resist" // ignore the end of standard input, and SIGTERM
	opMute   op = "mute"   // close standard output
	opFork   op = "fork"   // start another child that resists, in its own session if N is 1
)

// A reply is a child's answer to a command. The child sends the first reply, with the number 0 and the process id,
// without a command.
type reply struct {
	Seq  int
	Data []byte
	N    int
	EOF  bool
	Err  string
}

// child is a process driven by a test.
type child struct {
	mu      sync.Mutex // guards replies
	replies *gob.Encoder

	reads, writes, errors chan command
	hangUp                chan struct{} // closed when standard input has ended
	resist                chan struct{} // closed when the child must ignore the end of standard input
}

func playChild(address string) int {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 100
	}
	c := &child{
		replies: gob.NewEncoder(conn),
		reads:   make(chan command, 1000), writes: make(chan command, 1000), errors: make(chan command, 1000),
		hangUp: make(chan struct{}), resist: make(chan struct{}),
	}
	c.reply(reply{N: os.Getpid()})
	go c.read()
	go c.write(c.writes, os.Stdout)
	go c.write(c.errors, os.Stderr)
	go c.watchStdin()
	commands := gob.NewDecoder(conn)
	for {
		var cmd command
		if commands.Decode(&cmd) != nil {
			return 0 // the test is over
		}
		c.do(cmd)
	}
}

func (c *child) reply(r reply) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.replies.Encode(r) != nil {
		os.Exit(0) // the test is over
	}
}

func (c *child) do(cmd command) {
	r := reply{Seq: cmd.Seq}
	switch cmd.Op {
	case opRead, opEcho:
		c.reads <- cmd
		return
	case opWrite:
		c.writes <- cmd
		return
	case opStderr:
		c.errors <- cmd
		return
	case opExit:
		c.reply(r)
		os.Exit(cmd.N)
	case opKill:
		c.reply(r)
		_ = syscall.Kill(os.Getpid(), syscall.Signal(cmd.N))
		select {}
	case opResist:
		signal.Ignore(syscall.SIGTERM)
		close(c.resist)
	case opMute:
		_ = os.Stdout.Close()
	case opFork:
		r.Err = fork(cmd.N == 1)
	}
	c.reply(r)
}

// fork starts a grandchild with the same streams. The grandchild connects to the test like a child.
func fork(session bool) string {
	exe, err := os.Executable()
	if err != nil {
		return err.Error()
	}
	cmd := exec.Command(exe)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: session}
	if err := cmd.Start(); err != nil {
		return err.Error()
	}
	return ""
}

// write executes the commands that write to f, one after another.
func (c *child) write(commands chan command, f *os.File) {
	for cmd := range commands {
		r := reply{Seq: cmd.Seq}
		for range max(1, cmd.N) {
			if _, err := f.Write(cmd.Data); err != nil {
				r.Err = err.Error()
				break
			}
		}
		c.reply(r)
	}
}

// read executes the commands that read standard input. It ends the process after standard input has ended and
// everything was read.
func (c *child) read() {
	in := bufio.NewReader(os.Stdin)
	hangUp := c.hangUp
	for {
		select {
		case cmd := <-c.reads:
			if cmd.Op == opEcho {
				c.reply(reply{Seq: cmd.Seq})
				_, _ = io.Copy(os.Stdout, in)
				continue
			}
			line, err := in.ReadBytes('\n')
			c.reply(reply{Seq: cmd.Seq, Data: bytes.TrimSuffix(line, []byte{'\n'}), EOF: err != nil})
		case <-hangUp:
			hangUp = nil
		}
		if hangUp == nil && in.Buffered() == 0 && !ready(unix.POLLIN, 0) {
			select {
			case <-c.resist:
			default:
				os.Exit(0)
			}
		}
	}
}

// watchStdin detects the end of standard input without reading it.
func (c *child) watchStdin() {
	for !ready(0, -1) {
	}
	close(c.hangUp)
}

// ready polls standard input for events, and reports whether one is ready. poll reports a hang-up even if events is 0.
func ready(events int16, timeout int) bool {
	fds := []unix.PollFd{{Fd: 0, Events: events}}
	n, err := unix.Poll(fds, timeout)
	if err != nil || n == 0 {
		return false
	}
	return events == 0 || fds[0].Revents&events != 0
}
