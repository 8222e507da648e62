package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// completes returns the completions of the last argument, and fails on any other output.
func completes(t *testing.T, args ...string) (names []string) {
	t.Helper()
	code, out, stderr := runs(t, append([]string{"__complete"}, args...)...)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if code != exitOK || !strings.HasPrefix(lines[len(lines)-1], ":") ||
		!strings.HasPrefix(stderr, "Completion ended with directive: ") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("%v: got exit code %d, %q and %q, want names and a directive", args, code, out, stderr)
	}
	for _, line := range lines[:len(lines)-1] {
		name, _, _ := strings.Cut(line, "\t")
		if strings.HasPrefix(name, args[len(args)-1]) { // a shell filters in the same way
			names = append(names, name)
		}
	}
	return names
}

func TestCompletionAsksTheServerForNames(t *testing.T) {
	noCollector(t)
	t.Setenv(patienceVariable, "1m") // for a slow machine
	url, _ := serves(t, "0")
	types := echoes(t, manyTypes(t))
	file := configFile(t, "")
	for _, tc := range []struct {
		args []string
		want []string
	}{
		{[]string{"call", "--url", url, "fo"}, []string{"forecast"}},
		{[]string{"describe", "--url", url, "fo"}, []string{"forecast"}},
		{[]string{"--url", url, "call", "fo"}, []string{"forecast"}},
		{[]string{"call", "--url", url, "forecast", ""}, []string{"city=", "days="}},
		{[]string{"call", "--url", url, "forecast", "city=Oslo", ""}, []string{"days="}},
		{[]string{"call", "--url", types, "echo", "size="}, []string{"size=s", "size=l"}},
		{[]string{"call", "--url", types, "echo", "lo"}, []string{"loud="}},
		{[]string{"call", "--url", types, "echo", "loud="}, []string{"loud=true", "loud=false"}},
		{[]string{"call", "--config", file, "local_fo"}, []string{"local_forecast"}},
		{[]string{"call", "--config", file, "--server", "remote", "fo"}, []string{"forecast"}},
		{[]string{"prompt", "--url", url, ""}, []string{"pack"}},
		{[]string{"prompt", "--url", url, "pack", ""}, []string{"city=", "days="}},
		{[]string{"read", "--url", url, "demo://c"}, []string{"demo://clock"}},
		{[]string{"call", "--config", file, "--server", ""}, []string{"local", "remote"}},
		{[]string{"call", "--pin-version", "2026"}, []string{"2026-07-28"}},
		{[]string{"watch", "--level", "warn"}, []string{"warning"}},
		{[]string{"completion", ""}, []string{"bash", "zsh", "fish", "powershell"}},
		{[]string{"de"}, []string{"demo", "describe"}},
		{[]string{"help", "tas"}, []string{"task"}},
		{[]string{"call", "forecast", "--", ""}, nil}, // words of the server's command
		{[]string{"call", "forecast", "--", "mcpotel", ""}, nil},
		{[]string{"call", ""}, nil},                                  // no server
		{[]string{"call", "--url", "http://127.0.0.1:1/", ""}, nil},  // an unreachable server
		{[]string{"call", "--config", "/does/not/exist", ""}, nil},   // a missing file
		{[]string{"call", "--url", url, "--header", "x", "fo"}, nil}, // invalid flags
		{[]string{"call", "--url", url, "nosuch", ""}, nil},
	} {
		got := completes(t, tc.args...)
		slices.Sort(got)
		slices.Sort(tc.want)
		if !slices.Equal(got, tc.want) {
			t.Errorf("%v: got %v, want %v", tc.args, got, tc.want)
		}
	}
}

// The shell passes the whole line, in which no -- follows the words.
func TestCompletionWithASavedServerCompletesATypedWord(t *testing.T) {
	noCollector(t)
	t.Setenv(patienceVariable, "1m") // for a slow machine
	args := []string{"call", "--config", configFile(t, ""), "--server", "remote", "fo"}
	t.Setenv(lineVariable, "mcpotel "+strings.Join(args, " "))
	if got := completes(t, args...); !slices.Equal(got, []string{"forecast"}) {
		t.Errorf("want forecast, got %q", got)
	}
}

func TestCompletionHasMembersInTheOrderOfTheSchema(t *testing.T) {
	noCollector(t)
	t.Setenv(patienceVariable, "1m")
	url := echoes(t, `{"type":"object","required":["to"],"properties":{"note":{"type":"string"},"to":{"type":"object",
		"required":["zip"],"properties":{"size":{"enum":["s","l"]},"zip":{"type":"string"}}},"all":{"type":"boolean"}}}`)
	for _, tc := range []struct {
		args, want []string
	}{
		{[]string{""}, []string{"to=", "to.zip=", "to.size=", "note=", "all="}},
		{[]string{"to.zip=1", "to."}, []string{"to.size="}},
		{[]string{"to.size="}, []string{"to.size=s", "to.size=l"}},
	} {
		if got := completes(t, append([]string{"call", "--url", url, "echo"}, tc.args...)...); !slices.Equal(got, tc.want) {
			t.Errorf("%q: got %q, want %q", tc.args, got, tc.want)
		}
	}
}

func TestFlagsAreDescribedInPlainText(t *testing.T) {
	for _, command := range [][]string{{"call"}, {"tools"}} {
		_, out, _ := runs(t, slices.Concat([]string{"__complete"}, command, []string{"--"})...)
		if !strings.Contains(out, "--url\tconnect to the server at this URL\n") || strings.Contains(out, "`") {
			t.Errorf("%v: got %q, want the flags without backquotes", command, out)
		}
	}
}

// TestACompletionDoesNotHang asks a server that never answers.
func TestACompletionDoesNotHang(t *testing.T) {
	noCollector(t)
	if got := suggestWithin(); got != 3*time.Second {
		t.Errorf("got %v, want three seconds", got)
	}
	t.Setenv(patienceVariable, "50ms")
	if got := completes(t, "call", "--url", silent(t), ""); len(got) > 0 {
		t.Errorf("got %v, want nothing", got)
	}
}

func TestCompletionOmitsNamesUnsafeInAShell(t *testing.T) {
	for _, name := range []string{
		"$(id)", "`id`", "a;b", "a b", "a\nb", "a\x1bb", `a"b`, "a'b", "a|b", "a&b", "a>b", "", "a\u202eb",
	} {
		if got := completable(name, "about"); got != nil {
			t.Errorf("%q: got %q, want nothing", name, got)
		}
	}
	if got, want := completable("a_b-c", "say $(id)\nforged\x1b[2J"), "a_b-c\tsay id"; len(got) != 1 || got[0] != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLinesAreSplitLikeInAShell(t *testing.T) {
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string][]string{
		"": nil, "a  b\tc": {"a", "b", "c"}, `a 'b  c' "d e"f`: {"a", "b  c", "d ef"}, `a\ b ''`: {"a b", ""},
		"a | b": {"a"}, "a;b": {"a"}, "a >b": {"a"}, "a '|' b": {"a", "|", "b"}, `a "b\"c"`: {"a", `b"c`},
		"~/x": {filepath.Join(home, "x")}, "a $(b)": {"a", "$"}, `a 'b\c'`: {"a", `b\c`},
	} {
		if got := shellSplit(line); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}

func TestCompletionScriptsPassTheWholeLine(t *testing.T) {
	for _, sh := range shells {
		code, script, stderr := runs(t, "completion", sh.name)
		if code != exitOK || len(script) < 1000 {
			t.Errorf("%s: got exit code %d and %d bytes: %s", sh.name, code, len(script), stderr)
		}
		if got, want := strings.Contains(script, lineVariable), sh.patches != nil; got != want {
			t.Errorf("%s: script passes the whole line: %v, want %v", sh.name, got, want)
		}
		var plain bytes.Buffer
		if err := sh.script(quiet(), &plain); err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(sh.patches); i += 2 {
			if n := strings.Count(plain.String(), sh.patches[i]); n != 1 {
				t.Errorf("%s: %q occurs %d times in the script, want once", sh.name, sh.patches[i], n)
			}
		}
	}
	for _, args := range [][]string{{"completion"}, {"completion", "tcsh"}, {"completion", "bash", "zsh"}} {
		code, _, stderr := runs(t, args...)
		if code != exitUsage || !strings.Contains(stderr, "bash, zsh, fish, powershell") {
			t.Errorf("%v: got exit code %d and %q, want a list of the shells", args, code, stderr)
		}
	}
}

// TestBashCompletesToolsOfTheServerAfterTheCursor runs the completion script in bash.
func TestBashCompletesToolsOfTheServerAfterTheCursor(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	noCollector(t)
	dir := t.TempDir()
	if err := os.Symlink(demoServerCommand(t)[1], filepath.Join(dir, "mcpotel")); err != nil {
		t.Fatal(err)
	}
	_, script, _ := runs(t, "completion", "bash")
	script += `
_init_completion() { # as that of bash-completion, for words without quotes
	words=("${COMP_WORDS[@]}"); cword=$COMP_CWORD; cur=${words[cword]}; prev=${words[cword-1]}
}
compopt() { :; }
COMP_TYPE=9
COMP_WORDS=(mcpotel call fore -- mcpotel serve-demo) COMP_CWORD=2
__start_mcpotel
printf '%s\n' "${COMPREPLY[@]}"
COMP_WORDS=(mcpotel call forecast '' -- mcpotel serve-demo) COMP_CWORD=3
__start_mcpotel
printf '%s\n' "${COMPREPLY[@]}"
`
	cmd := exec.CommandContext(t.Context(), bash, "--norc", "-c", script)
	path := dir + string(os.PathListSeparator) + os.Getenv("PATH")
	cmd.Env = append(os.Environ(), asCommand+"=1", patienceVariable+"=1m", "PATH="+path)
	out, err := cmd.CombinedOutput()
	var names []string
	for line := range strings.Lines(string(out)) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		names = append(names, name)
	}
	if want := []string{"forecast", "city=", "days="}; err != nil || !slices.Equal(names, want) {
		t.Errorf("got %q, %v, want %q:\n%s", names, err, want, out)
	}
}
