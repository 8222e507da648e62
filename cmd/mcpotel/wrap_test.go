package main

import (
	"context"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/internal/command/demoserver"
	"github.com/mcpotel/mcpotel/internal/command/hostfile"
	"github.com/mcpotel/mcpotel/internal/otlpsink"
	"github.com/mcpotel/mcpotel/internal/visible"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// ofCursor is the configuration file of a host.
const ofCursor = `{
  "mcpServers": {
    // with a comment
    "files": {
      "command": "npx",
      "args": ["-y", "s3cret"],
      "env": {"TOKEN": "s3cret"}
    },
    "far": {
      "url": "https://me:s3cret@example.com/mcp?key=s3cret",
      "headers": {"Authorization": "Bearer s3cret"},
    },
    "off": {"command": "x", "disabled": true},
  },
}
`

// only returns the only backup of a file.
func only(t *testing.T, path string) (backup string) {
	t.Helper()
	all, err := filepath.Glob(path + ".mcpotel-*.bak")
	if err != nil || len(all) != 1 {
		t.Fatalf("backups of %s: got %v, %v, want one", path, all, err)
	}
	return all[0]
}

func content(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestHostFileIsWrappedAndUnwrapped(t *testing.T) {
	noCollector(t)
	path := atHome(t)("cursor")
	writeAt(t, path, ofCursor)
	program, err := thisProgram()
	if err != nil || !filepath.IsAbs(program) {
		t.Fatalf("got %s, %v, want an absolute path", program, err)
	}
	diff := "--- " + path + `
@@ files @@
-   "command": "npx"
-   "args": [… 2]
+   "command": ` + quoted(t, program) + `
+   "args": ["proxy", "--name", "files", "--", "npx", … 2]
@@ far @@
-   "url": "https://example.com/mcp"
-   "headers": {"Authorization": …}
+   "command": ` + quoted(t, program) + `
+   "args": ["proxy", "--name", "far", "--url-env", "MCPOTEL_URL", "--header-env", "Authorization=MCPOTEL_HEADER_1"]
+   "env": {"MCPOTEL_URL": …, "MCPOTEL_HEADER_1": …}
`
	unchanged := []step{
		{[]string{"wrap", "cursor", "--dry-run"}, exitOK, diff, "off is disabled and stays unchanged\n" +
			"mcpotel: the proxy exports to OTEL_EXPORTER_OTLP_ENDPOINT"},
		{[]string{"wrap", "cursor"}, exitUsage, diff, "nothing was changed: there is no person at a terminal to ask; --yes " +
			"changes the file"},
		{[]string{"unwrap", "cursor"}, exitOK, "", "nothing to change in " + path},
		{[]string{"unwrap", "cursor", "--server", "files"}, exitOK, "", "files is not behind the proxy\n"},
	}
	steps(t, unchanged)
	_, out, stderr := runs(t, "wrap", "cursor", "--dry-run", "--env", "OTEL_EXPORTER_OTLP_ENDPOINT=http://s3cret")
	if strings.Contains(out+stderr, "s3cret") || strings.Contains(stderr, "OTEL_EXPORTER_OTLP_ENDPOINT") ||
		!strings.Contains(out, `+   "env": {"OTEL_EXPORTER_OTLP_ENDPOINT": …, "TOKEN": …}`) {
		t.Errorf("with an endpoint for telemetry: got %s\n%s, want the variable in env, without its value", out, stderr)
	}
	if got := content(t, path); got != ofCursor || len(files(t, filepath.Dir(path))) != 1 {
		t.Errorf("got %s, want nothing changed", got)
	}

	steps(t, []step{
		{[]string{"wrap", "cursor", "--server", "far", "--yes"}, exitOK, "changed 1 of 3 servers; the backup is " + path,
			"restart Cursor: it reads its file when it starts"},
	})
	if got := content(t, only(t, path)); got != ofCursor {
		t.Errorf("the backup: got %s, want the file", got)
	}
	steps(t, []step{
		{[]string{"wrap", "cursor", "--yes"}, exitOK, "changed 1 of 3 servers", "far is already behind the proxy"},
		{[]string{"wrap", "cursor", "--yes"}, exitOK, "", "nothing to change"},
		{[]string{"list"}, exitOK, "    files " + program + "\n    far " + program + "\n    off disabled\n", ""},
		{[]string{"unwrap", "cursor", "--server", "files", "--dry-run"}, exitOK,
			"+   \"command\": \"npx\"\n+   \"args\": [… 2]\n", "nothing was changed"},
	})
	if got := content(t, path); strings.Count(got, "MCPOTEL_URL") != 2 || strings.Count(got, `"proxy"`) != 2 {
		t.Errorf("got %s, want two servers wrapped", got)
	}
	steps(t, []step{{[]string{"unwrap", "cursor", "--yes"}, exitOK, "changed 2 of 3 servers", ""}})
	if got := content(t, path); got != ofCursor {
		t.Errorf("got %s, want the original file", got)
	}
}

// TestWrappedServersAnswerTheHost starts the proxy like a host, in front of a command and of a URL. The telemetry
// contains the servers' names from the host's file.
func TestWrappedServersAnswerTheHost(t *testing.T) {
	noCollector(t)
	sink, err := otlpsink.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer sink.Close(context.Background())
	path := atHome(t)("cursor")
	url, _ := serves(t, "0")
	before := `{"mcpServers":{"local":{"command":` + quoted(t, demoServerCommand(t)[1]) + `,"args":["serve-demo"]},` +
		`"far":{"url":` + quoted(t, url+"?key=s3cret") + `,"headers":{"X-Key":"s3cret"}}}}`
	writeAt(t, path, before)
	steps(t, []step{
		{[]string{"wrap", "cursor", "--env", asCommand + "=1", "--env", "OTEL_EXPORTER_OTLP_ENDPOINT=http://" +
			sink.Endpoint(), "--yes"}, exitOK, "changed 2 of 2", ""},
		{[]string{"call", "divide", "a=6", "b=3", "--server", "cursor:local"}, exitOK, `{"quotient":2}`, ""},
		{[]string{"call", "divide", "a=6", "b=3", "--server", "cursor:far"}, exitOK, `{"quotient":2}`, ""},
		{[]string{"unwrap", "cursor", "--yes"}, exitOK, "changed 2 of 2", ""},
		{[]string{"call", "divide", "a=6", "b=3", "--server", "cursor:far"}, exitOK, `{"quotient":2}`, ""},
	})
	if got := content(t, path); got != before {
		t.Errorf("got %s, want it unchanged", got)
	}
	for kind, key := range map[string]string{"CLIENT": names.KeyMCPClientName, "SERVER": names.KeyMCPServerName} {
		called := map[any]bool{}
		for _, s := range sink.Snapshot().Spans {
			if s.Service() == proxyService && s.Kind == kind {
				called[s.Attributes[key]] = true
			}
		}
		if want := map[any]bool{"local": true, "far": true}; !maps.Equal(called, want) {
			t.Errorf("%s of %s spans: got %v, want %v", key, kind, called, want)
		}
	}
}

// TestWrappedServersFollowThePolicy wraps servers with a policy. The policy applies to the host's calls until unwrap,
// which works with and without a backup.
func TestWrappedServersFollowThePolicy(t *testing.T) {
	noCollector(t)
	path := atHome(t)("cursor")
	t.Chdir(t.TempDir())
	writeAt(t, "policy.yaml", "tools: {deny: [wait]}\n")
	url, _ := serves(t, "0")
	before := `{"mcpServers":{"local":{"command":` + quoted(t, demoServerCommand(t)[1]) + `,"args":["serve-demo"]},` +
		`"far":{"url":` + quoted(t, url) + `,"headers":{"X-Key":"k"}}}}`
	writeAt(t, path, before)
	own, err := filepath.Abs("policy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	wrap := []string{"wrap", "cursor", "--env", asCommand + "=1", "--policy", "policy.yaml", "--deny-tool", "cr*",
		"--deny-tool=X=MCPOTEL_HEADER_1", "--timeout", "90s", "--translate", "--yes"}
	steps(t, []step{{wrap, exitOK, `["proxy", "--name", "far", "--policy=` + own, ""}})
	rules := `"--policy=` + own + `", "--deny-tool=cr*", "--deny-tool=X=MCPOTEL_HEADER_1", "--timeout=1m30s", ` +
		`"--translate"`
	if got := content(t, path); strings.Count(got, rules) != 2 {
		t.Errorf("got %s, want both servers with %s", got, rules)
	}
	for _, server := range []string{"cursor:local", "cursor:far"} {
		steps(t, []step{
			{[]string{"call", "divide", "a=6", "b=3", "--server", server}, exitOK, `{"quotient":2}`, ""},
			{[]string{"call", "crash", "--server", server}, exitTool, "", "the policy of the proxy does not allow it"},
			{[]string{"call", "wait", "--server", server}, exitTool, "", "the policy of the proxy does not allow it"},
		})
	}
	changed := content(t, path)
	steps(t, []step{{[]string{"unwrap", "cursor", "--yes"}, exitOK, "changed 2 of 2", ""}})
	if got := content(t, path); got != before {
		t.Errorf("got %s, want it unchanged", got)
	}
	other := filepath.Join(t.TempDir(), "mcp.json")
	writeAt(t, other, changed)
	steps(t, []step{{[]string{"unwrap", "--config", other, "--yes"}, exitOK, "changed 2 of 2", "no backup contains the " +
		"original of"}})
	if got := content(t, other); strings.Contains(got, "-tool") || strings.Contains(got, "translate") ||
		strings.Count(got, "X-Key") != 1 {
		t.Errorf("without a backup: got %s, want no policy, and the header", got)
	}
}

func TestWrapRefusesAnInvalidPolicy(t *testing.T) {
	noCollector(t)
	path := atHome(t)("cursor")
	writeAt(t, path, ofCursor)
	for want, args := range map[string][]string{
		`--deny-tool=a$b: hosts expand variables after $`:            {"--deny-tool", "a$b"},
		`mcpotel: policy: allowed tools: "[" is not a valid pattern`: {"--allow-tool", "["},
		"mcpotel: policy: the timeout is negative":                   {"--timeout", "-1s"},
		"mcpotel: open nosuch.yaml":                                  {"--policy", "nosuch.yaml"},
	} {
		steps(t, []step{{append([]string{"wrap", "cursor", "--yes"}, args...), exitUsage, "", want}})
	}
	steps(t, []step{{[]string{"unwrap", "cursor", "--timeout", "1s"}, exitUsage, "", "unknown flag: --timeout"}})
	if got := content(t, path); got != ofCursor {
		t.Errorf("got %s, want the original file", got)
	}
}

func TestAPersonIsAskedBeforeAFileChanges(t *testing.T) {
	noCollector(t)
	path := atHome(t)("vscode")
	for answer, changed := range map[string]bool{"yes\n": true, "y\n": true, "no\n": false, "\n": false,
		"maybe\n": false, "": false} {
		writeAt(t, path, ofCursor)
		code, out, stderr := typed(t, answer, "wrap", "vscode")
		if (code == exitOK) != changed || code != exitOK && code != exitTool || strings.Contains(out+stderr, "s3cret") ||
			!strings.Contains(stderr, "Change it? (yes, no) [no]: ") {
			t.Errorf("%q: got exit code %d, %s\n%s", answer, code, out, stderr)
		}
		if got := content(t, path) != ofCursor; got != changed {
			t.Errorf("%q: file changed: %v, want %v", answer, got, changed)
		}
	}
}

func TestWrapRefusesInvalidInput(t *testing.T) {
	noCollector(t)
	file := atHome(t)
	t.Chdir(t.TempDir())
	writeAt(t, ".vscode/mcp.json", ofCursor)
	for text, want := range map[string]string{
		"":                          "not a JSON object",
		"{":                         "EOF",
		"[]":                        "not a JSON object",
		`{"mcpServers":{}} x`:       "more than one JSON value",
		`{"a":{}}`:                  "the file has no member mcpServers",
		`{"mcpServers":["s3cret"]}`: "mcpServers: not a JSON object",
		`{"mcpServers":{"a":{"command":"x"},"a":{"command":"y"}}}`: "duplicate",
		`{"mcpServers":{"a":{"command":"x"},"b":"s3cret"}}`:        "b: not an object",
		`{"mcpServers":{"a":{"command":"x","command":"y"}}}`:       "duplicate",
	} {
		writeAt(t, file("cursor"), text)
		steps(t, []step{
			{[]string{"wrap", "cursor", "--yes"}, exitUsage, "", file("cursor") + ": "},
			{[]string{"wrap", "cursor", "--yes"}, exitUsage, "", want},
			{[]string{"unwrap", "cursor", "--yes"}, exitUsage, "", want},
		})
		if got := content(t, file("cursor")); got != text {
			t.Errorf("got %s, want %s unchanged", got, text)
		}
	}
	odd := `{"mcpServers":{"a":{"command":"x"},"b":{"command":7},"c":{},"d":{"command":"mcpotel","args":["proxy"]}}}`
	writeAt(t, file("cursor"), odd)
	steps(t, []step{
		{[]string{"wrap", "cursor", "--server", "b", "--yes"}, exitUsage, "", "b: command: want a string"},
		{[]string{"wrap", "cursor", "--server", "a", "--server", "c", "--yes"}, exitUsage, "", "c: the server has neither"},
		{[]string{"wrap", "cursor", "--server", "a", "--server", "x", "--yes"}, exitUsage, "", "the file has no server x"},
		{[]string{"unwrap", "cursor", "--server", "d", "--yes"}, exitUsage, "", "d: the server was not wrapped by this"},
		{[]string{"unwrap", "cursor", "--yes"}, exitOK, "", "d stays unchanged: the server was not wrapped"},
		{[]string{"wrap", "cursor", "--env", "s3cret", "--yes"}, exitUsage, "", "variable 1 is not of the form NAME=VALUE"},
		{[]string{"unwrap", "cursor", "--env", "A=s3cret", "--yes"}, exitUsage, "", "unknown flag: --env"},
		{[]string{"wrap"}, exitUsage, "", "no file: give a host"},
		{[]string{"wrap", "cursor", "vscode"}, exitUsage, "", "more than one file"},
		{[]string{"wrap", "cursor", "--config", "x"}, exitUsage, "", "more than one file"},
		{[]string{"wrap", "cursr"}, exitUsage, "", `no host "cursr" (did you mean cursor?); want one of mcpotel, ` +
			`claude-desktop,`},
		{[]string{"wrap", "gemini"}, exitUsage, "", "the file of Gemini CLI does not exist: " + file("gemini")},
		{[]string{"wrap", "vscode"}, exitUsage, "", "for the file of this project, use --config .vscode/mcp.json"},
		{[]string{"wrap", "--config", "nosuch.json"}, exitUsage, "", "nosuch.json"},
		{[]string{"wrap", "--config", "."}, exitUsage, "", "not a file"},
	})
	if got := content(t, file("cursor")); got != odd || len(files(t, filepath.Dir(file("cursor")))) != 1 {
		t.Errorf("got %s, want %s unchanged, and no other files", got, odd)
	}
	steps(t, []step{{[]string{"wrap", "cursor", "--yes"}, exitOK, "changed 1 of 4 servers", "b stays unchanged: " +
		"command: want"}})
}

func TestTheFileAndItsBackupKeepTheirModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // the modes of this system do not describe other users
	}
	noCollector(t)
	dir := t.TempDir()
	path, link := filepath.Join(dir, "real", "mcp.json"), filepath.Join(dir, "link.json")
	writeAt(t, path, ofCursor)
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []fs.FileMode{0o644, 0o600, 0o640, 0o400} {
		writeMode(t, path, mode)
		steps(t, []step{{[]string{"wrap", "--config", link, "--yes"}, exitOK, "changed 2", ""}})
		backup := only(t, path)
		if got := modeOf(t, path); got != mode {
			t.Errorf("%v: got %v", mode, got)
		}
		if got := modeOf(t, backup); got != mode&0o600 {
			t.Errorf("%v: the backup: got %v", mode, got)
		}
		if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("the link: got %v, %v, want it kept", info, err)
		}
		if err := os.Remove(backup); err != nil {
			t.Fatal(err)
		}
		writeMode(t, path, 0o600)
		if err := os.WriteFile(path, []byte(ofCursor), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, mode := range []fs.FileMode{0o666, 0o620, 0o602} {
		writeMode(t, path, mode)
		steps(t, []step{
			{[]string{"wrap", "--config", link, "--yes"}, exitUsage, "",
				"other users can write the file, and hosts run the commands in it: use chmod go-w"},
		})
	}
	if got := files(t, filepath.Dir(path)); len(got) != 1 {
		t.Errorf("got %v, want no other files", got)
	}
}

func TestAFileOfAnotherUserIsNotWrapped(t *testing.T) {
	noCollector(t)
	path := filepath.Join(t.TempDir(), "mcp.json")
	writeAt(t, path, ofCursor)
	if os.Geteuid() != 0 {
		return // only root can give a file to another user
	}
	if err := os.Chown(path, 12345, -1); err != nil {
		t.Fatal(err)
	}
	const want = "the file belongs to another user, uid 12345"
	steps(t, []step{
		{[]string{"wrap", "--config", path, "--yes"}, exitUsage, "", want},
		{[]string{"unwrap", "--config", path, "--yes"}, exitUsage, "", want},
	})
}

func writeMode(t *testing.T, path string, mode fs.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func modeOf(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

// changing changes a file, and then answers the question.
type changing struct {
	strings.Reader
	change func()
}

func (c *changing) Read(p []byte) (int, error) {
	c.change()
	return c.Reader.Read(p)
}

func TestWrapKeepsConcurrentChangesOfAFile(t *testing.T) {
	noCollector(t)
	path := atHome(t)("cursor")
	writeAt(t, path, ofCursor)
	var out, stderr buffer
	in := &changing{*strings.NewReader("yes\n"), func() { writeAt(t, path, ofCursor+" ") }}
	code := run(t.Context(), streams{in, &out, &stderr, true}, []string{"wrap", "cursor"})
	if code != exitUsage || !strings.Contains(stderr.String(), "another process has changed the file, so nothing") {
		t.Errorf("got exit code %d, %s", code, stderr.String())
	}
	if got := content(t, path); got != ofCursor+" " || len(files(t, filepath.Dir(path))) != 1 {
		t.Errorf("got %s, want the other process's change, and no backup", got)
	}
}

func TestAFileThatIsTooLargeIsRefused(t *testing.T) {
	noCollector(t)
	path := filepath.Join(t.TempDir(), "mcp.json")
	const head = `{"mcpServers":{"a":{"command":"x"}}}`
	writeAt(t, path, head+strings.Repeat(" ", hostfile.MaxSize-len(head)))
	steps(t, []step{{[]string{"wrap", "--config", path, "--dry-run"}, exitOK, "@@ a @@", ""}})
	for _, text := range []string{
		head + strings.Repeat(" ", hostfile.MaxSize-len(head)+1),
		strings.Repeat("[", hostfile.MaxSize), strings.Repeat(`{"a":`, hostfile.MaxSize/5),
		"/*" + strings.Repeat("/*", hostfile.MaxSize/2-1), `{"mcpServers":` + strings.Repeat("[,", hostfile.MaxSize/2-10),
	} {
		writeAt(t, path, text)
		if code, out, stderr := runs(t, "wrap", "--config", path,
			"--yes"); code != exitUsage || out != "" || len(stderr) > 500 {
			t.Errorf("%.20s: got exit code %d, %.200s\n%.500s", text, code, out, stderr)
		}
	}
}

// TestHostileNamesInAFileAreEscaped puts the hostile text into every text of a configuration file.
func TestHostileNamesInAFileAreEscaped(t *testing.T) {
	noCollector(t)
	path := filepath.Join(t.TempDir(), "mcp.json")
	raw, err := json.Marshal(map[string]any{"mcpServers": map[string]any{
		evil: map[string]any{"command": evil, "args": []string{evil}, "env": map[string]any{evil: evil}, "type": evil},
		evil + "url": map[string]any{"url": "http://x/" + evil, "type": evil,
			"headers": map[string]any{"A": evil}, evil: evil},
		evil + "off": map[string]any{"command": evil, "disabled": true},
		evil + "odd": map[string]any{"command": evil, "url": evil},
		evil + "by hand": map[string]any{"command": "mcpotel" + evil, "args": []string{"proxy", "--header", evil,
			"--", evil}},
		"long": map[string]any{"command": strings.Repeat("x", 1000)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	writeAt(t, path, string(raw))
	for _, args := range [][]string{
		{"wrap", "--dry-run"}, {"wrap", "--server", evil + "odd"}, {"wrap", "--server", "no" + evil}, {"unwrap", "--dry-run"},
		{"wrap", "--yes"}, {"unwrap", "--dry-run"}, {"unwrap", "--yes"}, {"list"}, {"wrap", evil},
	} {
		t.Run(visible.Line(strings.Join(args, " ")), func(t *testing.T) {
			if args[0] != "list" && args[len(args)-1] != evil {
				args = append(args, "--config", path)
			}
			_, out, stderr := typed(t, "no\n", args...)
			harmless(t, "standard output", out, true)
			harmless(t, "standard error", stderr, true)
			for line := range strings.Lines(out) {
				if len(line) > 4*widestChange {
					t.Errorf("a line of %d bytes", len(line))
				}
			}
		})
	}
}

// TestWrappedServerMayHaveAnyName maps names in a file to the names that the proxy gets; "" means no name.
func TestWrappedServerMayHaveAnyName(t *testing.T) {
	t.Setenv("MCPOTEL_URL", "http://x/")
	t.Setenv("MCPOTEL_HEADER_1", "b")
	path := filepath.Join(t.TempDir(), "mcp.json")
	for name, want := range map[string]string{
		"files": "files", "-x": "-x", "--": "--", "--name": "--name", "proxy": "proxy", "--auth=false": "--auth=false",
		"MCPOTEL_URL": "MCPOTEL_URL", "A=MCPOTEL_HEADER_1": "A=MCPOTEL_HEADER_1", "é \"\\\n\x1b[2J": "é \"\\\n\x1b[2J",
		"": "", "a\x00b": "", "${X}": "",
	} {
		for text, behind := range map[string][]string{
			`{"command":"npx","args":["--name", "--", "s3cret"]}`: {"npx", "--name", "--", "s3cret"},
			`{"url": "http://x/","headers": {"A": "b"}}`:          {},
		} {
			writeAt(t, path, `{"mcpServers":{`+quoted(t, name)+`:`+text+`}}`)
			f, err := hostfile.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			e, err := f.Entry(0)
			if err != nil {
				t.Fatal(err)
			}
			after, err := e.Wrap("mcpotel", nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			var server struct{ Args []string }
			if err := json.Unmarshal(after, &server); err != nil {
				t.Fatal(err)
			}
			cmd, rest, err := quiet().Find(server.Args)
			if err == nil {
				err = cmd.ParseFlags(rest)
			}
			if err != nil || cmd.Flag("name").Value.String() != want || !slices.Equal(cmd.Flags().Args(), behind) {
				t.Errorf("%s: %s is parsed as the server %q with %q, %v", after, cmd.Name(), cmd.Flag("name").Value,
					cmd.Flags().Args(), err)
			}
		}
	}
}

// TestURLAndHeadersComeFromVariables wraps a server at a URL whose entry refers to variables.
func TestURLAndHeadersComeFromVariables(t *testing.T) {
	noCollector(t)
	url, _ := serves(t, "0")
	t.Setenv("MCPOTEL_URL", url)
	t.Setenv("MCPOTEL_HEADER_1", "Bearer s3cret")
	t.Setenv("MCPOTEL_HEADER_2", "s3cret\r\n")
	steps(t, []step{
		{[]string{"ping", "--url-env", "MCPOTEL_URL", "--header-env",
			"Authorization=MCPOTEL_HEADER_1"}, exitOK, demoserver.Name, ""},
		{[]string{"ping", "--url-env", "MCPOTEL_URL", "--header-env", "A=MCPOTEL_HEADER_2"}, exitUsage, "", "header 1 " +
			"is not"},
		{[]string{"ping", "--url-env", "MCPOTEL_UNSET"}, exitUsage, "", "environment variable is not set"},
		{[]string{"ping", "--url-env", "MCPOTEL_URL", "--header-env", "A=MCPOTEL_UNSET"}, exitUsage, "",
			"environment variable is not set"},
		{[]string{"ping", "--header-env", "A=MCPOTEL_HEADER_1", "--", "x"}, exitUsage, "", "needs --url"},
	})
}

func TestCompletionCompletesHosts(t *testing.T) {
	if got := completes(t, "wrap", "cla"); len(got) != 2 || got[0] != "claude-desktop" || got[1] != "claude-code" {
		t.Errorf("got %v, want both hosts", got)
	}
	if got := completes(t, "unwrap", "cursor", ""); len(got) > 0 {
		t.Errorf("a second host: got %v, want none", got)
	}
}
