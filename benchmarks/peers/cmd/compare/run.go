package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// plan selects the benchmarks to run.
type plan struct {
	passes           int
	benchtime, bench string
}

// binaryOf is the test binary of a package.
type binaryOf struct {
	path, dir string
	skip      string // benchmarks that another binary runs, in the form of -test.skip; empty means none
}

// measure builds and runs the benchmarks and returns their lines. After each pass it calls keep with the lines so far.
func measure(ctx context.Context, root string, p plan, keep func([]byte) error) ([]byte, error) {
	tmp, err := os.MkdirTemp("", "compare")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	binaries, err := build(ctx, root, tmp)
	if err != nil {
		return nil, err
	}
	var lines bytes.Buffer
	lines.WriteString(about(ctx, root, p))
	for pass := range p.passes {
		fmt.Fprintf(&lines, "pass: %d\nload: %s\n", pass+1, load())
		began := time.Now()
		for _, b := range binaries {
			out, err := b.run(ctx, p)
			if err != nil {
				return nil, fmt.Errorf("pass %d: %w", pass+1, err)
			}
			lines.Write(out)
		}
		fmt.Fprintf(os.Stderr, "compare: pass %d of %d took %v, load %s\n", pass+1, p.passes,
			time.Since(began).Round(time.Second), load())
		if err := keep(lines.Bytes()); err != nil {
			return nil, err
		}
	}
	return lines.Bytes(), nil
}

// rootOf returns the root of the project that the working directory is in.
func rootOf(ctx context.Context) (string, error) {
	mod, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env: %w", err)
	}
	peers := filepath.Dir(strings.TrimSpace(string(mod)))
	if filepath.Base(peers) != "peers" {
		return "", fmt.Errorf("the working directory is not in the module benchmarks/peers: go -C benchmarks/peers " +
			"run ./cmd/compare")
	}
	return filepath.Dir(filepath.Dir(peers)), nil
}

// build builds both test binaries. Benchmarks of both run only in the second, which has all the peers.
func build(ctx context.Context, root, tmp string) (binaries []*binaryOf, err error) {
	own := &binaryOf{path: filepath.Join(tmp, "own.test"), dir: filepath.Join(root, "benchmarks")}
	all := &binaryOf{path: filepath.Join(tmp, "peers.test"), dir: filepath.Join(root, "benchmarks", "peers")}
	for _, b := range []*binaryOf{own, all} {
		if err := b.build(ctx); err != nil {
			return nil, err
		}
	}
	names, err := all.list(ctx)
	own.skip = anyOf(names)
	return []*binaryOf{own, all}, err
}

func (b *binaryOf) build(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-o", b.path, ".")
	cmd.Dir = b.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go test -c in %s: %w: %s", b.dir, err, out)
	}
	return nil
}

// list returns the names of the benchmarks in a binary.
func (b *binaryOf) list(ctx context.Context) ([]string, error) {
	cmd := exec.CommandContext(ctx, b.path, "-test.list", "^Benchmark")
	cmd.Dir = b.dir
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list benchmarks of %s: %w", b.dir, err)
	}
	return regexp.MustCompile(`(?m)^Benchmark\S+$`).FindAllString(string(out), -1), nil
}

// anyOf returns a pattern for names, empty without names.
func anyOf(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "^(" + strings.Join(names, "|") + ")$"
}

// run runs a binary's benchmarks once.
func (b *binaryOf) run(ctx context.Context, p plan) ([]byte, error) {
	cmd := exec.CommandContext(ctx, b.path, "-test.run", "^$", "-test.bench", p.bench, "-test.benchtime", p.benchtime,
		"-test.benchmem", "-test.timeout", "0", "-test.skip", b.skip)
	var out bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = b.dir, &out, os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("benchmarks in %s: %w:\n%s", b.dir, err, lastLines(out.String(), 20))
	}
	return out.Bytes(), nil
}

func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
