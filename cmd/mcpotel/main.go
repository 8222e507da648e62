// Command mcpotel uses any MCP server from the shell: its tools, resources and prompts, and what it tells unasked. It
// shows what each call does: its result, and its trace as a waterfall of client and server spans. "mcpotel demo" shows
// that at once and needs nothing.
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

// Exit codes, for scripts. A command that a signal ends has 128 and the number of the signal: see interruption.
const (
	exitOK         = 0
	exitTool       = 1 // the tool reported an error, or the server refused the call, or has no such thing
	exitUsage      = 2
	exitConnection = 3 // no connection, or it was lost, or no answer in time, or an unusable one
)

// streams are what the command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
	person   bool // in and err are a terminal, at which a person can be asked
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
	tree.SetArgs(append([]string{}, args...)) // nil would be the arguments of this process
	err := tree.ExecuteContext(ctx)
	if ended, ok := errors.AsType[*interruption](context.Cause(ctx)); ok && err != nil {
		err = &exitError{ended.code(), ended}
	}
	return exitCode(s, err)
}

// exitError is an error with an exit code of its own; one without text has been reported already.
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
		_ = printText(s.err, "mcpotel: "+visible.Indented(inFlags.Replace(text))) // the exit code says it as well
	}
	return codeOf(err)
}

// inFlags says in flags of this command what the library advises in its options.
var inFlags = strings.NewReplacer(
	"Options.InitTimeout", "--connect-timeout", "Options.StartTimeout", "--connect-timeout",
	"WithTimeout or Options.RequestTimeout", "--timeout",
	"Options.Versions", "--pin-version",
	"set credentials with HTTP.Authorizer or HTTP.Header", "set credentials with --header NAME=VALUE",
	"; raise it with Options.FrameLimit", "",
)

func codeOf(err error) int {
	if e, ok := errors.AsType[*exitError](err); ok {
		return e.code
	}
	return exitConnection
}

// misuse is the error for arguments that make no sense.
func misuse(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}
