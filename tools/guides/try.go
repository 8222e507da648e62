//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// patience bounds one block.
const patience = 10 * time.Minute

// try runs the blocks of a page and returns the numbers of run and skipped blocks.
func (s *sandbox) try(ctx context.Context, p page) (ran, left int, err error) {
	folder := filepath.Join(s.dir, "pages", strings.TrimSuffix(filepath.Base(p.name), ".md"))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return 0, 0, err
	}
	var staying []*command
	defer func() {
		for _, c := range staying {
			err = errors.Join(err, c.interrupt())
		}
	}()
	blocks, err := withFreePorts(p.blocks)
	if err != nil {
		return 0, 0, err
	}
	for _, b := range blocks {
		if b.reason != "" {
			left++
			continue
		}
		dir, err := s.prepare(folder, p, b)
		if err != nil {
			return ran, left, err
		}
		c := s.command(dir, b)
		if err := c.run(ctx); err != nil {
			return ran, left, fmt.Errorf("%w\n%s%s", err, b.code, c.output())
		}
		if b.stays {
			staying = append(staying, c)
		}
		ran++
	}
	return ran, left, nil
}

// prepare returns the folder for a block, with the files that the block needs.
func (s *sandbox) prepare(folder string, p page, b block) (dir string, err error) {
	switch {
	case b.checkout:
		return s.checkout, nil
	case b.module:
		yours := filepath.Join(folder, "yours")
		err := os.MkdirAll(yours, 0o755)
		return yours, errors.Join(err, os.WriteFile(filepath.Join(yours, "go.mod"), []byte("module yours\n"), 0o644))
	case b.program:
		program, err := programOf(p.text[:b.at])
		return folder, errors.Join(err, os.WriteFile(filepath.Join(folder, "main.go"), []byte(program), 0o644))
	}
	return folder, nil
}

// command is a running block.
type command struct {
	block block
	cmd   *exec.Cmd
	ended chan error // the command's error, once

	mu    sync.Mutex
	text  bytes.Buffer  // output so far; guarded by mu
	ready chan struct{} // closed once the expected output is there
}

func (s *sandbox) command(dir string, b block) *command {
	c := &command{
		block: b, cmd: exec.Command("bash", "-eu", "-o", "pipefail", "-c", b.code),
		ended: make(chan error, 1), ready: make(chan struct{}),
	}
	c.cmd.Dir, c.cmd.Env, c.cmd.Stdout, c.cmd.Stderr = dir, append(s.environ, "PWD="+dir), c, c
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that signals also reach its children
	return c
}

// Write receives the command's standard output and standard error.
func (c *command) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.printed()
	n, err := c.text.Write(p)
	if !before && c.printed() {
		close(c.ready)
	}
	return n, err
}

// printed reports whether text contains the expected output. The caller holds mu.
func (c *command) printed() bool {
	return c.block.prints != "" && bytes.Contains(c.text.Bytes(), []byte(c.block.prints))
}

func (c *command) output() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}

// run runs the command to its end, or, if it stays, until the expected output.
func (c *command) run(ctx context.Context) error {
	if err := c.cmd.Start(); err != nil {
		return err
	}
	go func() { c.ended <- c.cmd.Wait() }()
	ready := c.ready
	if !c.block.stays {
		ready = nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("no result within %v", patience))
	defer cancel()
	select {
	case <-ready:
		return nil
	case <-ctx.Done():
		return errors.Join(context.Cause(ctx), c.interrupt())
	case err := <-c.ended:
		switch {
		case err != nil:
			return err
		case c.block.stays:
			return errors.New("the command has ended, but the page expects it to stay")
		case c.block.prints != "" && !strings.Contains(c.output(), c.block.prints):
			return fmt.Errorf("the output does not contain %q", c.block.prints)
		}
		return nil
	}
}

// interrupt ends the command and its children, as Ctrl-C does.
func (c *command) interrupt() error {
	if err := syscall.Kill(-c.cmd.Process.Pid, syscall.SIGINT); err != nil {
		return err
	}
	kill := time.AfterFunc(10*time.Second, func() { _ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL) })
	defer kill.Stop()
	<-c.ended // ignore the error: an interrupted shell always fails
	return nil
}
