package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/internal/command/demoserver"
	"github.com/mcpotel/mcpotel/mcp"
)

// eras has one revision of each era.
var eras = []string{"2026-07-28", "2025-11-25"}

func TestCommandsForResourcesPromptsAndMore(t *testing.T) {
	noCollector(t)
	url, _ := serves(t, "0")
	for name, tc := range map[string]struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		"resources": {[]string{"resources"}, exitOK,
			"demo://clock  text/plain\n    clock: The time, which can be watched.\n", ""},
		"templates":  {[]string{"resources"}, exitOK, "demo://forecast/{city}  template  application/json\n", ""},
		"a resource": {[]string{"read", "demo://forecast/Oslo"}, exitOK, `{"sky":"clear","celsius_max":9}`, ""},
		"a resource as JSON": {[]string{"read", "--json", "demo://forecast/Oslo"}, exitOK, `"uri": "demo://forecast/Oslo"`,
			""},
		"no such resource": {[]string{"read", "demo://nosuch"}, exitTool, "", "resource not found"},
		"prompts":          {[]string{"prompts"}, exitOK, "pack(city, days?)\n    What to take along to a city.\n", ""},
		"a prompt": {[]string{"prompt", "pack", "city=Rome", "days=3"}, exitOK,
			"user: I go to Rome for 3 days. What do I pack?\nuser: [resource demo://forecast/Rome", ""},
		"a prompt as JSON":   {[]string{"prompt", "--json", "pack", "city=Rome"}, exitOK, `"role": "user"`, ""},
		"a missing argument": {[]string{"prompt", "pack"}, exitTool, "", "city is missing"},
		"no such prompt":     {[]string{"prompt", "nosuch"}, exitTool, "", "-32602"},
		"completion":         {[]string{"complete", "pack", "city=Os"}, exitOK, "Osaka\nOslo\n", ""},
		"completion, template": {[]string{"complete", "demo://forecast/{city}", "city=b", "other=x"}, exitOK,
			"Berlin\nBern\n", ""},
		"completion as JSON": {[]string{"complete", "--json", "pack", "city=Os"}, exitOK, `"values": [`, ""},
		"ping":               {[]string{"ping"}, exitOK, demoserver.Name + " ", ""},
		"ping as JSON":       {[]string{"ping", "--json"}, exitOK, `"milliseconds": `, ""},
		"traced":             {[]string{"prompt", "--trace", "pack", "city=Rome"}, exitOK, "user: ", "prompts/get"},
		"every kind of content": {[]string{"call", "show"}, exitOK,
			"[link clock demo://clock]\n[resource demo://about text/markdown]\n# The demo's server", ""},
		"log messages": {[]string{"call", "--level", "warning", "talk"}, exitOK, "Those were 8 levels.",
			"log critical talk: This is what critical looks like."},
		"roots":              {[]string{"call", "--root", ".", "roots"}, exitOK, `{"roots":["file://`, ""},
		"no roots":           {[]string{"call", "roots"}, exitTool, "", ""},
		"no sampling":        {[]string{"call", "poem", `{"about":"nothing"}`}, exitTool, "", ""},
		"no person to ask":   {[]string{"call", "order"}, exitOK, "No coffee, then.", "declined: there is no person"},
		"no person to visit": {[]string{"call", "sign-in"}, exitOK, "You did not go.", "https://example.com/?from=mcpotel"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, version := range eras {
				args := append([]string{tc.args[0], "--url", url, "--pin-version", version}, tc.args[1:]...)
				code, stdout, stderr := runs(t, args...)
				if code != tc.code {
					t.Errorf("%s: want exit code %d, got %d", version, tc.code, code)
				}
				if !strings.Contains(stdout, tc.stdout) || !strings.Contains(stderr, tc.stderr) {
					t.Errorf("%s: want %q on standard output and %q on standard error, got:\n%s\n%s", version, tc.stdout, tc.stderr,
						stdout, stderr)
				}
			}
		})
	}
}

func TestMisuseOfResourceAndPromptCommandsIsExplained(t *testing.T) {
	noCollector(t)
	server := demoServerCommand(t)
	for name, tc := range map[string]struct {
		args   []string
		stderr string
	}{
		"no URI":                     {[]string{"read"}, "the resource is missing"},
		"two URIs":                   {[]string{"read", "a:b", "c:d"}, "unexpected argument"},
		"no prompt":                  {[]string{"prompt"}, "the name of the prompt is missing"},
		"an argument without =":      {[]string{"prompt", "pack", "Rome"}, "want NAME=VALUE"},
		"an argument twice":          {[]string{"prompt", "pack", "city=a", "city=b"}, "each name once"},
		"nothing to complete":        {[]string{"complete", "pack"}, "complete: want the name"},
		"a surplus argument":         {[]string{"resources", "x"}, "unexpected argument"},
		"a surplus argument of ping": {[]string{"ping", "x"}, "unexpected argument"},
		"an unknown level":           {[]string{"watch", "--level", "loud"}, "unknown level"},
		"a missing root":             {[]string{"ping", "--root", "/does/not/exist"}, "no such file"},
		"a root that is a file":      {[]string{"ping", "--root", "main.go"}, "not a directory"},
		"a server without a file":    {[]string{"ping", "--server", "x"}, "more than one server"},
		"two ways to a server":       {[]string{"ping", "--config", "x.json"}, "more than one server"},
		"an unknown task command":    {[]string{"task", "frob", "x"}, "want get, wait or cancel"},
		"no task command":            {[]string{"task", "--json", "x"}, "want get, wait or cancel"},
		"an empty task command":      {[]string{"task", ""}, "want get, wait or cancel"},
		"no task":                    {[]string{"task", "get"}, "the task is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			code, _, stderr := runs(t, append(tc.args, server...)...)
			if code != exitUsage || !strings.Contains(stderr, tc.stderr) {
				t.Errorf("got exit code %d and %q, want %d and a text with %q", code, stderr, exitUsage, tc.stderr)
			}
		})
	}
}

func TestReadWritesTheBytesOfABlob(t *testing.T) {
	noCollector(t)
	code, out, stderr := runs(t, append([]string{"read", "demo://pixel"}, demoServerCommand(t)...)...)
	if code != exitOK || !bytes.HasPrefix([]byte(out), []byte("\x89PNG\r\n\x1a\n")) || len(out) != 70 {
		t.Errorf("want a PNG of 70 bytes, got exit code %d and %d bytes: %q: %s", code, len(out), out[:min(len(out), 8)],
			stderr)
	}
}

// TestCallWaitsForTasksOrDetachesThem starts tasks, and manages them from other runs of the command.
func TestCallWaitsForTasksOrDetachesThem(t *testing.T) {
	noCollector(t)
	url, _ := serves(t, "0")
	code, out, stderr := runs(t, "call", "--url", url, "brew", `{"cups":2,"seconds":0.2}`)
	if code != exitOK || out != "{\"cups\":2}\n" || !strings.Contains(stderr, "mcpotel: task working") ||
		!strings.Contains(stderr, "mcpotel: task completed") {
		t.Errorf("a call that becomes a task: want the result, and its status on standard error; got %d and %q: %s", code,
			out, stderr)
	}
	code, id, stderr := runs(t, "call", "--url", url, "--task", "brew", `{"cups":2,"seconds":0.2}`)
	if id = strings.TrimSpace(id); code != exitOK || id == "" || strings.Contains(stderr, id) {
		t.Fatalf("call --task: want the id on standard output and nowhere else, got %d and %q: %s", code, id, stderr)
	}
	if code, out, stderr := runs(t, "task", "get", "--url", url, id); code != exitOK ||
		!strings.HasPrefix(out, "working") {
		t.Errorf("get: want the status, got %d and %q: %s", code, out, stderr)
	}
	if code, out, stderr := runs(t, "task", "wait", "--url", url, id); code != exitOK || out != "{\"cups\":2}\n" {
		t.Errorf("wait: want the result, got %d and %q: %s", code, out, stderr)
	}
	_, id, _ = runs(t, "call", "--url", url, "--task", "brew", `{"cups":1000}`)
	id = strings.TrimSpace(id)
	if code, out, stderr := runs(t, "task", "cancel", "--url", url, id); code != exitOK || out != "" {
		t.Errorf("cancel: want nothing, got %d and %q: %s", code, out, stderr)
	}
	if code, out, stderr := runs(t, "task", "wait", "--url", url, id); code != exitTool ||
		!strings.Contains(stderr, "task cancelled") {
		t.Errorf("wait for a cancelled task: want exit code %d, got %d and %q: %s", exitTool, code, out, stderr)
	}
	if code, _, stderr := runs(t, "task", "get", "--url", url, "nosuch"); code != exitTool ||
		!strings.Contains(stderr, "unknown task") {
		t.Errorf("get of an unknown task: want exit code %d, got %d: %s", exitTool, code, stderr)
	}
	code, out, stderr = runs(t, "call", "--url", url, "--task", "divide", `{"a":6,"b":3}`)
	if code != exitOK || out != "{\"quotient\":2}\n" || !strings.Contains(stderr, "without a task") {
		t.Errorf("a call that does not become a task: want its result, got %d and %q: %s", code, out, stderr)
	}
}

// configFile writes an mcpServers file with a demo server for each transport, and a disabled server.
func configFile(t *testing.T, more string) string {
	t.Helper()
	url, _ := serves(t, "0")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "mcp.json")
	race := quoted(t, os.Getenv("GORACE")) // servers of files do not inherit GORACE
	content := `{"mcpServers":{
		"local":{"command":` + quoted(t, self) + `,"args":["serve-demo"],"env":{"GORACE":` + race + `}},
		"remote":{"url":` + quoted(t, url) + `},
		"off":{"command":"/does/not/exist","disabled":true}` + more + `}}`
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func quoted(t *testing.T, s string) string {
	t.Helper()
	raw, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestCommandsUseAllServersOfAFile(t *testing.T) {
	noCollector(t)
	path := configFile(t, "")
	for name, tc := range map[string]struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		"tools of both":      {[]string{"tools"}, exitOK, "remote_forecast(city string, days? integer)\n", ""},
		"tools of the first": {[]string{"tools"}, exitOK, "local_forecast(city string, days? integer)\n", ""},
		"a call of one":      {[]string{"call", "local_divide", `{"a":6,"b":3}`}, exitOK, `{"quotient":2}`, ""},
		"a call of the other": {[]string{"call", "--trace", "remote_divide", `{"a":6,"b":3}`}, exitOK, `{"quotient":2}`,
			"tools/call divide"},
		"an unknown prefix": {[]string{"call", "nobody_divide"}, exitTool, "",
			`no tool "nobody_divide"; the tools are local_forecast, local_divide, `},
		"a misspelt tool":        {[]string{"call", "lokal_divide"}, exitTool, "", " (did you mean local_divide?)"},
		"an unknown tool":        {[]string{"call", "local_nosuch"}, exitTool, "", "-32602"},
		"resources":              {[]string{"resources"}, exitOK, "remote: demo://clock  text/plain\n", ""},
		"prompts":                {[]string{"prompts"}, exitOK, "local: pack(city, days?)\n", ""},
		"ping":                   {[]string{"ping"}, exitOK, "remote: " + demoserver.Name, ""},
		"one server":             {[]string{"tools", "--server", "remote"}, exitOK, "\nwait(seconds number)\n", ""},
		"a resource of one":      {[]string{"read", "--server", "local", "demo://about"}, exitOK, "# The demo's server", ""},
		"a resource, no server":  {[]string{"read", "demo://about"}, exitUsage, "", "local, remote"},
		"an unknown server":      {[]string{"ping", "--server", "nosuch"}, exitUsage, "", "local, remote"},
		"a disabled server":      {[]string{"ping", "--server", "off"}, exitUsage, "", "no such server"},
		"watch without a server": {[]string{"watch", "--uri", "demo://clock"}, exitUsage, "", "--server NAME"},
	} {
		t.Run(name, func(t *testing.T) {
			args := append([]string{tc.args[0], "--config", path}, tc.args[1:]...)
			code, stdout, stderr := runs(t, args...)
			if code != tc.code || !strings.Contains(stdout, tc.stdout) || !strings.Contains(stderr, tc.stderr) {
				t.Errorf("got exit code %d, want %d; want %q on standard output and %q on standard error, got:\n%s\n%s",
					code, tc.code, tc.stdout, tc.stderr, stdout, stderr)
			}
		})
	}
	_, out, _ := runs(t, "prompts", "--json", "--config", path)
	var lists []struct {
		Server  string
		Prompts []*mcp.Prompt
	}
	if err := json.Unmarshal([]byte(out), &lists); err != nil || len(lists) != 2 || lists[0].Server != "local" ||
		len(lists[1].Prompts) != 1 {
		t.Errorf("prompts as JSON: want a list for each server, got %v:\n%s", err, out)
	}
}

func TestFailedServerOfAFileDoesNotAffectOthers(t *testing.T) {
	noCollector(t)
	path := configFile(t, `,"broken":{"command":"/does/not/exist"}`)
	for _, command := range []string{"tools", "resources", "prompts", "ping"} {
		code, out, stderr := runs(t, command, "--config", path)
		if code != exitConnection || !strings.Contains(out, "local") || !strings.Contains(out, "remote") ||
			!strings.Contains(stderr, "broken: ") {
			t.Errorf("%s: got exit code %d, want %d, the results of the other servers, and an error for the broken server: "+
				"%s\n%s", command,
				code, exitConnection, out, stderr)
		}
	}
	if code, out, stderr := runs(t, "call", "--config", path, "local_divide", `{"a":6,"b":3}`); code != exitOK {
		t.Errorf("a call of another server: got exit code %d, want 0: %s%s", code, out, stderr)
	}
	if code, _, stderr := runs(t, "call", "--config", path, "broken_x"); code != exitConnection ||
		!strings.Contains(stderr, "no such file") {
		t.Errorf("a call of the broken server: got exit code %d, want %d and the reason: %s", code, exitConnection, stderr)
	}
	if err := os.WriteFile(path, []byte(`{"mcpServers":{"x":{}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := runs(t, "ping", "--config", path); code != exitUsage ||
		!strings.Contains(stderr, "mcpServers.x") {
		t.Errorf("an invalid file: got exit code %d, want %d and the position: %s", code, exitUsage, stderr)
	}
}
