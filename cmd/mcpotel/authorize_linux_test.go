package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// opensPagesWith makes program the opener of pages.
func opensPagesWith(t *testing.T, program string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.Symlink(program, filepath.Join(dir, "xdg-open")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	t.Setenv("DISPLAY", ":0")
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
}

func TestBrowserOpensForTheAuthorization(t *testing.T) {
	noCollector(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	opensPagesWith(t, self) // see TestMain
	address, _ := serves(t, "0")
	g := newGuarded(t, forwardsTo(t, address))
	code, out, stderr := runs(t, "tools", "--url", g.URL+"/mcp", "--auth")
	if code != exitOK || !strings.Contains(out, "forecast") || !strings.Contains(stderr, "authorize at "+g.URL) {
		t.Errorf("got exit code %d, %q and %q; want the tools, and a message about the browser", code, out, stderr)
	}
}

func TestBrowserThatDoesNotOpenIsReported(t *testing.T) {
	noCollector(t)
	opensPagesWith(t, "/bin/false")
	g := newGuarded(t, nil)
	code, _, stderr := runs(t, "tools", "--url", g.URL+"/mcp", "--auth")
	if code != exitConnection || !strings.Contains(stderr, "open the browser") ||
		!strings.Contains(stderr, "--no-browser") {
		t.Errorf("got exit code %d and %q, want %d, the reason, and a hint to --no-browser", code, stderr, exitConnection)
	}
}
