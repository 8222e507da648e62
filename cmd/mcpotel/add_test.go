package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/internal/command/demoserver"
	"github.com/mcpotel/mcpotel/internal/command/hostfile"
)

// atHome gives the test its own home directory. file returns the path of a host's file there.
func atHome(t *testing.T) (file func(id string) string) {
	t.Helper()
	home := t.TempDir()
	for _, variable := range []string{"HOME", "USERPROFILE"} {
		t.Setenv(variable, home)
	}
	for _, variable := range []string{"XDG_CONFIG_HOME", "AppData"} {
		t.Setenv(variable, filepath.Join(home, "config"))
	}
	return func(id string) string {
		for _, h := range hostfile.Hosts {
			if h.ID == id {
				path, err := h.File()
				if err != nil || !strings.HasPrefix(path, home) {
					t.Fatalf("%s: got %s, %v, want a path at home", id, path, err)
				}
				return path
			}
		}
		t.Fatalf("no host %s", id)
		return ""
	}
}

// writeAt writes a file and creates its directories.
func writeAt(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// steps runs commands in order, and checks the output of each.
func steps(t *testing.T, all []step) {
	t.Helper()
	for _, s := range all {
		code, out, stderr := runs(t, s.args...)
		if code != s.code || !strings.Contains(out, s.stdout) || !strings.Contains(stderr, s.stderr) {
			t.Errorf("%v: got exit code %d, want %d; want %q on standard output and %q on standard error, got:\n%s\n%s", s.args,
				code, s.code, s.stdout, s.stderr, out, stderr)
		}
		if strings.Contains(out+stderr, "s3cret") {
			t.Errorf("%v: the output shows a secret:\n%s\n%s", s.args, out, stderr)
		}
	}
}

type step struct {
	args           []string
	code           int
	stdout, stderr string
}

func TestServersAreSavedUsedAndRemoved(t *testing.T) {
	noCollector(t)
	file := atHome(t)
	url, _ := serves(t, "0")
	server := demoServerCommand(t)
	steps(t, []step{
		{[]string{"list"}, exitOK, "", "no server is saved"},
		{[]string{"list", "--json"}, exitOK, "[]\n", ""},
		{append([]string{"add", "demo", "--env", "TOKEN=s3cret"}, server...), exitOK,
			"saved demo (" + server[1] + ") in " + file(hostfile.Own), ""},
		{[]string{"add", "far", "--url", url + "?key=s3cret", "--header", "Authorization=Bearer s3cret"}, exitOK,
			"saved far (" + url + ") in ", ""},
		{[]string{"list"}, exitOK, "mcpotel: " + file(hostfile.Own) + "\n    demo " + server[1] +
			"\n    far " + url + "\n", ""},
		{[]string{"tools", "--server", "demo"}, exitOK, "forecast(city string, days? integer)", ""},
		{[]string{"call", "--server", "far", "divide", "a=6", "b=3"}, exitOK, `{"quotient":2}`, ""},
		{[]string{"call", "--server", "mcpotel:far", "divide", "a=6", "b=3"}, exitOK, `{"quotient":2}`, ""},
		{[]string{"describe", "--server", "demo", "divide"}, exitOK, "mcpotel call divide a=1 b=1 --server demo\n", ""},
		{[]string{"tools", "--server", "dem"}, exitUsage, "", `no saved server "dem" (did you mean demo?)`},
		{append([]string{"tools", "--server", "demo"}, server...), exitUsage, "", "more than one server"},
		{[]string{"add", "demo", "--url", url}, exitUsage, "", `server "demo" already exists; --replace`},
		{[]string{"add", "demo", "--url", url, "--replace"}, exitOK, "saved demo (" + url + ")", ""},
		{[]string{"remove", "demo"}, exitOK, "removed demo from " + file(hostfile.Own), ""},
		{[]string{"remove", "demo"}, exitUsage, "", `no saved server "demo"`},
		{[]string{"list"}, exitOK, "    far " + url + "\n", ""},
	})
	raw, err := os.ReadFile(file(hostfile.Own))
	if err != nil {
		t.Fatal(err)
	}
	var saved struct {
		MCPServers map[string]struct {
			URL     string
			Headers map[string]string
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal(raw, &saved); err != nil || len(saved.MCPServers) != 1 ||
		saved.MCPServers["far"].Headers["Authorization"] != "Bearer s3cret" {
		t.Errorf("the file: got %s, %v", raw, err)
	}
	if runtime.GOOS != "windows" {
		info, err := os.Stat(file(hostfile.Own))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("mode of the file: got %v, %v, want readable only by its owner", info.Mode(), err)
		}
	}
	if left := files(t, filepath.Dir(file(hostfile.Own))); len(left) != 1 {
		t.Errorf("other files in the directory: got %v, want none", left)
	}
}

// TestParallelChangesOfAFileAreAllKept lets several processes change one file at the same time.
func TestParallelChangesOfAFileAreAllKept(t *testing.T) {
	file := atHome(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(asCommand, "1")
	parallel := func(n int, args func(i int) []string) {
		t.Helper()
		results := make(chan error, n)
		for i := range n {
			go func() {
				out, err := exec.Command(self, args(i)...).CombinedOutput()
				if err != nil {
					err = fmt.Errorf("%v: %w: %s", args(i), err, out)
				}
				results <- err
			}()
		}
		for range n {
			if err := <-results; err != nil {
				t.Error(err)
			}
		}
	}
	saved := func() int {
		all, problems := hostfile.All()
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		return len(all)
	}
	const n = 12
	parallel(n, func(i int) []string { return []string{"add", fmt.Sprint("s", i), "--", "true"} })
	if got := saved(); got != n {
		t.Errorf("after %d concurrent additions, %d servers are saved", n, got)
	}
	parallel(n, func(i int) []string { return []string{"remove", fmt.Sprint("s", i)} })
	if got := saved(); got != 0 {
		t.Errorf("after %d concurrent removals, %d servers are left", n, got)
	}
	if left := files(t, filepath.Dir(file(hostfile.Own))); len(left) != 1 {
		t.Errorf("other files in the directory: got %v, want none", left)
	}
}

func TestAddRefusesInvalidNames(t *testing.T) {
	noCollector(t)
	file := atHome(t)
	steps(t, []step{
		{[]string{"add", "a b", "--url", "http://x/"}, exitUsage, "", `"a b" is not a valid name`},
		{[]string{"add", "cursor:x", "--url", "http://x/"}, exitUsage, "", "is not a valid name"},
		{[]string{"add", "", "--url", "http://x/"}, exitUsage, "", "is not a valid name"},
		{[]string{"add", strings.Repeat("x", 65), "--url", "http://x/"}, exitUsage, "", "is not a valid name"},
		{[]string{"add"}, exitUsage, "", "the name of the server is missing"},
		{[]string{"add", "x"}, exitUsage, "", "no server: give either --url"},
		{[]string{"add", "x", "--url", "http://x/", "--", "y"}, exitUsage, "", "no server: give either --url"},
		{[]string{"add", "x", "npx"}, exitUsage, "", "write the command of the server after --"},
		{[]string{"add", "x", "--url", "ftp://x/"}, exitUsage, "", "the URL must begin with http"},
		{[]string{"add", "x", "--header", "A=s3cret", "--", "y"}, exitUsage, "", "--header is for"},
		{[]string{"add", "x", "--env", "A=s3cret", "--url", "http://x/"}, exitUsage, "", "--env and --cwd are for"},
		{[]string{"add", "x", "--url", "http://x/", "--header", "s3cret"}, exitUsage, "", "header 1 is not"},
		{[]string{"add", "x", "--url", "http://x/", "--header", "A=Bearer", "s3cret"}, exitUsage, "", "quote a header"},
		{[]string{"add", "x", "--url", "http://x/", "--header", "A=s3cret\nB: c"}, exitUsage, "", "control characters"},
		{[]string{"remove"}, exitUsage, "", "want the name of one server"},
		{[]string{"list", "x"}, exitUsage, "", "unexpected argument"},
	})
	if _, err := os.Stat(file(hostfile.Own)); err == nil {
		t.Error("a file was written")
	}
}

// TestHostFilesAreReadButNotChanged uses the files of all hosts, each in the host's own format.
func TestHostFilesAreReadButNotChanged(t *testing.T) {
	noCollector(t)
	file := atHome(t)
	url, _ := serves(t, "0")
	texts := map[string]string{
		"claude-desktop": `{"mcpServers":{"only":{"url":` + quoted(t, url) + `},"off":{"command":"x","disabled":true}}}`,
		"claude-code":    `{"numStartups":7,"mcpServers":{"twice":{"type":"http","url":"http://127.0.0.1:1/?k=s3cret"}}}`,
		"cursor":         `{"mcpServers":{"twice":{"url":` + quoted(t, url) + `},"unset":{"url":"${MCPOTEL_UNSET_URL}"}}}`,
		"vscode": "\uFEFF// mine\n" +
			`{"inputs":[],"servers":{"code":{"type":"stdio","command":"x","args":["--token","s3cret"],},}}`,
		"windsurf": `{"mcpServers":{"wind":{"serverUrl":` + quoted(t, url) + `}}}`,
		"gemini":   `{"a":1,"mcpServers":{"gem":{"httpUrl":` + quoted(t, url) + `},"bad":{"command":["s3cret"]}}}`,
	}
	for _, h := range hostfile.Hosts[1:] {
		if texts[h.ID] == "" {
			t.Errorf("no file for %s", h.ID)
		}
		writeAt(t, file(h.ID), texts[h.ID])
	}
	steps(t, []step{
		{[]string{"list"}, exitOK, "Claude Code: " + file("claude-code") + "\n    twice http://127.0.0.1:1/\n", ""},
		{[]string{"list"}, exitOK, "VS Code: " + file("vscode") + "\n    code x\n", ""},
		{[]string{"list"}, exitOK, "    off disabled\n", ""},
		{[]string{"list"}, exitOK, "    bad cannot be used: ", ""},
		{[]string{"list", "--json"}, exitOK, `"fullName": "windsurf:wind",`, ""},
		{[]string{"ping", "--server", "only"}, exitOK, demoserver.Name, ""},
		{[]string{"ping", "--server", "wind"}, exitOK, demoserver.Name, ""},
		{[]string{"ping", "--server", "gem"}, exitOK, demoserver.Name, ""},
		{[]string{"ping", "--server", "cursor:twice"}, exitOK, demoserver.Name, ""},
		{[]string{"ping", "--server", "twice"}, exitUsage, "", "want one of claude-code:twice, cursor:twice"},
		{[]string{"ping", "--server", "off"}, exitUsage, "", "disabled"},
		{[]string{"ping", "--server", "bad"}, exitUsage, "", file("gemini")},
		{[]string{"ping", "--server", "unset"}, exitUsage, "", "MCPOTEL_UNSET_URL is not set"},
		{[]string{"remove", "only"}, exitUsage, "",
			"is a server of Claude Desktop: remove it there, in " + file("claude-desktop")},
		{[]string{"add", "only", "--url", url}, exitOK, "saved only", "use claude-desktop:only for that server from now on"},
		{[]string{"remove", "only"}, exitOK, "removed only", ""},
	})
	if got := completes(t, "ping", "--server", "tw"); len(got) != 1 || got[0] != "twice" {
		t.Errorf("completion: got %v, want the name twice, exactly once", got)
	}
	for id, text := range texts {
		if raw, err := os.ReadFile(file(id)); err != nil || string(raw) != text {
			t.Errorf("%s: got %s, %v, want the file unchanged", id, raw, err)
		}
	}
}

func TestInvalidFileIsReportedAndKept(t *testing.T) {
	noCollector(t)
	file := atHome(t)
	for _, text := range []string{`{"mcpServers":`, `[]`, `{"mcpServers":7}`, `{"mcpServers":{"a":1,"a":2}}`} {
		writeAt(t, file(hostfile.Own), text)
		writeAt(t, file("cursor"), text)
		steps(t, []step{
			{[]string{"add", "x", "--url", "http://x/"}, exitUsage, "", file(hostfile.Own)},
			{[]string{"list"}, exitOK, "", file("cursor") + ": "},
			{[]string{"ping", "--server", "x"}, exitUsage, "", file("cursor") + ": "},
		})
		if raw, err := os.ReadFile(file(hostfile.Own)); err != nil || string(raw) != text {
			t.Errorf("got %s, %v, want %s unchanged", raw, err, text)
		}
	}
	writeAt(t, file(hostfile.Own), `{"note":[1,2],"mcpServers":{"z":{"command":"z","future":{"b":1,"a":2}}},"more":null}`)
	steps(t, []step{{[]string{"add", "a", "--url", "http://x/"}, exitOK, "saved a", ""}})
	raw, err := os.ReadFile(file(hostfile.Own))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"note":[1,2],"mcpServers":{"z":{"command":"z","future":{"b":1,"a":2}},"a":{"url":"http://x/"}},` +
		`"more":null}`
	if got := strings.NewReplacer("\n", "", " ", "").Replace(string(raw)); got != want {
		t.Errorf("got %s, want everything else unchanged: %s", got, want)
	}
}
