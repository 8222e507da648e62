package e2e

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// process is a server over HTTP that a test has started, and that ends with the test.
type process struct {
	url    string // without a path
	cmd    *exec.Cmd
	exited chan struct{}
	said   transcript
}

// kill ends the process at once and waits until it is gone.
func (p *process) kill() {
	p.cmd.Process.Kill()
	<-p.exited
}

// transcript is what a process has said on standard error, so far.
type transcript struct {
	mu    sync.Mutex
	lines []string // guarded by mu
}

func (t *transcript) add(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, line)
}

func (t *transcript) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(t.lines[max(0, len(t.lines)-20):], "\n")
}

// launch starts a process. Each line of its standard error goes to heard until there is no more.
func launch(t *testing.T, s transport.Stdio, heard func(line string)) *process {
	t.Helper()
	p := &process{cmd: exec.Command(s.Command, s.Args...), exited: make(chan struct{})}
	p.cmd.Env, p.cmd.Dir = s.Env, s.Dir
	diesWithParent(p.cmd)
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.exited)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			p.said.add(lines.Text())
			heard(lines.Text())
		}
		io.Copy(io.Discard, stderr) // after a line that is too long
		p.cmd.Wait()
	}()
	t.Cleanup(p.kill)
	return p
}

// startTimeout is what a server gets to listen. Node takes a second on a busy machine.
const startTimeout = time.Minute

var listening = regexp.MustCompile(`listening on (http://127\.0\.0\.1:\d+)`)

// announced starts a server that says where it listens, as those of ours do and those under loopback.mjs: at address,
// or anywhere if that is empty.
func announced(t *testing.T, s transport.Stdio, address string) *process {
	t.Helper()
	if _, port, err := net.SplitHostPort(address); err == nil {
		s.Env = append(s.Env, "MCPOTEL_PORT="+port)
	}
	urls := make(chan string, 1)
	p := launch(t, s, func(line string) {
		if m := listening.FindStringSubmatch(line); m != nil {
			select {
			case urls <- m[1]:
			default: // it listens in more than one place: the first counts
			}
		}
	})
	select {
	case p.url = <-urls:
	case <-p.exited:
		t.Fatalf("%s exited before it listened:\n%s", s.Command, &p.said)
	case <-time.After(startTimeout):
		t.Fatalf("%s does not listen after %v:\n%s", s.Command, startTimeout, &p.said)
	}
	return p
}

// assigned starts a server that has to be told its address. Without one it gets a free port; a process that takes it in
// between makes it exit, and it is started again with another.
func assigned(t *testing.T, address string, command func(host, port string) transport.Stdio) *process {
	t.Helper()
	for range 5 {
		address := cmp.Or(address, freeAddress(t))
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			t.Fatal(err)
		}
		p := launch(t, command(host, port), func(string) {})
		p.url = "http://" + address
		if accepts(p, address) {
			return p
		}
		t.Logf("%s: %s", address, &p.said)
		p.kill()
	}
	t.Fatal("no port was left for the server")
	return nil
}

// The ports of freeAddress are below those that the system gives to listeners of port 0 and to outgoing connections.
const (
	firstPort = 20_000
	ports     = 10_000
)

// lastPort is the last port that freeAddress returned, less firstPort. Two runs of the tests begin in different places.
var lastPort atomic.Uint32

func init() { lastPort.Store(rand.Uint32N(ports)) }

// freeAddress returns an address at which nothing listens, another one each time.
func freeAddress(t *testing.T) string {
	t.Helper()
	var err error
	for range 100 {
		address := net.JoinHostPort("127.0.0.1", fmt.Sprint(firstPort+lastPort.Add(1)%ports))
		var listener net.Listener
		if listener, err = net.Listen("tcp", address); err == nil {
			listener.Close()
			return address
		}
	}
	t.Fatalf("no port is free: %v", err)
	return ""
}

// accepts waits until the process takes connections; false means that it exited or did not in time.
func accepts(p *process, address string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for {
		if conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address); err == nil {
			conn.Close()
			return true
		}
		select {
		case <-again.C:
		case <-p.exited:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// node is a script of an npm package under loopback.mjs, which gives it a free port.
func node(t *testing.T, script string, args ...string) transport.Stdio {
	t.Helper()
	s := npm(script, args...)(t, "")
	s.Args = append([]string{"--import", installed(t) + "/npm/loopback.mjs"}, s.Args...)
	return s
}
