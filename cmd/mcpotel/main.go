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
	"os/signal"
	"strings"
	"syscall"

	"github.com/mcpotel/mcpotel/internal/visible"
)

// Exit codes, for scripts.
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

// command is one of the subcommands.
type command struct {
	name, arguments, brief string
	run                    func(ctx context.Context, s streams, args []string) error
}

var commands []command

func init() { // here because help lists the commands, of which it is one
	commands = []command{
		{"demo", demoUsage, "show a client, a server and their traces, with nothing to install", runDemo},
		{"view", viewUsage, "receive telemetry, and show it on a page", runView},
		{"tools", toolsUsage, "list the tools of a server", runTools},
		{"call", callUsage, "call a tool of a server", runCall},
		{"task", taskUsage, "look at a call that goes on, wait for its outcome, or cancel it", runTask},
		{"resources", resourcesUsage, "list the resources of a server, and their templates", runResources},
		{"read", readUsage, "read a resource", runRead},
		{"prompts", promptsUsage, "list the prompts of a server", runPrompts},
		{"prompt", promptUsage, "show the messages of a prompt", runPrompt},
		{"complete", completeUsage, "complete an argument of a prompt, or a variable of a template", runComplete},
		{"watch", watchUsage, "print what a server tells unasked, as it comes", runWatch},
		{"ping", pingUsage, "ask a server for a sign of life", runPing},
		{"serve-demo", serveDemoUsage, "be the demo's server, on standard input and output or over HTTP", runServeDemo},
		{"version", "", "print the version", runVersion},
		{"help", "[COMMAND]", "print this, or the flags of a command", runHelp},
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, streams{os.Stdin, os.Stdout, os.Stderr, isTerminal(os.Stdin) && isTerminal(os.Stderr)}, os.Args[1:]))
}

// run runs the command and returns its exit code.
func run(ctx context.Context, s streams, args []string) int {
	if len(args) == 0 {
		usage(s.err)
		return exitUsage
	}
	for _, c := range commands {
		if c.name == args[0] {
			return exitCode(s, c.run(ctx, s, args[1:]))
		}
	}
	if strings.HasPrefix(args[0], "-") {
		switch args[0] {
		case "-h", "-help", "--help":
			usage(s.out)
			return exitOK
		}
		return exitCode(s, misuse(`%s: flags go behind the command: "mcpotel tools --json"`, args[0]))
	}
	return exitCode(s, unknownCommand(args[0]))
}

func unknownCommand(name string) error {
	return misuse(`unknown command %q; "mcpotel help" lists them`, name)
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
		_ = printText(s.err, "mcpotel: "+visible.Indented(text)) // the exit code says it as well
	}
	return codeOf(err)
}

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

// runHelp prints what there is, or the flags of one command.
func runHelp(ctx context.Context, s streams, args []string) error {
	if len(args) == 0 {
		usage(s.out)
		return nil
	}
	for _, c := range commands {
		switch {
		case c.name != args[0]:
		case c.arguments == "":
			return printText(s.out, "usage: mcpotel "+c.name+"\n"+c.brief)
		case c.name == "task":
			return c.run(ctx, s, []string{"get", "-h"})
		default:
			return c.run(ctx, s, []string{"-h"})
		}
	}
	return unknownCommand(args[0])
}

func usage(w io.Writer) {
	fmt.Fprint(w, `mcpotel uses MCP servers from the shell, and shows what each call does.

usage: mcpotel COMMAND [ARG...]

`)
	for _, c := range commands {
		fmt.Fprintf(w, "  %-10s %s\n", c.name, c.brief)
		if c.arguments != "" {
			fmt.Fprintf(w, "  %-10s   mcpotel %s %s\n", "", c.name, c.arguments)
		}
	}
	fmt.Fprint(w, `
A server is a command behind --, which is started; or among the flags --url URL; or --config FILE, for the servers of an
mcpServers file, of which --server NAME picks one. Without it, all are asked, and tools have the server's name in front.
"mcpotel help COMMAND" lists the flags. What a server asks is asked at the terminal. --trace draws what a
command did, --web shows it on a page. With OTEL_EXPORTER_OTLP_ENDPOINT set, spans, metrics and log records are exported there.

Results are on standard output, everything else is on standard error.

exit codes: 0 ok, 1 the tool reported an error or the server refused, 2 usage, 3 connection
`)
}
