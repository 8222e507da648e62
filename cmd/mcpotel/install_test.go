package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestInstallAddsAndRemovesAServer(t *testing.T) {
	noCollector(t)
	atHome(t)
	file := filepath.Join(t.TempDir(), "mcp.json")
	const before = "{\n\n  \"mcpServers\": {\"a\": {\"command\": \"y\"}}\n}\n"
	if err := os.WriteFile(file, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	does := func(want int, text string, args ...string) {
		t.Helper()
		code, out, stderr := runs(t, append([]string{"install"}, args...)...)
		if code != want || !strings.Contains(out+stderr, text) {
			t.Errorf("%v: got exit code %d and %q, %q; want %d and %q", args, code, out, stderr, want, text)
		}
	}
	does(exitOK, "added demo to "+file, append([]string{"demo", "--config", file}, demoServerCommand(t)...)...)
	does(exitUsage, "has a server", append([]string{"demo", "--config", file}, demoServerCommand(t)...)...)
	if code, out, stderr := runs(t, "call", "--config", file, "--server", "demo", "divide", "a=6", "b=3"); code != exitOK {
		t.Errorf("the installed server: %d, %s%s", code, out, stderr)
	}
	does(exitOK, "removed demo from "+file, "--uninstall", "demo", "--config", file)
	if now, err := os.ReadFile(file); err != nil || string(now) != before {
		t.Errorf("want the file as before, got %v\n%s", err, now)
	}
	does(exitUsage, "has no server", "--uninstall", "demo", "--config", file)

	does(exitUsage, `save stock with "mcpotel add" first`, "stock", "cursor")
	if code, _, stderr := runs(t, append([]string{"add", "stock"}, demoServerCommand(t)...)...); code != exitOK {
		t.Fatal(stderr)
	}
	does(exitOK, "restart Cursor", "stock", "cursor")
	if code, out, stderr := runs(t, "ping", "--server", "cursor:stock"); code != exitOK {
		t.Errorf("the server of the host: %d, %s%s", code, out, stderr)
	}
	does(exitOK, "removed stock", "--uninstall", "stock", "cursor")

	does(exitUsage, "the name of the server is missing")
	does(exitUsage, "no file: give a host", "x")
	does(exitUsage, `no host "curser" (did you mean cursor?)`, "x", "curser")
	does(exitUsage, "write the command of the server after --", "x", "cursor", "npx")
	does(exitUsage, "is not a valid name", "a:b", "cursor", "--", "x")
	does(exitUsage, "--uninstall needs only the name", "--uninstall", "x", "cursor", "--", "y")
	does(exitUsage, "has only commands", "x", "claude-desktop", "--url", "https://x/mcp")
}
