package browser

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
)

// Build builds the command into a directory and returns its path.
func Build(ctx context.Context, dir string) (string, error) { return build(ctx, dir, "cmd/mcpotel") }

// build builds the command in a directory of the repository.
func build(ctx context.Context, dir, command string) (string, error) {
	path := filepath.Join(dir, filepath.Base(command))
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env: %w", err)
	}
	root := filepath.Dir(filepath.Dir(filepath.Dir(strings.TrimSpace(string(out)))))
	build := exec.CommandContext(ctx, "go", "build", "-o", path, "./"+command)
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build ./%s: %w: %s", command, err, out)
	}
	return path, nil
}

// A Program is a running command.
type Program struct {
	cmd  *exec.Cmd
	read sync.WaitGroup

	mu    sync.Mutex
	out   strings.Builder // guarded by mu
	err   strings.Builder // guarded by mu
	news  chan struct{}   // guarded by mu; closed and replaced after each line
	ended bool            // guarded by mu; the output has ended
}

// Run starts the command at a path that [Build] returned, without the OpenTelemetry variables of the environment.
func Run(path string, args ...string) (*Program, error) {
	p := &Program{cmd: exec.Command(path, args...), news: make(chan struct{})}
	p.cmd.Env = Environment()
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	errs, err := p.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	p.read.Go(func() { p.copy(&p.err, errs) }) // both end with the program
	p.read.Go(func() {
		p.copy(&p.out, out)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.ended = true
		close(p.news)
		p.news = make(chan struct{})
	})
	return p, nil
}

// Environment returns the environment of this process without variables that configure exporters.
func Environment() []string {
	var env []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "OTEL_") && !strings.HasPrefix(kv, "LC_ALL=") {
			env = append(env, kv)
		}
	}
	return append(env, "LC_ALL=C.UTF-8")
}

func (p *Program) copy(to *strings.Builder, from io.Reader) {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		p.mu.Lock()
		fmt.Fprintln(to, lines.Text())
		close(p.news)
		p.news = make(chan struct{})
		p.mu.Unlock()
	}
}

// Await waits until the standard output matches a pattern and returns the match and its groups.
func (p *Program) Await(pattern string) ([]string, error) {
	re := regexp.MustCompile(pattern)
	deadline := time.After(2 * patience)
	for {
		p.mu.Lock()
		out, errs, news, ended := p.out.String(), p.err.String(), p.news, p.ended
		p.mu.Unlock()
		if m := re.FindStringSubmatch(out); m != nil {
			return m, nil
		}
		if ended {
			return nil, fmt.Errorf("%s ended before it printed %s:\n%s\n%s", p.cmd, pattern, out, errs)
		}
		select {
		case <-news:
		case <-deadline:
			return nil, fmt.Errorf("%s has not printed %s:\n%s\n%s", p.cmd, pattern, out, errs)
		}
	}
}

// Stop interrupts the program, as Ctrl-C does, and waits for it.
func (p *Program) Stop() error {
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	kill := time.AfterFunc(patience, func() { p.cmd.Process.Kill() })
	defer kill.Stop()
	p.read.Wait()
	return p.cmd.Wait()
}

// Inspect starts "mcpotel inspect" with the command of a server. It returns the program and the address of its page.
func Inspect(path string, server ...string) (*Program, string, error) {
	p, err := Run(path, append([]string{"inspect", "--"}, server...)...)
	if err != nil {
		return nil, "", err
	}
	m, err := p.Await(`The pages are at (\S+)`)
	if err != nil {
		p.Stop()
		return nil, "", err
	}
	return p, m[1], nil
}

// Demo starts the demo, waits until it has played all of its scenes, and returns it and the URL of its page.
func Demo(path string) (*Program, string, error) {
	p, err := Run(path, "demo", "--web")
	if err != nil {
		return nil, "", err
	}
	m, err := p.Await(`(?s)Done: every call.*The traces are at (\S+)\nCtrl-C`)
	if err != nil {
		p.Stop()
		return nil, "", err
	}
	return p, m[1], nil
}
