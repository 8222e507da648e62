//go:build unix

package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// inTheShell runs a shell with these lines of input.
func inTheShell(t *testing.T, lines string, flags ...string) (code int, stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out, err buffer
	args := append(append([]string{"shell"}, flags...), demoServerCommand(t)...)
	code = run(ctx, streams{strings.NewReader(lines), &out, &err, false}, args)
	return code, out.String(), err.String()
}

func TestShellRunsItsCommandsOnOneConnection(t *testing.T) {
	noCollector(t)
	code, out, stderr := inTheShell(t, "tools\n\n  call divide a=6 b=3  \ncall forecast '{\"city\":\"Oslo\"}' --json\n"+
		"read demo://about\nprompt pack city=Oslo\ncall --trace divide a=1 b=1\n")
	if code != exitOK {
		t.Errorf("want exit code 0, got %d: %s", code, stderr)
	}
	for _, want := range []string{"forecast", `"quotient":2`, `"celsius_max"`, "Oslo"} {
		if !strings.Contains(out, want) {
			t.Errorf("want %q in the output, got %s", want, out)
		}
	}
	if !strings.Contains(stderr, "INTERNAL mcpotel call divide") {
		t.Errorf("want the trace of the last call, got %s", stderr)
	}
	_, out, _ = inTheShell(t, "call crash\nping\n")
	if !strings.Contains(out, "answered in") {
		t.Errorf("want a ping after the server has crashed and the client has connected again, got %s", out)
	}
}

func TestWatchInAShellEndsItsSubscriptions(t *testing.T) {
	noCollector(t)
	code, _, stderr := inTheShell(t, "watch --uri demo://clock --for 10ms\n", "-v", "--pin-version", "2025-11-25")
	if code != exitOK || !strings.Contains(stderr, "resources/unsubscribe") {
		t.Errorf("want exit code 0 and the end of the subscription, got %d: %s", code, stderr)
	}
}

func TestShellExitCodeIsThatOfTheLastCommand(t *testing.T) {
	noCollector(t)
	for lines, want := range map[string]int{
		"ping\ncall divide a=1 b=0\n":     exitTool,
		"call divide a=1 b=0\nping\n":     exitOK,
		"ping\nnosuch\n":                  exitUsage,
		"call nosuch\nexit\nping\n":       exitTool,
		"ping\nping '\n":                  exitUsage,
		"ping | ping\n":                   exitUsage,
		"ping --pin-version 2025-11-25\n": exitUsage,
		"ping --timeout 1s\n":             exitUsage,
		"call divide -\n":                 exitUsage,
		"ping --url http://127.0.0.1:1\n": exitUsage,
		"":                                exitOK,
	} {
		if code, _, stderr := inTheShell(t, lines); code != want {
			t.Errorf("%q: want exit code %d, got %d: %s", lines, want, code, stderr)
		}
	}
	_, _, stderr := inTheShell(t, "cal x\nproxy\nping --url http://127.0.0.1:1\n")
	for _, want := range []string{"did you mean call?", `no command "proxy"`, "the shell has its own server"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("want %q, got %s", want, stderr)
		}
	}
}

func TestShellCompletes(t *testing.T) {
	noCollector(t)
	ctx := t.Context()
	o := &observation{}
	c := connection{streams: streams{strings.NewReader(""), &buffer{}, &buffer{}, false}, server: demoServerCommand(t)[1:]}
	c.console = newConsole(c.streams)
	servers, err := c.openAll(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	defer servers.close()
	ctx = context.WithValue(ctx, sessionKey{}, &session{o, servers, c.console, 0})
	for _, tc := range []struct {
		words []string
		word  string
		want  []string
		open  bool
	}{
		{nil, "re", []string{"resources", "read"}, false},
		{[]string{"call"}, "fore", []string{"forecast"}, false},
		{[]string{"call", "forecast"}, "ci", []string{"city="}, true},
		{[]string{"read"}, "demo://a", []string{"demo://about"}, false},
		{[]string{"call"}, "nosuch", nil, false},
	} {
		found, open := completions(ctx, tc.words, tc.word)
		slices.Sort(found)
		slices.Sort(tc.want)
		if !slices.Equal(found, tc.want) || open != tc.open {
			t.Errorf("%q %q: want %q, open %v, got %q, %v", tc.words, tc.word, tc.want, tc.open, found, open)
		}
	}
}

func TestInterruptEndsOnlyTheCommandOfAShell(t *testing.T) {
	ctx, stop := untilSignal(t.Context())
	defer stop()
	command, done := interruptible(ctx)
	if err := syscall.Kill(syscall.Getpid(), syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	<-command.Done()
	if _, ok := errors.AsType[*interruption](context.Cause(command)); !ok || ctx.Err() != nil {
		t.Errorf("want only the command interrupted, got %v and %v", context.Cause(command), ctx.Err())
	}
	done()
	if err := syscall.Kill(syscall.Getpid(), syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	<-ctx.Done()
}

func TestShellHasItsOwnAudit(t *testing.T) {
	noCollector(t)
	flags, file := auditFiles(t)
	code, out, stderr := inTheShell(t, "call divide a=6 b=3\ncall --audit x divide a=6 b=3\n", flags...)
	if code != exitUsage || !strings.Contains(stderr, "--audit is a flag of the shell itself") {
		t.Errorf("got %d, %s%s", code, out, stderr)
	}
	if calls, _ := auditedCalls(t, file); len(calls) != 1 {
		t.Errorf("got the records %q, want one", calls)
	}
}
