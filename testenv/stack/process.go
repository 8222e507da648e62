package stack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"
)

// A Process is one program of the stack. It can be stopped or killed and started again, with the same ports and data.
// Its methods are safe for concurrent use, and run one at a time.
type Process struct {
	name    string
	path    string
	args    []string
	env     []string // in addition to the environment of this process
	log     string
	ready   string // URL that answers with success once the process is ready
	mu      sync.Mutex
	running *running // guarded by mu; nil before the first start
}

// running is one run of the process.
type running struct {
	cmd    *exec.Cmd
	exited chan struct{} // closed when the process has ended and been waited for
}

// Name returns the name of the process in errors, such as agent, gateway, prometheus or jaeger.
func (p *Process) Name() string { return p.name }

// Log returns the path of the log with the output of all runs.
func (p *Process) Log() string { return p.log }

// Pid returns the id of the process, or 0 if it does not run.
func (p *Process) Pid() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.alive() {
		return 0
	}
	return p.running.cmd.Process.Pid
}

// Start starts the process and waits until it is ready or ctx ends. It returns an error if the process runs already, or
// ends before it is ready.
func (p *Process) Start(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.alive() {
		return fmt.Errorf("%s runs already", p.name)
	}
	r, err := p.launch()
	if err != nil {
		return fmt.Errorf("start %s: %w", p.name, err)
	}
	p.running = r
	if err := p.await(ctx, r); err != nil {
		kill(r.cmd)
		<-r.exited
		return fmt.Errorf("start %s: %w", p.name, err)
	}
	return nil
}

// Stop asks the process to end and waits for it. If ctx ends first, Stop kills the process and returns an error.
// Stopping a process that does not run is not an error.
func (p *Process) Stop(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.alive() {
		return nil
	}
	terminate(p.running.cmd)
	select {
	case <-p.running.exited:
		return nil
	case <-ctx.Done():
		kill(p.running.cmd)
		<-p.running.exited
		return fmt.Errorf("stop %s: %w, so it was killed", p.name, context.Cause(ctx))
	}
}

// Kill kills the process, like a crash, and waits until it has ended.
func (p *Process) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.alive() {
		kill(p.running.cmd)
		<-p.running.exited
	}
}

// alive reports whether the process runs. The caller holds mu.
func (p *Process) alive() bool {
	if p.running == nil {
		return false
	}
	select {
	case <-p.running.exited:
		return false
	default:
		return true
	}
}

// launch starts the program. On Linux, the program ends together with the thread that started it, so the starting
// goroutine keeps its thread until the program has ended.
func (p *Process) launch() (*running, error) {
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(p.path, p.args...)
	cmd.Env = append(environment(), p.env...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = attributes()
	r := &running{cmd: cmd, exited: make(chan struct{})}
	started := make(chan error, 1) // receives one result
	go func() {
		defer close(r.exited)
		defer log.Close()
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // the log shows how it ended
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return r, nil
}

// environment returns the environment of this process without variables that would change the behaviour of the
// programs.
func environment() []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "OTEL_") {
			env = append(env, v)
		}
	}
	return env
}

// await waits until the process is ready.
func (p *Process) await(ctx context.Context, r *running) error {
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for !succeeds(ctx, p.ready) {
		select {
		case <-again.C:
		case <-r.exited:
			return fmt.Errorf("it ended:\n%s", p.tail())
		case <-ctx.Done():
			return fmt.Errorf("not ready at %s: %w\n%s", p.ready, context.Cause(ctx), p.tail())
		}
	}
	select {
	case <-r.exited: // another program answered the request
		return errors.New("another process has its port")
	default:
		return nil
	}
}

// succeeds reports whether a GET request is answered with success.
func succeeds(ctx context.Context, url string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.StatusCode/100 == 2
}

// tail returns the end of the log, or the beginning of a panic in it.
func (p *Process) tail() string {
	const enough = 2048
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	if at := max(bytes.LastIndex(text, []byte("\npanic: ")), bytes.LastIndex(text, []byte("\nfatal error: "))); at >= 0 {
		text = text[at:min(len(text), at+enough)]
	}
	return string(bytes.TrimSpace(text[max(0, len(text)-enough):]))
}
