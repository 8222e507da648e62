package conformance

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// suite is the installed suite, and the way to start it.
type suite struct {
	command []string // command line before the suite's own arguments
	dir     string   // directory for results
	client  string   // path of the client under test
	env     []string // environment of the suite and of the client
}

// installed returns the suite that MCPOTEL_CONFORMANCE names.
func installed(t *testing.T) suite {
	t.Helper()
	dir := os.Getenv("MCPOTEL_CONFORMANCE")
	if dir == "" {
		t.Fatal("MCPOTEL_CONFORMANCE is not set: run testenv/conformance/install and set it to the printed directory")
	}
	main := filepath.Join(dir, "node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js")
	if _, err := os.Stat(main); err != nil {
		t.Fatalf("MCPOTEL_CONFORMANCE holds no suite: %v", err)
	}
	npm, err := filepath.Abs("npm")
	if err != nil {
		t.Fatal(err)
	}
	node := []string{"node", "--import", filepath.Join(npm, "globsync.mjs"), filepath.Join(npm, "repeat.mjs"), main}
	return suite{
		command: append(isolation(t), node...),
		dir:     results,
		client:  client,
		env:     []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "NO_COLOR=1"},
	}
}

// isolation returns a command that runs another command with loopback as its only network, because the suite's mock
// servers listen on every address. It returns nothing if the system does not allow that.
func isolation(t *testing.T) []string {
	t.Helper()
	const loopback = `ip link set lo up && exec "$@"`
	var reasons []error
	for _, unshare := range []string{"-n", "-rn"} {
		command := []string{"unshare", unshare, "sh", "-c", loopback, "sh"}
		err := exec.CommandContext(t.Context(), command[0], append(command[1:], "true")...).Run()
		if err == nil {
			return command
		}
		reasons = append(reasons, err)
	}
	t.Logf("no network namespace (%v): the suite's servers listen on every address of this machine",
		errors.Join(reasons...))
	return nil
}

// outcome is the result of one run of the suite.
type outcome struct {
	checks []check
	exit   int    // exit status of the suite
	client int    // exit status of the client
	output string // both output streams of the suite
	dir    string // directory with checks.json and the client's output
}

// lane returns a lane for the scenarios of a revision. The lane ends with the test.
func (s suite) lane(t *testing.T, r revision) *lane {
	l := &lane{
		command: s.command,
		env:     append(slices.Clone(s.env), "MCPOTEL_WAY="+string(r.way), "MCPOTEL_COMMAND="+command),
		limit:   runLimit,
	}
	t.Cleanup(func() {
		if err := l.stop(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// run runs one scenario.
func (s suite) run(t *testing.T, l *lane, r revision, scenario string) outcome {
	t.Helper()
	o := outcome{dir: filepath.Join(s.dir, strings.ReplaceAll(r.name()+"/"+scenario, "/", "-"))}
	o.exit, o.output = execute(t, l, "client", "--command", s.client, "--scenario", scenario,
		"--spec-version", r.version, "--force", "-o", o.dir)
	if _, status, found := strings.Cut(o.output, "\nClient exited with code "); found {
		if _, err := fmt.Sscan(status, &o.client); err != nil {
			t.Fatalf("the suite tells the client's status in another way: %v", err)
		}
	}
	o.checks = readChecks(t, o)
	return o
}

// start starts a server for the duration of a test, and returns the URL that it prints.
func start(t *testing.T, command string, args ...string) string {
	t.Helper()
	cmd := exec.Command(command, args...)
	_, noInput := cmd.StdinPipe() // the server ends when this process is killed
	stdout, err := cmd.StdoutPipe()
	if err := errors.Join(noInput, err); err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(cmd.Process.Signal(os.Interrupt), cmd.Wait()); err != nil {
			t.Errorf("%s: %v", filepath.Base(command), err)
		}
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("%s does not say where it listens: %v", filepath.Base(command), err)
	}
	return strings.Replace(strings.TrimSpace(line), "127.0.0.1", "localhost", 1) // one scenario requires this name
}

// onTheHost returns the suite without isolation. For tests of a server the suite opens no port, but must reach the
// server's port.
func (s suite) onTheHost() suite {
	s.command = s.command[slices.Index(s.command, "node"):]
	return s
}

// runServer runs one scenario against a server.
func (s suite) runServer(t *testing.T, l *lane, url string, r revision, scenario string) outcome {
	t.Helper()
	o := outcome{dir: filepath.Join(s.dir, strings.ReplaceAll("server-"+r.name()+"/"+scenario, "/", "-"))}
	o.exit, o.output = execute(t, l, "server", "--url", url, "--scenario", scenario, "--spec-version", r.version,
		"--force", "-o", o.dir)
	o.checks = readChecks(t, o)
	return o
}

// execute runs the suite with other arguments.
func execute(t *testing.T, l *lane, args ...string) (exit int, output string) {
	t.Helper()
	exit, output, err := l.run(args...)
	if err != nil {
		t.Fatalf("the suite: %v\n%s", err, output)
	}
	return exit, output
}

// readChecks reads the only checks.json below the directory of a run. The suite names its folder after the scenario and
// the time.
func readChecks(t *testing.T, o outcome) []check {
	t.Helper()
	var found []check
	err := filepath.WalkDir(o.dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.Name() != "checks.json" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return json.Unmarshal(text, &found)
	})
	if err != nil {
		t.Fatalf("no checks: %v\n%s", err, o.output)
	}
	return found
}
