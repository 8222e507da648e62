package main

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"
)

var lower = flag.Bool("lower", false, "write the limits of testdata/limits.txt anew that can be lowered")

// TestWideLinesAndVagueWordsBecomeFewer holds each directory to its limits in testdata/limits.txt, those of nested
// modules too. A limit that can be lowered fails as well, so that what was gained is not lost again.
func TestWideLinesAndVagueWordsBecomeFewer(t *testing.T) {
	const name = "testdata/limits.txt"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	head, limits, err := parseLimits(string(text))
	if err != nil {
		t.Fatal(err)
	}
	now, err := measure(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	if *lower {
		for dir, limit := range limits {
			limits[dir] = prose{min(limit.wide, now[dir].wide), min(limit.vague, now[dir].vague)}
		}
		if err := os.WriteFile(name, []byte(head+formatLimits(limits)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, problem := range compareLimits(limits, now) {
		t.Error(problem)
	}
}

// prose is what is counted of a directory, without those below it.
type prose struct {
	wide  int // lines of Go files with more than 120 characters, a tab being one
	vague int // words in comments, and in Markdown, that do not say who
}

// measure counts in all directories. In Go files that are generated nothing counts. Lines with a part of a text of
// several lines are not wide, nor those that an example prints: the text needs them as they are.
func measure(root fs.FS) (map[string]prose, error) {
	now := map[string]prose{}
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		base := path.Base(name)
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(base, ".") || base == "node_modules" || base == "testdata"):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".go" && path.Ext(name) != ".md":
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		p := prose{vague: len(vague.FindAll(text, -1))}
		if path.Ext(name) == ".go" {
			f, err := parse(name, text)
			if err != nil {
				return err
			}
			if p = (prose{}); !ast.IsGenerated(f.syntax) {
				p = prose{wide: f.wideLines(), vague: f.vagueWords()}
			}
		}
		dir := path.Dir(name)
		now[dir] = prose{now[dir].wide + p.wide, now[dir].vague + p.vague}
		return nil
	})
	return now, err
}

func (f *file) vagueWords() (n int) {
	for _, group := range f.syntax.Comments {
		for _, c := range group.List {
			n += len(vague.FindAllString(c.Text, -1))
		}
	}
	return n
}

func (f *file) wideLines() (n int) {
	inText := map[int]bool{}
	ast.Inspect(f.syntax, func(node ast.Node) bool {
		text, ok := node.(*ast.BasicLit)
		if ok && text.Kind == token.STRING && f.line(text.Pos()) < f.line(text.End()) {
			for line := f.line(text.Pos()); line <= f.line(text.End()); line++ {
				inText[line] = true
			}
		}
		return true
	})
	printed := false
	for i, line := range f.lines {
		comment := bytes.HasPrefix(bytes.TrimSpace(line), []byte("//"))
		printed = comment && (printed || bytes.Contains(line, []byte("// Output:")) ||
			bytes.Contains(line, []byte("// Unordered output:")))
		if utf8.RuneCount(line) > 120 && !inText[i+1] && !printed {
			n++
		}
	}
	return n
}

// parseLimits reads lines of a directory and two numbers, behind a head of comments.
func parseLimits(text string) (head string, limits map[string]prose, err error) {
	limits = map[string]prose{}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			head += line
			continue
		}
		var dir string
		var p prose
		if _, err := fmt.Sscan(line, &dir, &p.wide, &p.vague); err != nil {
			return "", nil, fmt.Errorf("want a directory and two numbers, got %q: %w", line, err)
		}
		limits[dir] = p
	}
	return head, limits, nil
}

func formatLimits(limits map[string]prose) string {
	var b strings.Builder
	for _, dir := range slices.Sorted(maps.Keys(limits)) {
		if p := limits[dir]; p != (prose{}) {
			fmt.Fprintln(&b, dir, p.wide, p.vague)
		}
	}
	return b.String()
}

// compareLimits says which directories are above a limit, or below it.
func compareLimits(limits, now map[string]prose) (problems []string) {
	dirs := maps.Clone(limits)
	maps.Copy(dirs, now)
	for _, dir := range slices.Sorted(maps.Keys(dirs)) {
		for _, of := range []struct {
			what       string
			limit, got int
		}{
			{"lines wider than 120 characters", limits[dir].wide, now[dir].wide},
			{"words that do not say who (nobody, somebody, whoever)", limits[dir].vague, now[dir].vague},
		} {
			switch {
			case of.got > of.limit:
				problems = append(problems, fmt.Sprintf("%s has %d %s, want at most %d", dir, of.got, of.what, of.limit))
			case of.got < of.limit:
				problems = append(problems, fmt.Sprintf(
					"%s has only %d %s: lower its limit of %d by go test ./internal/house -lower",
					dir, of.got, of.what, of.limit))
			}
		}
	}
	return problems
}

func TestALimitHoldsFromBothSides(t *testing.T) {
	wide := strings.Repeat("x", 121)
	root := fstest.MapFS{
		"a/a.go": {Data: []byte("package a // nobody\n\n// " + wide + "\nvar text = `\n" + wide +
			"\n` // whoever\n")},
		"a/a_test.go":  {Data: []byte("package a\n\nvar nobody = \"" + wide + "\" // Somebody\n")},
		"a/b/notes.md": {Data: []byte(wide + " nobody\n")},
		"a/b/made.go": {Data: []byte("// Code generated by a test. DO NOT EDIT.\n\npackage b // nobody\n// " + wide +
			"\n")},
		"a/testdata/c.go": {Data: []byte("no Go")},
		".git/d.go":       {Data: []byte("no Go")},
		"e.txt":           {Data: []byte("nobody")},
	}
	now, err := measure(root)
	if err != nil {
		t.Fatal(err)
	}
	if want := map[string]prose{"a": {2, 3}, "a/b": {0, 1}}; !maps.Equal(now, want) {
		t.Fatalf("want %v, got %v", want, now)
	}
	for text, want := range map[string]string{
		"# head\na 2 3\na/b 0 1\n": "",
		"a 1 3\na/b 0 1\n":         "a has 2 lines wider than 120 characters, want at most 1",
		"a 2 3\n":                  "a/b has 1 words that do not say who (nobody, somebody, whoever), want at most 0",
		"a 2 4\na/b 0 1\n":         "a has only 3 words that do not say who (nobody, somebody, whoever): lower its limit",
		"a 2 3\na/b 0 1\nc 1 0\n":  "c has only 0 lines wider than 120 characters: lower its limit of 1 by",
	} {
		_, limits, err := parseLimits(text)
		if err != nil {
			t.Fatal(err)
		}
		got := compareLimits(limits, now)
		if want == "" && len(got) > 0 || want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], want)) {
			t.Errorf("limits %q: want the one problem %q, got %q", text, want, got)
		}
	}
	if _, _, err := parseLimits("a 1\n"); err == nil {
		t.Error("a limit of one number: want an error, got none")
	}
	if got, want := formatLimits(map[string]prose{"b": {1, 0}, "a": {0, 2}, "c": {}}), "a 0 2\nb 1 0\n"; got != want {
		t.Errorf("want the limits\n%s\ngot\n%s", want, got)
	}
}
