// Command mcpotel uses any MCP server from the shell: its tools, resources, prompts and notifications. It shows the
// result of each call, and the call's trace as a waterfall of client and server spans. "mcpotel demo" demonstrates this
// without further installation.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpotel/mcpotel/internal/visible"
)

// Exit codes, for scripts. If a signal ends the command, the exit code is 128 plus the number of the signal: see
// interruption.
const (
	exitOK         = 0
	exitTool       = 1 // the tool reported an error, the server refused the call, or the named thing does not exist
	exitUsage      = 2
	exitConnection = 3 // connection failed or lost, no answer in time, or an invalid answer
)

// streams are the standard streams of the command.
type streams struct {
	in       io.Reader
	out, err io.Writer
	person   bool // in and err are a terminal, so that the command can ask a person
}

func main() {
	ctx, stop := untilSignal(context.Background())
	defer stop()
	os.Exit(run(ctx, streams{os.Stdin, os.Stdout, os.Stderr, isTerminal(os.Stdin) && isTerminal(os.Stderr)}, os.Args[1:]))
}

// run runs the command and returns its exit code.
func run(ctx context.Context, s streams, args []string) int {
	tree := newTree(s)
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		completeFlags(tree)
	}
	tree.SetArgs(append([]string{}, args...)) // not nil: cobra would use the arguments of this process
	err := tree.ExecuteContext(ctx)
	if ended, ok := errors.AsType[*interruption](context.Cause(ctx)); ok && err != nil {
		err = &exitError{ended.code(), ended}
	}
	return exitCode(s, err)
}

// exitError is an error with an exit code. If it has no text, the error has already been printed.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// exitCode reports err and returns the code for it.
func exitCode(s streams, err error) int {
	if err == nil {
		return exitOK
	}
	if text := err.Error(); text != "" {
		_ = printText(s.err, "mcpotel: "+visible.Indented(inFlags.Replace(text))) // the exit code reports the failure as well
	}
	return codeOf(err)
}

// inFlags replaces the names of options in messages of the library with the flags of this command.
var inFlags = strings.NewReplacer(
	"Options.Timeouts.Init", "--connect-timeout", "Options.Timeouts.Start", "--connect-timeout",
	"WithTimeout or Options.RequestTimeout", "--timeout",
	"Options.Versions", "--pin-version",
	"set credentials with HTTP.Authorizer or HTTP.Header", "set credentials with --header NAME=VALUE",
	"; raise it with Options.Limits.Frame", "",
)

func codeOf(err error) int {
	if e, ok := errors.AsType[*exitError](err); ok {
		return e.code
	}
	return exitConnection
}

// misuse returns an error for invalid arguments.
func misuse(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}
