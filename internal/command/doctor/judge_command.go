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

// Default limits of a client of this module.
const (
	defaultStart = time.Minute      // mcpclient.Options.Timeouts.Start
	defaultInit  = 10 * time.Second // mcpclient.Options.Timeouts.Init
	// time to exit after stdin is closed: 40 % of mcpclient.Options.Timeouts.Close, see transport.Stdio
	defaultGrace = 40 * time.Millisecond
)

func executable(f *facts) answer {
	c := f.command
	switch err := c.lookErr; {
	case err == nil:
		return answer{OK, c.path, ""}
	case errors.Is(err, fs.ErrPermission):
		return answer{Fail, c.name + " is not executable", "run chmod +x, or start it with its interpreter"}
	case errors.Is(err, exec.ErrDot):
		return answer{Fail, c.name + " is only in the current directory", "write ./" + c.name}
	case filepath.Base(c.name) != c.name:
		return answer{Fail, fmt.Sprintf("%s does not exist", c.name), "correct the path; a relative path starts at the " +
			"working directory of the client"}
	}
	return answer{Fail, fmt.Sprintf("%s is not in any of the %d directories of PATH", c.name,
		len(filepath.SplitList(os.Getenv("PATH")))),
		"install it, or use its absolute path: the PATH of services and desktop programs differs from your shell's"}
}

// start checks a process from its start until the client is ready.
func start(f *facts) answer {
	f.tap.mu.Lock()
	defer f.tap.mu.Unlock()
	first := f.tap.firstFrame.Sub(f.tap.dialed)
	exit := f.tap.end
	switch {
	case f.tap.failed != nil && f.tap.firstFrame.IsZero():
		return answer{Fail, "cannot be started: " + f.tap.failed.Error(), "run the command by hand"}
	case f.session == nil && exit != nil:
		return answer{Fail, exit.Error(), "run the command by hand; often an environment variable or an argument is " +
			"missing: the server only gets the environment of the configuration file"}
	case f.tap.firstFrame.IsZero():
		return answer{Fail, fmt.Sprintf("the process runs, but has written nothing to its standard output within %s%s",
			unit.Duration(f.limits.connect), lastOutput(f.tap.last.LastWords)),
			"check that it is an MCP server on stdio. If it is still being installed (npx, uvx), raise the limit with " +
				"--timeout 2m, in a program with Options.Timeouts.Start"}
	case f.session == nil:
		return answer{OK, fmt.Sprintf("the first message came after %s of at most "+
			"%s", unit.Duration(first), unit.Duration(defaultStart)),
			""}
	}
	rest := f.session.ready - first
	found := fmt.Sprintf("the first message came after %s of at most %s, and the session %s of at most %s "+
		"later", unit.Duration(first),
		unit.Duration(defaultStart), unit.Duration(max(rest, 0)), unit.Duration(defaultInit))
	switch {
	case first > defaultStart/2:
		return answer{Warn, found, "install the server beforehand, or raise Options.Timeouts.Start"}
	case rest > defaultInit/2:
		return answer{Warn, found, "raise Options.Timeouts.Init, or do the server's setup after the handshake"}
	case f.session.attempts > 1 && f.tap.end != nil:
		return answer{Note, fmt.Sprintf("%s; an earlier process exited: %v", found, f.tap.end), noProbe(f)}
	}
	return answer{OK, found, ""}
}

func lastOutput(line string) string {
	if line == "" {
		return ""
	}
	return fmt.Sprintf("; its last output: %q", line)
}

// stdout checks for lines on standard output that are not JSON.
func stdout(f *facts) answer {
	n := f.witness.violationCounts()[jsonrpc.InvalidJSON.String()]
	f.tap.mu.Lock()
	defer f.tap.mu.Unlock()
	switch {
	case f.tap.firstFrame.IsZero():
		return answer{Skipped, "nothing was written", ""}
	case n == 0:
		return answer{OK, "only JSON", ""}
	}
	return answer{Warn, fmt.Sprintf("%s not JSON, the first: %q", plural(n, "1 line is", fmt.Sprintf("%d lines are", n)),
		f.tap.noise), "standard output is only for MCP messages: log to standard error; a client disconnects after a " +
		"thousand such lines in a row"}
}

// ended checks how a process exited after its standard input was closed.
func ended(f *facts) answer {
	f.tap.mu.Lock()
	defer f.tap.mu.Unlock()
	exit, took := f.tap.last.Exit, unit.Duration(f.tap.closeTime)
	switch {
	case exit == nil:
		return answer{Warn, "the process did not exit within " + took, "find the process and kill it"}
	case exit.Signal != "":
		return answer{Warn, fmt.Sprintf("it did not exit when its standard input was closed; %s killed it after %s",
			exit.Signal, took), "exit at the end of standard input, or raise Options.Timeouts.Close (100 ms) if " +
			"the server must save state"}
	case exit.Code != 0:
		return answer{Note, fmt.Sprintf("it exited %s after its standard input was closed, with status %d", took, exit.Code),
			"exit with status 0 at the end of standard input"}
	case f.tap.closeTime > defaultGrace:
		return answer{OK, fmt.Sprintf("it exited %s after its standard input was closed; a client sends SIGTERM after %s "+
			"unless Options.Timeouts.Close is longer", took, unit.Duration(defaultGrace)), ""}
	}
	return answer{OK, fmt.Sprintf("it exited %s after its standard input was closed", took), ""}
}

// count formats a number with a noun; the plural of the noun ends in s.
func count(n int, of string) string { return fmt.Sprintf("%d %s", n, plural(n, of, of+"s")) }

func plural(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}
