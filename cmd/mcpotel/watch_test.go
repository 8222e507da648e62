package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"testing"
)

// watching runs "watch". next returns the next line of its output. stop ends the command like an interrupt, and returns
// the exit code and the text on standard error.
func watching(t *testing.T, args ...string) (next func() string, stop func() (int, string)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	var stderr buffer
	var code int
	done := make(chan struct{})
	go func() {
		defer close(done)
		code = run(ctx, streams{strings.NewReader(""), in, &stderr, false}, append([]string{"watch"}, args...))
		in.Close()
	}()
	lines := bufio.NewReader(out)
	drain := sync.OnceFunc(func() { io.Copy(io.Discard, lines) })
	stop = func() (int, string) {
		cancel()
		drain() // reads the remaining output
		<-done
		return code, stderr.String()
	}
	t.Cleanup(func() { stop() })
	return func() string {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Errorf("watch has ended: %v", err)
		}
		return line
	}, stop
}

func TestWatchPrintsNotifications(t *testing.T) {
	noCollector(t)
	for _, version := range eras {
		url, _ := serves(t, "0")
		next, stop := watching(t, "--url", url, "--pin-version", version, "--uri", "demo://clock")
		for range 2 {
			if line := next(); !strings.HasSuffix(line, " updated demo://clock\n") {
				t.Errorf("%s: want an update of the clock, got %q", version, line)
			}
		}
		if code, out, stderr := runs(t, "call", "--url", url, "change"); code != exitOK || out != "added\n" {
			t.Fatalf("%s: change: %d, %q: %s", version, code, out, stderr)
		}
		missing := map[string]bool{"the list of tools has changed": true, "the list of prompts has changed": true}
		for range 10 {
			_, what, _ := strings.Cut(strings.TrimSpace(next()), " ")
			if delete(missing, what); len(missing) == 0 {
				break
			}
		}
		if len(missing) > 0 {
			t.Errorf("%s: ten lines of output lack %v", version, missing)
		}
		if code, stderr := stop(); code != exitOK || !strings.Contains(stderr, "mcpotel: watching 127.0.0.1:") {
			t.Errorf("%s: interrupted: got exit code %d, want 0, and a message with the watched server: %s", version, code,
				stderr)
		}
	}
}

func TestWatchPrintsLogMessagesAsJSON(t *testing.T) {
	noCollector(t)
	args := append([]string{"--json", "--level", "debug", "--pin-version", "2025-11-25"}, demoServerCommand(t)...)
	next, stop := watching(t, args...)
	var e struct {
		Time, Method string
		Params       struct{ Level, Logger, Data string }
	}
	if err := json.Unmarshal([]byte(next()), &e); err != nil {
		t.Fatal(err)
	}
	if e.Time == "" || e.Method != "notifications/message" || e.Params.Level != "debug" || e.Params.Logger != "clock" ||
		e.Params.Data != "tick" {
		t.Errorf("want a tick of the clock as JSON, got %+v", e)
	}
	if code, stderr := stop(); code != exitOK {
		t.Errorf("interrupted: got exit code %d, want 0: %s", code, stderr)
	}
}

func TestWatchNamesServersAndEndsAfterItsDuration(t *testing.T) {
	noCollector(t)
	code, out, stderr := runs(t, "watch", "--config", configFile(t, ""), "--level", "debug", "--pin-version", "2025-11-25",
		"--for", "2500ms")
	if code != exitOK || !strings.Contains(out, " local: log debug clock: tick\n") {
		t.Errorf("got exit code %d, want 0 and a tick of local: %s\n%s", code, out, stderr)
	}
	if !strings.Contains(stderr, "watching local") || !strings.Contains(stderr, "watching remote") {
		t.Errorf("want a message with the watched server, got %s", stderr)
	}
}

func TestWatchReportsUnavailableNotifications(t *testing.T) {
	noCollector(t)
	file := configFile(t, `, "quiet": {"command": "`+demoServerCommand(t)[1]+`", "args": ["serve-demo"], "listen": false}`)
	for args, want := range map[string]string{
		"--for 1ms":                     `quiet: list changes are not received, because the file sets "listen": false`,
		"--server quiet --uri demo://a": `does not listen for changes: Options.NoListening is set ("listen": false`,
	} {
		_, _, stderr := runs(t, append([]string{"watch", "--config", file}, strings.Fields(args)...)...)
		if !strings.Contains(stderr, want) {
			t.Errorf("%s: want %q, got %s", args, want, stderr)
		}
	}
	code, _, stderr := runs(t, append([]string{"watch", "--for", "1s", "--level", "debug"}, demoServerCommand(t)...)...)
	if code != exitOK || !strings.Contains(stderr, "only during calls") {
		t.Errorf("log messages of a modern server: got exit code %d, want 0 and a hint: %s", code, stderr)
	}
	code, _, stderr = runs(t, "watch", "--", "/does/not/exist")
	if code != exitConnection || !strings.Contains(stderr, "no such file") {
		t.Errorf("no server: got exit code %d, want %d: %s", code, exitConnection, stderr)
	}
}
