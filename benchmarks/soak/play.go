package soak

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// The roles of processes, in the variable roleEnv.
const (
	roleEnv    = "MCPOTEL_SOAK"
	roleServer = "server" // a server on standard input and output
	roleFar    = "far"    // a server over HTTP; it prints a line when it is reachable
	roleHosts  = "hosts"  // the hosts; they read a job from standard input and print reports

	dirEnv     = "MCPOTEL_SOAK_DIR"     // directory of the ledgers
	addressEnv = "MCPOTEL_SOAK_ADDRESS" // address of a server over HTTP
)

func program() string {
	path, err := os.Executable()
	if err != nil {
		panic(err) // cannot happen on the systems on which this program runs
	}
	return path
}

func env(role, dir string) []string { return []string{roleEnv + "=" + role, dirEnv + "=" + dir} }

// Play plays the role for which [Run] has started this process, and then exits. In any other process it returns.
func Play() {
	var err error
	switch os.Getenv(roleEnv) {
	case "":
		return
	case roleServer:
		err = playServer(false)
	case roleFar:
		err = playServer(true)
	case roleHosts:
		err = playHosts(os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// tool is the name of the tool that is called.
const tool = "note"

// The arguments and the result of the tool.
type (
	noted struct {
		Number int `json:"number"`
		Bytes  int `json:"bytes"` // size of the requested text
	}
	answered struct {
		Number int    `json:"number"`
		Text   string `json:"text"`
	}
)

func playServer(far bool) error {
	l, err := openLedger(os.Getenv(dirEnv))
	if err != nil {
		return err
	}
	s := mcpserver.New(mcp.Implementation{Name: "soak", Version: "1"}, &mcpserver.Options{Telemetry: telemetry.Off()})
	text := make([]byte, maxText)
	for i := range text {
		text[i] = 'a' + byte(i%26)
	}
	err = mcpserver.AddTool(s, &mcp.Tool{Name: tool, Description: "Notes a number"},
		func(ctx context.Context, in noted) (answered, error) {
			if err := l.write(in.Number); err != nil {
				return answered{}, err
			}
			return answered{in.Number, string(text[:min(max(in.Bytes, 0), maxText)])}, nil
		})
	if err != nil {
		return err
	}
	if !far {
		return s.ServeStdio(context.Background())
	}
	web, err := net.Listen("tcp", os.Getenv(addressEnv))
	if err != nil {
		return err
	}
	fmt.Println("listening")
	return (&http.Server{Handler: s.HTTPHandler(nil), ReadHeaderTimeout: 10 * time.Second}).Serve(web)
}

// child is a process with a role.
type child struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out io.ReadCloser
}

func start(ctx context.Context, variables ...string) (*child, error) {
	c := &child{cmd: exec.CommandContext(ctx, program())}
	c.cmd.Env = append(os.Environ(), variables...)
	c.cmd.Stderr = os.Stderr
	var errIn, errOut error
	c.in, errIn = c.cmd.StdinPipe()
	c.out, errOut = c.cmd.StdoutPipe()
	return c, errors.Join(errIn, errOut, c.cmd.Start())
}

// stop kills the process.
func (c *child) stop() {
	_ = c.cmd.Process.Kill() // it may have ended
	_ = c.cmd.Wait()
}

// farServer is the server at a URL. Its process is killed and restarted at random times.
type farServer struct {
	url     string
	restart func() (*child, error)
	ended   chan struct{} // closed when no process runs any more
	cancel  context.CancelFunc
}

// Bounds of the lifetime of each process of a farServer.
const (
	shortLife = 10 * time.Second
	longLife  = 40 * time.Second
)

// startFar starts the server and waits until it is reachable.
func startFar(ctx context.Context, dir string) (*farServer, error) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := free.Addr().String()
	if err := free.Close(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	f := &farServer{url: "http://" + address + "/mcp", ended: make(chan struct{}), cancel: cancel}
	f.restart = func() (*child, error) {
		c, err := start(ctx, append(env(roleFar, dir), addressEnv+"="+address)...)
		if err == nil {
			_, err = fmt.Fscanln(c.out, new(string))
		}
		return c, err
	}
	c, err := f.restart()
	if err != nil {
		cancel()
		return nil, err
	}
	go f.keep(ctx, c)
	return f, nil
}

// keep kills and restarts the process until ctx ends.
func (f *farServer) keep(ctx context.Context, c *child) {
	defer close(f.ended)
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-time.After(shortLife + rand.N(longLife-shortLife)):
		}
		c.stop()
		next, err := f.restart()
		if err != nil {
			return // the hosts report it
		}
		c = next
	}
	c.stop()
}

func (f *farServer) stop() {
	f.cancel()
	<-f.ended
}

// startHosts starts the hosts.
func startHosts(ctx context.Context, j job) (*hosts, error) {
	c, err := start(ctx, env(roleHosts, "")...)
	if err != nil {
		return nil, err
	}
	h := &hosts{child: c, done: make(chan struct{})}
	if err := json.NewEncoder(c.in).Encode(j); err != nil {
		c.stop()
		return nil, err
	}
	go h.listen()
	return h, nil
}

// ledgerSuffix is the suffix of ledger files.
const ledgerSuffix = ".ledger"

// openLedger opens the ledger of this process.
func openLedger(dir string) (*ledger, error) {
	f, err := os.OpenFile(filepath.Join(dir, fmt.Sprint(os.Getpid(), ledgerSuffix)),
		os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	return &ledger{f}, err
}
