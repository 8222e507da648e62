package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func TestEveryCommandHasAManualPage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man1")
	code, out, stderr := runs(t, "man", dir)
	if code != exitOK {
		t.Fatalf("got exit code %d: %s", code, stderr)
	}
	pages := files(t, dir)
	if strings.Count(out, "\n") != len(pages) {
		t.Errorf("got %q, want a line for each of %v", out, pages)
	}
	tree := quiet()
	every(tree, func(cmd *cobra.Command) {
		if !cmd.IsAvailableCommand() || cmd.Name() == "help" {
			return
		}
		if !slices.Contains(pages, pageName(cmd)+".1") {
			t.Errorf("no page for %s", cmd.CommandPath())
		}
	})
	page, err := os.ReadFile(filepath.Join(dir, "mcpotel-call.1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"mcpotel\\-call \\- call a tool of a server\n", "\\fB\\-\\-connect\\-timeout\\fR DURATION\n",
		"\\fB\\-o, \\-\\-output\\fR",
		".SH EXAMPLES\n", "\\(aq{\"message\":\"hi\"}\\(aq", "SIGTERM",
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("mcpotel-call.1: want %q in\n%s", want, page)
		}
	}
	groff, err := exec.LookPath("groff")
	if err != nil {
		return // groff is not installed
	}
	for _, name := range pages {
		warned, err := exec.CommandContext(t.Context(), groff, "-man", "-ww", "-Tascii", "-z",
			filepath.Join(dir, name)).CombinedOutput()
		if err != nil || len(warned) > 0 {
			t.Errorf("%s: %v: %s", name, err, warned)
		}
	}
}

func TestManualPagesEscapeTheirText(t *testing.T) {
	if got, want := roff(".TH a\\b\n'x' -y"), "\\&.TH a\\eb\n\\(aqx\\(aq \\-y"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
