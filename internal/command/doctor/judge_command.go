package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/unit"
)

// What a client of this module allows a server unless told otherwise.
const (
	usualStart = time.Minute      // mcpclient.Options.StartTimeout
	usualInit  = 10 * time.Second // mcpclient.Options.InitTimeout
	// to end by itself: 40 % of mcpclient.Options.CloseTimeout, see transport.Stdio
	usualGrace = 40 * time.Millisecond
)

func executable(f *facts) answer {
	c := f.command
	switch err := c.lookErr; {
	case err == nil:
		return answer{OK, c.path, ""}
	case errors.Is(err, fs.ErrPermission):
		return answer{Fail, c.name + " may not be executed", "chmod +x it, or name the interpreter in front of it"}
	case errors.Is(err, exec.ErrDot):
		return answer{Fail, c.name + " is in the current directory only", "write ./" + c.name}
	case filepath.Base(c.name) != c.name:
		return answer{Fail, fmt.Sprintf("%s does not exist", c.name), "correct the path; a relative one begins at the " +
			"working directory of the client"}
	}
	return answer{Fail, fmt.Sprintf("%s is in none of the %d directories of PATH", c.name,
		len(filepath.SplitList(os.Getenv("PATH")))),
		"install it, or write its whole path: the PATH of a service or a desktop program is not that of your shell"}
}

// start judges what a process did until the client was ready.
func start(f *facts) answer {
	f.tap.mu.Lock()
	defer f.tap.mu.Unlock()
	first := f.tap.spoke.Sub(f.tap.dialed)
	exit := f.tap.end
	switch {
	case f.tap.failed != nil && f.tap.spoke.IsZero():
		return answer{Fail, "it cannot be started: " + f.tap.failed.Error(), "run the command by hand"}
	case f.session == nil && exit != nil:
		return answer{Fail, exit.Error(), "run the command by hand; mostly a variable or an argument is missing: the " +
			"environment of a configuration file is all that the server gets"}
	case f.tap.spoke.IsZero():
		return answer{Fail, fmt.Sprintf("it runs, and has written nothing to its standard output within %s%s",
			unit.Duration(f.limits.connect), lastWords(f.tap.last.LastWords)),
			"is it a server, and on stdio? If it is being installed (npx, uvx), --timeout 2m gives it time; in a program " +
				"that is Options.StartTimeout"}
	case f.session == nil:
		return answer{OK, fmt.Sprintf("the first word came after %s of %s", unit.Duration(first), unit.Duration(usualStart)),
			""}
	}
	rest := f.session.ready - first
	found := fmt.Sprintf("the first word came after %s of %s, it was ready %s of %s later", unit.Duration(first),
		unit.Duration(usualStart), unit.Duration(max(rest, 0)), unit.Duration(usualInit))
	switch {
	case first > usualStart/2:
		return answer{Warn, found, "install it beforehand, or raise Options.StartTimeout"}
	case rest > usualInit/2:
		return answer{Warn, found, "raise Options.InitTimeout, or let the server do its work after the handshake"}
	case f.session.attempts > 1 && f.tap.end != nil:
		return answer{Note, fmt.Sprintf("%s; a process before ended: %v", found, f.tap.end), noProbe(f)}
	}
	return answer{OK, found, ""}
}

func lastWords(line string) string {
	if line == "" {
		return ""
	}
	return fmt.Sprintf("; its last words: %q", line)
}

// stdout judges what a process wrote to its standard output that is no JSON.
func stdout(f *facts) answer {
	n := f.witness.violated()[jsonrpc.InvalidJSON.String()]
	f.tap.mu.Lock()
	defer f.tap.mu.Unlock()
	switch {
	case f.tap.spoke.IsZero():
		return answer{Skipped, "nothing was written to it", ""}
	case n == 0:
		return answer{OK, "nothing but JSON", ""}
	}
	return answer{Warn, fmt.Sprintf("%s no JSON, the first: %q", plural(n, "1 line is", fmt.Sprintf("%d lines are", n)),
		f.tap.noise), "standard output belongs to the protocol: let the server log to standard error; a thousand such " +
		"lines in a row end the connection"}
}

// ended judges how a process ended when its standard input was closed.
func ended(f *facts) answer {
	f.tap.mu.Lock()
	defer f.tap.mu.Unlock()
	exit, took := f.tap.last.Exit, unit.Duration(f.tap.hangup)
	switch {
	case exit == nil:
		return answer{Warn, "the process could not be ended within " + took, "look for it, and end it"}
	case exit.Signal != "":
		return answer{Warn, fmt.Sprintf("it did not end when its standard input was closed; %s ended it after %s",
			exit.Signal, took), "let the server exit at the end of its input, or raise Options.CloseTimeout (100 ms) if " +
			"it has something to save"}
	case exit.Code != 0:
		return answer{Note, fmt.Sprintf("it ended %s after its standard input was closed, with status %d", took, exit.Code),
			"a server that is told to end should exit with status 0"}
	case f.tap.hangup > usualGrace:
		return answer{OK, fmt.Sprintf("it ended %s after its standard input was closed; a client sends SIGTERM after %s "+
			"unless Options.CloseTimeout says more", took, unit.Duration(usualGrace)), ""}
	}
	return answer{OK, fmt.Sprintf("it ended %s after its standard input was closed", took), ""}
}

// count writes how many there are of something whose plural has an s.
func count(n int, of string) string { return fmt.Sprintf("%d %s", n, plural(n, of, of+"s")) }

func plural(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}
