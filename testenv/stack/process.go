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

// A Process is one program of the stack. It may be stopped or killed and started again, on the same ports and with the
// same data. Its methods may be called from any goroutine; they wait for each other.
type Process struct {
	name    string
	path    string
	args    []string
	env     []string // beyond that of this process
	log     string
	ready   string // URL that answers with a success once the process serves
	mu      sync.Mutex
	running *running // guarded by mu; nil when there is none
}

// running is a process from its start to its end.
type running struct {
	cmd    *exec.Cmd
	exited chan struct{} // closed when it has ended and been waited for
}

// Name is what the process is called in errors: agent, gateway, prometheus or jaeger.
func (p *Process) Name() string { return p.name }

// Log is the file with what the process writes, over all its starts.
func (p *Process) Log() string { return p.log }

// Pid is the process's id, 0 when it does not run.
func (p *Process) Pid() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.alive() {
		return 0
	}
	return p.running.cmd.Process.Pid
}

// Start starts the process and waits until it is ready; ctx bounds that. It is an error if it runs already, or ends
// first.
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

// Stop asks the process to end and waits; when ctx ends first, it is killed and the error says so. A process that does
// not run is no error.
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

// Kill ends the process at once, as a crash would, and waits until it is gone.
func (p *Process) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.alive() {
		kill(p.running.cmd)
		<-p.running.exited
	}
}

// alive reports whether the process runs, under mu.
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

// launch starts the program. The goroutine that does so keeps its thread until the program has ended, since on Linux
// the program ends with the thread that has started it.
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
	started := make(chan error, 1) // the one result
	go func() {
		defer close(r.exited)
		defer log.Close()
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // how it ended is in its log
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return r, nil
}

// environment is that of this process without what would change what the programs do.
func environment() []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "OTEL_") {
			env = append(env, v)
		}
	}
	return env
}

// await waits until the process says it is ready.
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
	case <-r.exited: // and another program has answered
		return errors.New("another process has its port")
	default:
		return nil
	}
}

// succeeds reports whether a GET is answered with a success.
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

// tail is the end of the log, or the beginning of a panic there.
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
