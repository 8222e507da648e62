package conformance

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// runLimit bounds one scenario. The suite allows the client 30 s.
const runLimit = time.Minute

// lane runs commands of the suite one after the other in one process of npm/repeat.mjs, because loading the suite takes
// longer than most scenarios. After a failed command it ends the process, and starts another for the next command.
//
// The suite creates each scenario once, when the suite is loaded, and keeps the scenario's checks, so a lane must run
// each scenario only once.
type lane struct {
	command []string // command line up to the suite's path
	env     []string // environment of the suite and of the client
	limit   time.Duration

	process *exec.Cmd // nil if no process runs
	in      io.WriteCloser
	pipe    *os.File
	out     *bufio.Reader // reads pipe, with both output streams of the process
}

// run runs one command. It returns an error if the suite did not finish.
func (l *lane) run(args ...string) (exit int, output string, err error) {
	if l.process == nil {
		if err := l.start(); err != nil {
			return 0, "", err
		}
	}
	exit, output, err = l.ask(args)
	if exit == 0 && err == nil {
		return exit, output, nil
	}
	return exit, output, errors.Join(err, l.stop())
}

// ask makes the process run a command.
func (l *lane) ask(args []string) (exit int, output string, err error) {
	line, err := json.Marshal(args)
	if err != nil {
		return 0, "", err
	}
	if err := l.pipe.SetReadDeadline(time.Now().Add(l.limit)); err != nil {
		return 0, "", err
	}
	if _, err := l.in.Write(append(line, '\n')); err != nil {
		return 0, "", err
	}
	return readRun(l.out)
}

// start starts a process.
func (l *lane) start() error {
	cmd := exec.Command(l.command[0], l.command[1:]...)
	cmd.Env = l.env
	in, noInput := cmd.StdinPipe()
	pipe, output, noOutput := os.Pipe()
	if err := errors.Join(noInput, noOutput); err != nil {
		return err
	}
	defer output.Close()
	cmd.Stdout, cmd.Stderr = output, output
	if err := cmd.Start(); err != nil {
		return errors.Join(err, pipe.Close())
	}
	l.process, l.in, l.pipe, l.out = cmd, in, pipe, bufio.NewReader(pipe)
	return nil
}

// stop ends the process, if one runs, in any state.
func (l *lane) stop() error {
	if l.process == nil {
		return nil
	}
	cmd := l.process
	l.process = nil
	_ = cmd.Process.Kill() // the process may have ended already
	_ = cmd.Wait()         // reports that the process was killed
	return l.pipe.Close()
}

// readRun reads the output of one command, up to the line with its status.
func readRun(r *bufio.Reader) (exit int, output string, err error) {
	var text strings.Builder
	for {
		line, err := r.ReadString('\n')
		if status, found := strings.CutPrefix(line, "\x00exit "); found && err == nil {
			_, err := fmt.Sscanf(status, "%d\n", &exit)
			return exit, text.String(), err
		}
		text.WriteString(line)
		if err != nil {
			return 0, text.String(), fmt.Errorf("no status: %w", err)
		}
	}
}

func TestOutputIsReadUpToTheStatusLine(t *testing.T) {
	for text, want := range map[string]string{
		"\x00exit 0\n":                         `0 "" <nil>`,
		"a\nb\n\n\x00exit 1\nc\n":              `1 "a\nb\n\n" <nil>`,
		"exit 0\n an \x00exit 0\n\x00exit 2\n": `2 "exit 0\n an \x00exit 0\n" <nil>`,
		"":                                     `0 "" no status: EOF`,
		"node died":                            `0 "node died" no status: EOF`,
		"\x00exit 0":                           `0 "\x00exit 0" no status: EOF`,
		"\x00exit \n":                          `0 "" unexpected newline`,
		"\x00exit undefined\n":                 `0 "" expected integer`,
		strings.Repeat("x", 9) + "\n\x00exit -1\n": `-1 "xxxxxxxxx\n" <nil>`,
	} {
		exit, output, err := readRun(bufio.NewReaderSize(strings.NewReader(text), 16))
		if got := fmt.Sprintf("%d %q %v", exit, output, err); got != want {
			t.Errorf("%q: want %s, got %s", text, want, got)
		}
	}
}

// TestFailingScenarioDoesNotAffectOthers runs clients that fail, each between two scenarios that pass.
func TestFailingScenarioDoesNotAffectOthers(t *testing.T) {
	s, r := installed(t), revision{version: "2025-11-25"}
	l := s.lane(t, r)
	ask := func(client, scenario string) (int, string, error) {
		return l.run("client", "--command", client, "--scenario", scenario, "--spec-version", r.version, "--force")
	}
	for _, tc := range []struct {
		what, client string
		limit        time.Duration
		err          error // nil if the command ends with a status
	}{
		{"fails", "false", runLimit, nil},
		{"crashes", "kill -KILL $PPID #", runLimit, io.EOF}, // kills the suite itself; # hides the URL that the suite appends
		{"hangs", "sleep 5 #", time.Second, os.ErrDeadlineExceeded},
	} {
		l.limit = runLimit
		if exit, output, err := ask(s.client, "tools_call"); exit != 0 || err != nil {
			t.Errorf("before one that %s: status %d, %v\n%s", tc.what, exit, err, output)
		}
		l.limit = tc.limit
		if exit, output, err := ask(tc.client, "initialize"); !errors.Is(err, tc.err) || (exit == 0) == (err == nil) {
			t.Errorf("%s: want the error %v, else a status, got %v, %d\n%s", tc.what, tc.err, err, exit, output)
		}
	}
	l.limit = runLimit
	if exit, output, err := ask(s.client, "tools_call"); exit != 0 || err != nil {
		t.Errorf("at the end: status %d, %v\n%s", exit, err, output)
	}
}

// TestPassingScenariosShareOneProcess proves that the suite is not loaded again for each scenario.
func TestPassingScenariosShareOneProcess(t *testing.T) {
	s, r := installed(t), revision{version: "2025-11-25"}
	l := s.lane(t, r)
	judge(t, s.run(t, l, r, "initialize"), false)
	first := l.process
	judge(t, s.run(t, l, r, "tools_call"), false)
	if l.process == nil || l.process != first {
		t.Error("want the process of the first scenario to run the second, got another or none")
	}
}
