package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"
)

// git is a directory for git commands.
type git string

// run runs a command. Its error contains git's standard error.
func (dir git) run(args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = string(dir)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(said.String()))
	}
	return string(out), nil
}

// line returns the only line of a command's output.
func (dir git) line(args ...string) (string, error) {
	out, err := dir.run(args...)
	return strings.TrimSpace(out), err
}

// lines returns the lines of a command's output.
func (dir git) lines(args ...string) ([]string, error) {
	out, err := dir.run(args...)
	return strings.FieldsFunc(out, func(r rune) bool { return r == '\n' }), err
}
