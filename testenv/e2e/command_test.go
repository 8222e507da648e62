package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
)

// command is the built command; TestMain builds it once.
var command string

func TestMain(m *testing.M) {
	if address, ok := os.LookupEnv(environmentServe); ok {
		serveOurs(address)
	}
	if _, ok := os.LookupEnv(environmentFull); ok {
		serveFull()
	}
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "mcpotel")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	command = filepath.Join(dir, "mcpotel")
	build := exec.Command("go", "build", "-o", command, "./cmd/mcpotel")
	build.Dir = filepath.Join("..", "..")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		panic(err)
	}
	return m.Run()
}

// runs runs the command against a server, as a user's shell does.
func runs(t *testing.T, s server, dir string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	target := s.command(t, dir)
	cmd := exec.CommandContext(ctx, command, append(append(args, "--", target.Command), target.Args...)...)
	cmd.Env, cmd.Dir = append(target.Env, "LC_ALL=C.UTF-8"), target.Dir
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), out.String(), errs.String()
	} else if err != nil {
		t.Fatal(err)
	}
	return 0, out.String(), errs.String()
}

// TestTheCommandOnRealServers lists tools and calls one as a user does, and checks the waterfall.
func TestTheCommandOnRealServers(t *testing.T) {
	for _, s := range servers {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			dir := directory(t)
			code, out, errs := runs(t, s, dir, "tools", "--json")
			var tools []*mcp.Tool
			if err := json.Unmarshal([]byte(out), &tools); code != 0 || err != nil || len(tools) < s.tools {
				t.Errorf("tools: want exit code 0 and %d tools, got %d, %d tools, %v: %s", s.tools, code, len(tools), err, errs)
			}
			code, out, errs = runs(t, s, dir, "call", "--trace", s.tool, s.arguments(dir))
			if code != 0 || !strings.Contains(out, s.want) {
				t.Errorf("call: want exit code 0 and %q, got %d, %q: %s", s.want, code, out, errs)
			}
			for _, want := range []string{"INTERNAL mcpotel call " + s.tool, "CLIENT", "tools/call " + s.tool,
				"protocol=" + string(s.version)} {
				if !strings.Contains(errs, shown(want)) {
					t.Errorf("call: want %q in the waterfall, got:\n%s", want, errs)
				}
			}
		})
	}
}

// shown returns the form of a name in the waterfall, truncated to its column.
func shown(name string) string {
	const most = 40
	if len(name) > most {
		return name[:most]
	}
	return name
}

// TestExitCodesOnRealServers checks the exit codes that scripts rely on.
func TestExitCodesOnRealServers(t *testing.T) {
	byName := map[string]server{}
	for _, s := range servers {
		byName[s.name] = s
	}
	broken := byName["filesystem"]
	broken.command = npm("@modelcontextprotocol/server-filesystem/dist/index.js", "/does/not/exist")
	for name, tc := range map[string]struct {
		server server
		args   []string
		code   int
		stderr string
	}{
		"a call as a task": {byName["everything"], []string{"call", "simulate-research-query", `{"topic":"tea"}`}, 0,
			"task completed"},
		"a tool error": {byName["everything"], []string{"call", "get-structured-content", `{"location":"Paris"}`}, 1,
			"the tool reported an error"},
		"an unknown tool":     {byName["gosdk-hello"], []string{"call", "nosuch"}, 1, "nosuch"},
		"a server that exits": {broken, []string{"tools"}, 3, "exited with status"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, _, errs := runs(t, tc.server, directory(t), tc.args...)
			if code != tc.code || !strings.Contains(errs, tc.stderr) {
				t.Errorf("want exit code %d and %q, got %d: %s", tc.code, tc.stderr, code, errs)
			}
		})
	}
}
