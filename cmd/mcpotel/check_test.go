package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/mcp/drift"
)

// checks runs "mcpotel check" on the demo's server.
func checks(t *testing.T, file string, flags ...string) (code int, stdout, stderr string) {
	t.Helper()
	return runs(t, slices.Concat([]string{"check", "--baseline", file}, flags, demoServerCommand(t))...)
}

func TestCheckReportsChangedTools(t *testing.T) {
	noCollector(t)
	file := filepath.Join(t.TempDir(), "tools.json")
	code, out, stderr := checks(t, file, "--update")
	if code != exitOK || out != "12 tools are in "+file+"\n" {
		t.Fatalf("the first baseline: got %d:\n%s%s", code, out, stderr)
	}
	written, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	code, out, stderr = checks(t, file)
	if code != exitOK || out != "12 tools are the same as in "+file+"\n" || stderr != "" {
		t.Errorf("the same server: got %d:\n%s%s", code, out, stderr)
	}

	tools, err := drift.ParseBaseline(written)
	if err != nil {
		t.Fatal(err)
	}
	brew := tools["brew"]
	brew.Description[0]++
	brew.OutputSchema[0]++
	tools["brew"], tools["gone"] = brew, brew
	delete(tools, "forecast")
	text, err := tools.Baseline()
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	const want = "changed  brew: description, output schema\nadded    forecast\nremoved  gone\n"
	code, out, stderr = checks(t, file)
	if code != exitTool || out != want || !strings.Contains(stderr, "mcpotel: 3 tools are different from "+file) {
		t.Errorf("want three changes and exit code %d, got %d:\n%s%s", exitTool, code, out, stderr)
	}
	code, out, _ = checks(t, file, "--json")
	var found checked
	if err := json.Unmarshal([]byte(out), &found); code != exitTool || err != nil || found.Tools != 12 ||
		len(found.Changes) != 3 || !slices.Equal(found.Changes[0].Parts, []drift.Part{drift.PartDescription,
		drift.PartOutputSchema}) {
		t.Errorf("want three changes as JSON, got %d, %v:\n%s", code, err, out)
	}
	if again, err := os.ReadFile(file); err != nil || string(again) != string(text) {
		t.Errorf("want the file unchanged without --update, got %v:\n%s", err, again)
	}

	code, out, stderr = checks(t, file, "--update")
	if code != exitOK || out != want+"12 tools are in "+file+"\n" {
		t.Errorf("want the changes, and the baseline written, got %d:\n%s%s", code, out, stderr)
	}
	if again, err := os.ReadFile(file); err != nil || string(again) != string(written) {
		t.Errorf("want the first baseline again, got %v:\n%s", err, again)
	}
	if code, out, _ = checks(t, file, "--json"); code != exitOK || !strings.Contains(out, `"changes": []`) {
		t.Errorf("want no changes as an empty list, got %d:\n%s", code, out)
	}
}

func TestCheckComparesNothingIfAServerFails(t *testing.T) {
	noCollector(t)
	dir := t.TempDir()
	file, servers := filepath.Join(dir, "tools.json"), filepath.Join(dir, "mcp.json")
	text := `{"mcpServers":{"demo":{"command":` + quoted(t, os.Args[0]) + `,"args":["serve-demo"]},` +
		`"none":{"command":` + quoted(t, filepath.Join(dir, "none")) + `}}}`
	if err := os.WriteFile(servers, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, stderr := runs(t, "check", "--baseline", file, "--update", "--config", servers)
	if _, err := os.Stat(file); code != exitConnection || out != "" || err == nil {
		t.Errorf("want exit code %d and no file, got %d:\n%s%s", exitConnection, code, out, stderr)
	}
	code, out, stderr = runs(t, "check", "--baseline", file, "--update", "--config", servers, "--server", "demo")
	if code != exitOK || out != "12 tools are in "+file+"\n" {
		t.Errorf("the server that starts: got %d:\n%s%s", code, out, stderr)
	}
}

func TestMisuseOfCheckIsExplained(t *testing.T) {
	noCollector(t)
	dir := t.TempDir()
	broken, missing := filepath.Join(dir, "broken.json"), filepath.Join(dir, "missing.json")
	if err := os.WriteFile(broken, []byte(`{"mcpServers":{}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	demo := func(args ...string) []string { return append(args, demoServerCommand(t)...) }
	for name, tc := range map[string]struct {
		args   []string
		stderr string
	}{
		"no server":          {[]string{"check", "--baseline", missing}, "no server: give --url URL"},
		"not a baseline":     {demo("check"), "no baseline: give --baseline FILE"},
		"no file":            {demo("check", "--baseline", missing), "--update writes it"},
		"a directory":        {demo("check", "--baseline", dir), "--baseline: "},
		"another file":       {demo("check", "--baseline", broken), "not a baseline of tools"},
		"not over that file": {demo("check", "--baseline", broken, "--update"), "not a baseline"},
		"a surplus argument": {demo("check", "x"), `unexpected argument "x"`},
		"an unknown flag":    {[]string{"check", "--window", "3"}, `unknown flag: --window; "mcpotel help check" lists`},
		"a misspelt name":    {[]string{"chek"}, `unknown command "chek" (did you mean check?)`},
	} {
		if code, out, stderr := runs(t, tc.args...); code != exitUsage || out != "" || !strings.Contains(stderr, tc.stderr) {
			t.Errorf("%s: got exit code %d, %q and %q, want %d and a text with %q", name, code, out, stderr, exitUsage,
				tc.stderr)
		}
	}
}

func TestCountOfOneToolIsSingular(t *testing.T) {
	if got := areTools(1); got != "1 tool is" {
		t.Errorf("got %q, want the singular", got)
	}
}
