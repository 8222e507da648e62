package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/mcpotel/mcpotel/internal/command/typing"
	"github.com/mcpotel/mcpotel/mcpclient"
)

// session is the connection that the commands of a shell share. It is a value of their contexts.
type session struct {
	observation *observation
	servers     *servers
	console     *console      // asks the questions of the server
	longest     time.Duration // see connection.longest
}

type sessionKey struct{}

// sessionOf returns the session of a shell; nil for a command outside of a shell.
func sessionOf(ctx context.Context) *session {
	s, _ := ctx.Value(sessionKey{}).(*session)
	return s
}

// inShell are the commands of a shell.
var inShell = []string{"tools", "describe", "cost", "call", "task", "resources", "read", "prompts", "prompt", "complete",
	"watch", "ping"}

// hearing adds the handlers of a command in a shell to its clients, until the caller calls stop.
func (c *connection) hearing(shell *session) (stop func()) {
	var removes []func()
	for _, one := range shell.servers.all {
		var o mcpclient.Options
		if c.adapt != nil {
			c.adapt(one.name, &o)
		}
		for _, f := range o.Features {
			if h, ok := f.(mcpclient.Handler); ok {
				removes = append(removes, one.client.Handle(h))
			}
		}
	}
	return func() {
		for _, remove := range removes {
			remove()
		}
	}
}

func newShell(s streams) *cobra.Command {
	c := shellCommand{connection: connection{endless: true, shares: true}}
	return c.command(s, &cobra.Command{
		Use: "shell [flags]" + behind, Short: "keep one connection, and run many commands on it",
		Long: "Each line is a command of mcpotel without the name of the program and without a server, such as \"tools\" or " +
			"\"call forecast city=Oslo\": " + strings.Join(inShell, ", ") + ". \"exit\" or the end of the input ends the shell. " +
			"At a terminal, Tab completes and the arrow keys repeat earlier lines; Ctrl-C ends the running command. If the " +
			"input is not a terminal, the shell has the exit code of the last command.",
		Example: "mcpotel shell -- mcpotel serve-demo\n" +
			"mcpotel shell --url https://mcp.example.com/mcp <commands.txt",
	}, c.run, c.chaos.flags, c.record.flags, c.audit.flags)
}

// shellCommand is one run of the command "shell".
type shellCommand struct{ connection }

func (c *shellCommand) run(ctx context.Context) error {
	if err := c.none(); err != nil {
		return err
	}
	return c.observed(ctx, "mcpotel shell", func(ctx context.Context, o *observation) error {
		servers, err := c.openAll(ctx, o)
		if err != nil {
			return err
		}
		defer servers.close()
		servers.wait.end() // the commands report a server that is not connected
		ctx = context.WithValue(ctx, sessionKey{}, &session{o, servers, c.console, c.longest})
		lines := c.lines(ctx)
		code := exitOK
		for {
			line, err := lines(ctx)
			switch {
			case ctx.Err() != nil:
				return context.Cause(ctx)
			case err == io.EOF || err == nil && isEnd(line):
				if code != exitOK && !c.streams.person {
					return &exitError{code: code}
				}
				return nil
			case err != nil:
				return err
			}
			words, err := lineWords(line)
			switch {
			case err != nil:
				code = exitCode(c.streams, misuse("%w", err))
			case len(words) > 0:
				code = c.runLine(ctx, words)
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
		}
	})
}

func isEnd(line string) bool {
	return slices.Contains([]string{"exit", "quit"}, strings.TrimSpace(line))
}

// runLine runs one command, which Ctrl-C ends, and returns its exit code.
func (c *shellCommand) runLine(ctx context.Context, words []string) int {
	ctx, done := interruptible(ctx)
	defer done()
	if words[0] != "help" && !slices.Contains(inShell, words[0]) {
		return exitCode(c.streams, misuse("the shell has no command %q%s; it has %s, help and exit", words[0],
			typing.Hint(words[0], inShell), strings.Join(inShell, ", ")))
	}
	if len(words) == 1 && words[0] == "help" {
		words = []string{"shell", "--help"}
	}
	if slices.ContainsFunc(words, func(w string) bool { return w == "-" || strings.HasSuffix(w, "=@-") }) {
		return exitCode(c.streams, misuse("the shell itself reads the standard input; write the value, or @FILE"))
	}
	return run(ctx, c.streams, words)
}

// lines returns a function that reads the next line: with an editor if there is a person at a terminal. At the end of the
// input it returns [io.EOF].
func (c *shellCommand) lines(ctx context.Context) func(context.Context) (string, error) {
	in, ok := c.streams.in.(*os.File)
	if c.streams.person && ok {
		e := &editor{in: in, shell: c}
		e.terminal = term.NewTerminal(struct {
			io.Reader
			io.Writer
		}{in, c.streams.err}, prompt)
		e.terminal.AutoCompleteCallback = func(line string, at int, key rune) (string, int, bool) {
			return e.complete(ctx, line, at, key)
		}
		return e.next
	}
	scanner := bufio.NewScanner(c.streams.in)
	scanner.Buffer(nil, maxLine)
	return func(ctx context.Context) (string, error) {
		return awaited(ctx, func() (string, error) {
			if scanner.Scan() {
				return scanner.Text(), nil
			}
			if err := scanner.Err(); err != nil {
				return "", fmt.Errorf("standard input: %w", err)
			}
			return "", io.EOF
		})
	}
}

// awaited returns the line of read, or the cause of ctx if ctx ends first. Then the goroutine that reads ends with the
// program, because a read from a terminal or a pipe cannot be interrupted.
func awaited(ctx context.Context, read func() (string, error)) (string, error) {
	lines := make(chan answer, 1)
	go func() {
		line, err := read()
		lines <- answer{line, err}
	}()
	select {
	case a := <-lines:
		return a.line, a.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

const prompt = "mcpotel> "

// maxLine bounds a line of the input, in bytes.
const maxLine = 16 << 20

// editor reads lines from a terminal. The terminal is in raw mode only while it reads.
type editor struct {
	in       *os.File
	terminal *term.Terminal
	shell    *shellCommand
}

// next reads a line. Questions of the server wait until the line is complete.
func (e *editor) next(ctx context.Context) (string, error) {
	console := e.shell.console
	done, err := console.asks(ctx)
	if err != nil {
		return "", err
	}
	defer done()
	if console.read != nil { // an interrupted question still reads a line
		return console.ask(ctx, prompt)
	}
	if columns := columns(e.in); columns > 0 {
		_ = e.terminal.SetSize(columns, 25) // fails only if it cannot redraw the line
	}
	before, err := term.MakeRaw(int(e.in.Fd()))
	if err != nil {
		return "", err
	}
	defer term.Restore(int(e.in.Fd()), before)
	line, err := awaited(ctx, e.terminal.ReadLine)
	if errors.Is(err, term.ErrPasteIndicator) {
		err = nil
	}
	return line, err
}

// complete completes the word before the cursor when the key is Tab. If there are several completions, it adds their
// common prefix, or lists them.
func (e *editor) complete(ctx context.Context, line string, at int, key rune) (string, int, bool) {
	if key != '\t' {
		return "", 0, false
	}
	before, after := line[:at], line[at:]
	word := before[strings.LastIndexAny(before, " \t")+1:]
	found, open := completions(ctx, shellSplit(strings.TrimSuffix(before, word)), word)
	switch common := commonPrefix(found); {
	case len(found) == 0:
		return line, at, true
	case len(found) == 1 && !open:
		before = strings.TrimSuffix(before, word) + common + " "
	case len(common) > len(word):
		before = strings.TrimSuffix(before, word) + common
	case len(found) > 1:
		_ = printLine(e.terminal, strings.Join(found, "  ")) // on failure, the person sees no list
	}
	return before + after, len(before), true
}

// completions returns the completions of a word. open reports whether the word continues after a completion.
func completions(ctx context.Context, words []string, word string) (found []string, open bool) {
	if len(words) == 0 {
		for _, name := range append(slices.Clone(inShell), "help", "exit") {
			if strings.HasPrefix(name, word) {
				found = append(found, name)
			}
		}
		return found, false
	}
	var out bytes.Buffer
	run(ctx, streams{strings.NewReader(""), &out, io.Discard, false},
		append(append([]string{cobra.ShellCompNoDescRequestCmd}, words...), word))
	for text := range strings.Lines(out.String()) {
		text = strings.TrimSuffix(text, "\n")
		if directive, ok := strings.CutPrefix(text, ":"); ok {
			var bits int
			_, _ = fmt.Sscan(directive, &bits) // zero on failure
			open = cobra.ShellCompDirective(bits)&cobra.ShellCompDirectiveNoSpace != 0
		} else if strings.HasPrefix(text, word) {
			found = append(found, text)
		}
	}
	return found, open
}

func commonPrefix(words []string) string {
	if len(words) == 0 {
		return ""
	}
	common := words[0]
	for _, w := range words[1:] {
		for !strings.HasPrefix(w, common) {
			_, size := utf8.DecodeLastRuneInString(common)
			common = common[:len(common)-size]
		}
	}
	return common
}

// interrupts directs Ctrl-C to the running command of a shell.
type interrupts struct {
	mu      sync.Mutex
	command context.CancelCauseFunc // nil if no command of a shell runs; guarded by mu
}

type interruptsKey struct{}

// interruptible returns a context that the next Ctrl-C cancels in place of the context of the shell, until done is
// called.
func interruptible(ctx context.Context) (_ context.Context, done func()) {
	in, _ := ctx.Value(interruptsKey{}).(*interrupts)
	ctx, cancel := context.WithCancelCause(ctx)
	if in == nil {
		return ctx, func() { cancel(nil) }
	}
	in.set(cancel)
	return ctx, func() {
		in.set(nil)
		cancel(nil)
	}
}

func (in *interrupts) set(command context.CancelCauseFunc) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.command = command
}

// take cancels the running command of a shell. It reports whether there is one.
func (in *interrupts) take(cause error) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.command == nil {
		return false
	}
	in.command(cause)
	in.command = nil
	return true
}
