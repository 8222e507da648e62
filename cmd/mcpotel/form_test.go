package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// typed runs the command with a terminal at which a person types these lines.
func typed(t *testing.T, lines string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out, err buffer
	code = run(ctx, streams{strings.NewReader(lines), &out, &err, true}, args)
	return code, out.String(), err.String()
}

func TestAPersonFillsInAForm(t *testing.T) {
	noCollector(t)
	url, _ := serves(t, "0")
	for _, version := range eras {
		for name, tc := range map[string]struct {
			lines, stdout string
			stderr        []string
		}{
			"defaults": {"Ada\n\n\n\n\n\n\n", "1 × l for Ada\n", []string{
				strings.Split(url, "/")[2] + " asks: Your coffee?", "name (string, required): ",
				"size (one of these, required) [large]: ", "cups (integer, optional) [1]: ",
				"    1  small\n", "size = \"l\"",
			}},
			"all": {"Ada\nsmall\n3\nmilk, 3\ny\nada@example.com\nyes\n", "3 × s for Ada with milk and cinnamon, to go\n", nil},
			"wrong answers": {"\nAda\nhuge\n1\nmany\n11\n2\ntea\n2\nperhaps\nno\nada\nada@example.com\nmaybe\n\n",
				"2 × s for Ada with sugar\n", []string{
					"an answer is required", `"huge" is not one of the choices`, `"many" is not a number`, "want at most 10",
					`"tea" is not one of the choices`,
					`"perhaps" is neither yes nor no`, `"ada" is not a valid e-mail address`,
				}},
			"changed": {"Ada\n\n\n\n\n\nchange\nBob\n\n5\n\n\n\n\n", "5 × l for Bob\n",
				[]string{"name (string, required) [Ada]: "}},
			"not sent":             {"Ada\n\n\n\n\n\nno\n", "No coffee, then.\n", nil},
			"declined":             {"Ada\n/no\n", "No coffee, then.\n", nil},
			"cancelled":            {"/cancel\n", "No coffee, then.\n", nil},
			"the end of the input": {"Ada\n", "No coffee, then.\n", nil},
		} {
			t.Run(name+" "+version, func(t *testing.T) {
				code, out, stderr := typed(t, tc.lines, "call", "--url", url, "--pin-version", version, "order")
				if code != exitOK || out != tc.stdout {
					t.Errorf("got exit code %d and %q, want 0 and %q: %s", code, out, tc.stdout, stderr)
				}
				for _, want := range tc.stderr {
					if !strings.Contains(stderr, want) {
						t.Errorf("want %q at the terminal, got:\n%s", want, stderr)
					}
				}
			})
		}
	}
}

func TestAPersonIsAskedBeforeAPageIsOpened(t *testing.T) {
	noCollector(t)
	t.Setenv("DISPLAY", "")
	t.Setenv("WAYLAND_DISPLAY", "")
	t.Setenv("SSH_CONNECTION", "far away") // do not open a browser during the tests
	url, _ := serves(t, "0")
	for answer, want := range map[string]string{
		"yes\n": "You went there.\n", "\n": "You did not go.\n", "no\n": "You did not go.\n", "what?\n": "You did not go.\n",
		"": "You did not go.\n",
	} {
		code, out, stderr := typed(t, answer, "call", "--url", url, "sign-in")
		if code != exitOK || out != want {
			t.Errorf("%q: got exit code %d and %q, want 0 and %q: %s", answer, code, out, want, stderr)
		}
		if !strings.Contains(stderr, "\n    example.com\n") ||
			!strings.Contains(stderr, "The whole address: https://example.com/?from=mcpotel\n") {
			t.Errorf("%q: want the host on a separate line, and the whole URL, got %s", answer, stderr)
		}
		if opened := strings.Contains(stderr, "open this page:\n"); opened != (answer == "yes\n") {
			t.Errorf("%q: opened: %v: %s", answer, opened, stderr)
		}
	}
}

func TestCallIsRetriedAfterTheUserVisitsTheURL(t *testing.T) {
	noCollector(t)
	t.Setenv("DISPLAY", "")
	t.Setenv("WAYLAND_DISPLAY", "")
	t.Setenv("SSH_CONNECTION", "far away")
	var calls atomic.Int32
	s := mcpserver.New(mcp.Implementation{Name: "bank", Version: "1.0"}, nil)
	if err := mcpserver.AddTool(s, &mcp.Tool{Name: "pay"}, func(context.Context, struct{}) (string, error) {
		if calls.Add(1) == 1 {
			return "", mcpserver.URLElicitationRequired("log in first",
				&mcp.ElicitParams{Message: "Log in.", URL: "https://bank.example/login"})
		}
		return "paid", nil
	}); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s.HTTPHandler(nil))
	defer server.Close()
	args := []string{"call", "--url", server.URL, "--pin-version", "2025-11-25", "pay"}
	for answer, want := range map[string]int{"no\n": exitTool, "yes\n": exitTool, "yes\n\n": exitOK} {
		calls.Store(0)
		code, out, stderr := typed(t, answer, args...)
		if code != want || !strings.Contains(stderr, "\n    bank.example\n") || (out == "paid\n") != (want == exitOK) {
			t.Errorf("%q: got exit code %d and %q, want %d, and the host on a separate line: %s", answer, code, out,
				want, stderr)
		}
	}
	calls.Store(0)
	code, _, stderr := runs(t, args...)
	if code != exitTool || !strings.Contains(stderr, "https://bank.example/login") || calls.Load() != 1 {
		t.Errorf("without a person: got exit code %d after %d calls, want %d after one, and the URL: %s", code, calls.Load(),
			exitTool, stderr)
	}
}

// TestCallTimeoutPausesDuringAQuestion answers a question after more time than the timeout of the call.
func TestCallTimeoutPausesDuringAQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, keyboard := io.Pipe()
		c := newConsole(streams{in, io.Discard, io.Discard, true})
		p := newPausable(t.Context(), 10*time.Second)
		c.watched(p)
		done, err := c.asks(p)
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			time.Sleep(time.Hour)
			io.WriteString(keyboard, "well\n")
		}()
		if text, err := c.ask(p, "?"); text != "well" || err != nil {
			t.Errorf("want the answer, got %q, %v", text, err)
		}
		done()
		begun := time.Now()
		<-p.Done()
		if took := time.Since(begun); took != 10*time.Second || !errors.Is(p.Err(), context.DeadlineExceeded) {
			t.Errorf("want the deadline after 10s without the question, got %v after %v", p.Err(), took)
		}
	})
}

func TestStatusLineIsClearedBeforeOtherOutput(t *testing.T) {
	var b bytes.Buffer
	c := newConsole(streams{strings.NewReader("x\n"), io.Discard, &b, true})
	c.terminal = true
	c.progress(&mcp.ProgressParams{Progress: 1, Total: new(2.0), Message: "half\x1b[31m"})
	c.say("a\x1bb")
	c.progress(&mcp.ProgressParams{Progress: 2})
	c.clear()
	done, err := c.asks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c.progress(&mcp.ProgressParams{Progress: 3})
	done()
	if got, want := b.String(), " 50% (1 of 2) half�[31m\r\x1b[Kmcpotel: a�b\n2\r\x1b[K"; got != want {
		t.Errorf("want %q, got %q", want, got)
	}
}
