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

// process is an HTTP server that a test has started. It ends with the test.
type process struct {
	url    string // without a path
	cmd    *exec.Cmd
	exited chan struct{}
	said   transcript
}

// kill kills the process and waits for its end.
func (p *process) kill() {
	p.cmd.Process.Kill()
	<-p.exited
}

// transcript records the standard error of a process.
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

// launch starts a process and calls heard with each line of its standard error, until standard error ends.
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
		io.Copy(io.Discard, stderr) // after an overlong line
		p.cmd.Wait()
	}()
	t.Cleanup(p.kill)
	return p
}

// startTimeout bounds the time until a server listens. Node takes a second on a busy machine.
const startTimeout = time.Minute

var listening = regexp.MustCompile(`listening on (http://127\.0\.0\.1:\d+)`)

// announced starts a server that prints its address: this module's servers, and those under loopback.mjs. It listens at
// address, or at any free address if address is empty.
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
			default: // a server with several addresses: the first counts
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

// assigned starts a server that needs an address as its argument. If address is empty, it picks a free port, and tries
// again with another port if a different process takes that port first.
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

// The ports of freeAddress are below the ports that the system assigns to listeners of port 0 and to outgoing
// connections.
const (
	firstPort = 20_000
	ports     = 10_000
)

// lastPort is the port that freeAddress returned last, minus firstPort. It starts at random, so that two test runs use
// different ports.
var lastPort atomic.Uint32

func init() { lastPort.Store(rand.Uint32N(ports)) }

// freeAddress returns an unused address, a different one each time.
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

// accepts waits until the process accepts connections. It reports false if the process exited or the time is over.
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

// node returns the command for a script of an npm package under loopback.mjs, which gives it a free port.
func node(t *testing.T, script string, args ...string) transport.Stdio {
	t.Helper()
	s := npm(script, args...)(t, "")
	s.Args = append([]string{"--import", installed(t) + "/npm/loopback.mjs"}, s.Args...)
	return s
}
