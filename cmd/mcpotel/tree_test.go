package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// every calls f for each runnable command of the tree.
func every(cmd *cobra.Command, f func(*cobra.Command)) {
	for _, c := range cmd.Commands() {
		f(c)
		every(c, f)
	}
}

// quiet returns a tree that prints nothing.
func quiet() *cobra.Command {
	return newTree(streams{strings.NewReader(""), io.Discard, io.Discard, false})
}

func TestEveryCommandHasValidExamples(t *testing.T) {
	every(quiet(), func(cmd *cobra.Command) {
		if cmd.Short == "" || cmd.Example == "" {
			t.Errorf("%s: want a short description and an example", cmd.CommandPath())
		}
		runsIt := false
		for line := range strings.Lines(cmd.Example) {
			words := shellWords(line)
			if words[0] != "mcpotel" {
				t.Errorf("%s: the example %q runs another program", cmd.CommandPath(), line)
				continue
			}
			tree := quiet()
			found, rest, err := tree.Find(words[1:])
			if err != nil || found == tree {
				t.Errorf("%s: the example %q runs %s, %v", cmd.CommandPath(), line, found.CommandPath(), err)
			}
			runsIt = runsIt || strings.HasPrefix(found.CommandPath(), cmd.CommandPath()) || slices.Contains(words, cmd.Name())
			found.InitDefaultHelpFlag()
			if err := found.ParseFlags(rest); err != nil {
				t.Errorf("%s: the example %q: %v", cmd.CommandPath(), line, err)
			}
		}
		if !runsIt {
			t.Errorf("%s: no example runs this command", cmd.CommandPath())
		}
	})
}

// shellWords splits a line like a shell. It supports only the syntax of the examples: single quotes, and a quote after
// a backslash.
func shellWords(line string) (words []string) {
	line, _, _ = strings.Cut(strings.TrimSpace(line), " >")
	var word strings.Builder
	quoted, begun := false, false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\'':
			quoted, begun = !quoted, true
		case quoted:
			word.WriteByte(c)
		case c == '\\':
			i++
			word.WriteByte(line[i])
		case c == ' ':
			if begun || word.Len() > 0 {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteByte(c)
		}
	}
	if begun || word.Len() > 0 {
		words = append(words, word.String())
	}
	return words
}

func TestFlagsAreAcceptedAnywhereBeforeTheServer(t *testing.T) {
	noCollector(t)
	url, _ := serves(t, "0")
	for _, args := range [][]string{
		{"--json", "--url", url, "call", "divide", `{"a":6,"b":3}`},
		{"--url", url, "call", "--json", "divide", `{"a":6,"b":3}`},
		{"call", "divide", "--json", `{"a":6,"b":3}`, "--url", url},
		{"call", "divide", `{"a":6,"b":3}`, "--url=" + url, "--json"},
		append([]string{"call", "divide", `{"a":6,"b":3}`, "--json"}, demoServerCommand(t)...),
	} {
		code, out, stderr := runs(t, args...)
		if code != exitOK || !strings.Contains(out, `"quotient": 2`) {
			t.Errorf("%v: got exit code %d and %q, want the quotient as JSON: %s", args, code, out, stderr)
		}
	}
	_, out, stderr := runs(t, "--url", url, "task", "--json", "get", "nosuch")
	if !strings.Contains(stderr, "unknown task") {
		t.Errorf("task: got %q and %q, want an unknown task", out, stderr)
	}
	code, out, _ := runs(t, "tools", "--url", url, "--", "server", "--json")
	if code != exitUsage || out != "" {
		t.Errorf("flags after --: got exit code %d and %q, want them passed to the server", code, out)
	}
}

// TestCommandsInTheDocumentationAreValid checks the commands in the documents, in code blocks and in the text.
func TestCommandsInTheDocumentationAreValid(t *testing.T) {
	root := filepath.Join("..", "..")
	documents := []string{filepath.Join(root, "README.md"), filepath.Join(root, "SECURITY.md")}
	for _, pattern := range []string{"docs/*.md", "docs/guides/*.md"} {
		more, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(more) == 0 {
			t.Fatalf("documents of %s: %v, %v", pattern, more, err)
		}
		documents = append(documents, more...)
	}
	inText := regexp.MustCompile("`(mcpotel [^`]+)`")
	commands := 0
	for _, document := range documents {
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for i, block := range strings.Split(string(text), "```") {
			if i%2 == 1 {
				lines = append(lines, strings.Split(strings.ReplaceAll(block, "&&", "\n"), "\n")...)
				continue
			}
			for _, found := range inText.FindAllStringSubmatch(block, -1) {
				lines = append(lines, found[1])
			}
		}
		for _, line := range lines {
			line, _, _ = strings.Cut(line, " # ") // a comment
			if words := shellWords(line); len(words) > 1 && words[0] == "mcpotel" {
				understood(t, document, words)
				commands++
			}
		}
	}
	if commands < 15 {
		t.Errorf("got only %d commands, want more", commands)
	}
}

// understood fails the test if a document uses an unknown command or an unknown flag.
func understood(t *testing.T, document string, words []string) {
	t.Helper()
	tree := quiet()
	found, rest, err := tree.Find(words[1:])
	if err != nil || found == tree {
		t.Errorf("%s: %v is not a command: %v", document, words, err)
		return
	}
	if err := found.ParseFlags(rest); err != nil {
		t.Errorf("%s: %v: %v", document, words, err)
	}
}

func TestHelpHasEachCommandOnce(t *testing.T) {
	_, out, _ := runs(t, "help")
	for _, c := range newTree(streams{strings.NewReader(""), io.Discard, io.Discard, false}).Commands() {
		if n := strings.Count(out, "\n  "+c.Name()+" "); c.IsAvailableCommand() && n != 1 {
			t.Errorf("want the command %s once in the help, got %d times", c.Name(), n)
		}
	}
}

func TestUsageErrorSuggestsServerFlagOrDashes(t *testing.T) {
	noCollector(t)
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	if code, _, stderr := runs(t, "add", "stock", "--url", "http://127.0.0.1:1/mcp"); code != exitOK {
		t.Fatal(stderr)
	}
	for want, args := range map[string][]string{
		"did you mean --server stock?":              {"tools", "stock"},
		"if sh starts the server, put -- before it": {"tools", "sh", "-y", "foo"},
		"if sh starts the server, put --":           {"call", "echo", "x=1", "sh"},
		"[ARG...]\n":                                {"tools", "nosuchprogram"},
		"unknown shorthand flag: 'y' in -y; \"":     {"tools", "--header", "X=y", "sh", "-y"},
	} {
		if code, _, stderr := runs(t, args...); code != exitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%q: want exit code 2 and %q, got %d: %s", args, want, code, stderr)
		}
	}
}
