package hostfile

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/mcpclient/config"
)

const installedServer = `{"command":"x","args":["-y"]}`

func hostByID(t testing.TB, id string) *Host {
	t.Helper()
	return &Hosts[slices.IndexFunc(Hosts, func(h Host) bool { return h.ID == id })]
}

func TestInstallAddsAServerToTheText(t *testing.T) {
	for name, c := range map[string]struct{ before, after string }{
		"no servers": {"{}", "{\n  \"mcpServers\": {\n    \"s\": {\n      \"command\": \"x\",\n      \"args\": [\n" +
			"        \"-y\"\n      ]\n    }\n  }\n}"},
		"an empty object": {"{\n  \"mcpServers\": {}\n}", "{\n  \"mcpServers\": {\n    \"s\": {\n      \"command\": \"x\",\n" +
			"      \"args\": [\n        \"-y\"\n      ]\n    }\n  }\n}"},
		"in one line": {`{"mcpServers": {"a": {"command":"y"}}}`,
			`{"mcpServers": {"a": {"command":"y"}, "s": ` + installedServer + `}}`},
		"tabs, a comment and a trailing comma": {
			"{\n\t\"servers\": {\n\t\t\"a\": {\"url\": \"http://a\"}, // mine\n\t},\n}",
			"{\n\t\"servers\": {\n\t\t\"a\": {\"url\": \"http://a\"},\n\t\t\"s\": {\n\t\t  \"command\": \"x\",\n\t\t  \"args\": [\n" +
				"\t\t    \"-y\"\n\t\t  ]\n\t\t}, // mine\n\t},\n}"},
		"other members": {"{\n  \"theme\": \"dark\"\n}\n", "{\n  \"theme\": \"dark\",\n  \"mcpServers\": {\n    \"s\": {\n" +
			"      \"command\": \"x\",\n      \"args\": [\n        \"-y\"\n      ]\n    }\n  }\n}\n"},
	} {
		got, err := inserted([]byte(c.before), "mcpServers", "s", json.RawMessage(installedServer))
		if err != nil || string(got) != c.after {
			t.Errorf("%s: want\n%s\ngot %v\n%s", name, c.after, err, got)
		}
	}
}

// TestUninstallUndoesInstall installs one of the servers of arbitrary files, and removes it again: with its backup, and
// without.
func TestUninstallUndoesInstall(t *testing.T) {
	h := hostByID(t, "cursor")
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		space := rapid.SampledFrom([]string{"", " ", "\n", "\n    ", "\n\t", " // c\n", " /* {,} */ "})
		var text strings.Builder
		text.WriteString(space.Draw(t, "s") + "{")
		for i := range rapid.IntRange(0, 2).Draw(t, "members") {
			text.WriteString(space.Draw(t, "s") + `"m` + string(rune('0'+i)) + `":` + space.Draw(t, "s") + `{"a": [1, "}"]},`)
		}
		text.WriteString(space.Draw(t, "s") + `"mcpServers": {`)
		names := rapid.IntRange(0, 3).Draw(t, "servers")
		for i := range names {
			text.WriteString(space.Draw(t, "s") + `"a` + string(rune('0'+i)) + `": {"command": "y"}`)
			if i < names-1 || rapid.Bool().Draw(t, "trailing") {
				text.WriteString(",")
			}
		}
		text.WriteString(space.Draw(t, "s") + "}" + space.Draw(t, "s") + "}" + space.Draw(t, "s"))
		path := filepath.Join(dir, "mcp.json")
		if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		backup, err := h.Install(path, "s", json.RawMessage(installedServer))
		if err != nil {
			t.Fatalf("%q: %v", text.String(), err)
		}
		defer os.Remove(backup)
		now, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if c, err := config.Parse(plain(now), nil); err != nil || len(c.Servers) != names+1 {
			t.Fatalf("%q: want %d servers, got %v, in %q", text.String(), names+1, err, now)
		}
		if _, err := h.Install(path, "s", json.RawMessage(installedServer)); !errors.Is(err, ErrInstalled) {
			t.Fatalf("a second time: got %v", err)
		}
		lost := rapid.Bool().Draw(t, "backup is lost")
		if lost {
			if err := os.Remove(backup); err != nil {
				t.Fatal(err)
			}
		}
		second, err := h.Uninstall(path, "s")
		defer os.Remove(second)
		restored, readErr := os.ReadFile(path)
		if err := errors.Join(err, readErr); err != nil {
			t.Fatal(err)
		}
		exact := names > 0 || !lost // white space that Install has added to an empty object stays without a backup
		if exact && string(restored) != text.String() {
			t.Fatalf("want\n%q\ngot\n%q", text.String(), restored)
		}
	})
}

func TestInstallCreatesAFileThatUninstallRemoves(t *testing.T) {
	for _, h := range Hosts[1:] {
		path := filepath.Join(t.TempDir(), "dir", "mcp.json")
		server, err := h.Form(json.RawMessage(installedServer))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.Install(path, "s", server); err != nil {
			t.Fatalf("%s: %v", h.ID, err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		servers, err := serversIn(text)
		if err != nil || len(servers) != 1 || servers[0].name != "s" {
			t.Errorf("%s: want the server, got %v in\n%s", h.ID, err, text)
		}
		if _, err := h.Uninstall(path, "other"); !errors.Is(err, ErrNotSaved) {
			t.Errorf("%s: another name: got %v", h.ID, err)
		}
		if _, err := h.Uninstall(path, "s"); err != nil {
			t.Errorf("%s: %v", h.ID, err)
		}
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: want no file, got %v", h.ID, err)
		}
	}
}

func TestServersHaveTheFormOfTheHost(t *testing.T) {
	url := json.RawMessage(`{"url":"https://x/mcp","headers":{"A":"b"}}`)
	for id, want := range map[string]string{
		"cursor": string(url), "windsurf": `{"serverUrl":"https://x/mcp","headers":{"A":"b"}}`,
		"gemini": `{"httpUrl":"https://x/mcp","headers":{"A":"b"}}`,
		"vscode": `{"type":"http","url":"https://x/mcp","headers":{"A":"b"}}`,
	} {
		if got, err := hostByID(t, id).Form(url); err != nil || string(got) != want {
			t.Errorf("%s: want %s, got %s, %v", id, want, got, err)
		}
	}
	if _, err := hostByID(t, "claude-desktop").Form(url); err == nil {
		t.Error("claude-desktop: got no error")
	}
	if got, err := hostByID(t, "vscode").Form(json.RawMessage(installedServer)); err != nil ||
		string(got) != `{"type":"stdio","command":"x","args":["-y"]}` {
		t.Errorf("vscode: got %s, %v", got, err)
	}
}
