package main

import (
	"fmt"
	"go/ast"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"
)

// TestEachWordOfTheGlossaryIsInTheCode holds docs/glossary.md against the names that the code declares, so that a word
// which was renamed, moved or given up does not stay on the page.
func TestEachWordOfTheGlossaryIsInTheCode(t *testing.T) {
	page, err := os.ReadFile("../../docs/glossary.md")
	if err != nil {
		t.Fatal(err)
	}
	rows, problems := glossary(string(page))
	if len(rows) < 80 {
		t.Errorf("want a glossary of 80 words or more, got %d", len(rows))
	}
	for _, problem := range append(problems, missing(os.DirFS("../.."), rows)...) {
		t.Error("docs/glossary.md: " + problem)
	}
}

// A word is a row of the glossary.
type word struct {
	name  string
	where []string // directories
}

// glossary reads the rows of the page. Each has a word that no other row has, one sentence, and directories; the words
// of a section are in order.
func glossary(page string) (rows []word, problems []string) {
	complain := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	known, before := map[string]bool{}, ""
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") {
			before = ""
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if !strings.HasPrefix(line, "| ") || len(cells) != 3 || strings.TrimSpace(cells[0]) == "word" {
			continue
		}
		w := word{name: strings.TrimSpace(cells[0])}
		for dir := range strings.FieldsSeq(cells[2]) {
			w.where = append(w.where, strings.Trim(dir, "`"))
		}
		lower, sentence := strings.ToLower(w.name), strings.TrimSpace(cells[1])
		switch {
		case known[lower]:
			complain("%q has two rows: one word, one meaning", w.name)
		case lower < before:
			complain("%q stands behind %q: want the words of a section in order", w.name, before)
		case !strings.HasSuffix(sentence, ".") || strings.Contains(sentence, ". "):
			complain("%q: want one sentence that ends with a full stop, got %q", w.name, sentence)
		case len(w.where) == 0:
			complain("%q: want the directories that it lives in, got none", w.name)
		}
		known[lower], before = true, lower
		rows = append(rows, w)
	}
	return rows, problems
}

// missing says which words are no part of a name that is declared in their directories or below them.
func missing(root fs.FS, rows []word) (problems []string) {
	names := map[string][]string{} // declared, by directory
	for _, w := range rows {
		for _, dir := range w.where {
			if names[dir] == nil {
				all, err := declared(root, dir)
				if err != nil {
					return append(problems, err.Error())
				}
				names[dir] = all
			}
			if !slices.ContainsFunc(names[dir], func(name string) bool { return contains(name, w.name) }) {
				problems = append(problems, fmt.Sprintf("no name in %s has the word %q: rename the row, or take it out", dir,
					w.name))
			}
		}
	}
	return problems
}

// declared are the names of packages, types, functions, fields, variables and constants in dir and below, without
// tests.
func declared(root fs.FS, dir string) ([]string, error) {
	names := map[string]bool{}
	err := fs.WalkDir(root, dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		f, err := parse(name, text)
		if err != nil {
			return err
		}
		names[f.syntax.Name.Name], names[path.Base(f.dir)] = true, true // the directory names a command
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			var found []*ast.Ident
			switch n := n.(type) {
			case *ast.FuncDecl:
				found = []*ast.Ident{n.Name}
			case *ast.TypeSpec:
				found = []*ast.Ident{n.Name}
			case *ast.ValueSpec:
				found = n.Names
			case *ast.Field:
				found = n.Names
			}
			for _, id := range found {
				names[id.Name] = true
			}
			return true
		})
		return nil
	})
	return slices.Collect(maps.Keys(names)), err
}

// contains reports whether an identifier has a word of the glossary in it, which may be several: inFlight and inflight
// have "in flight". The last may be in the plural.
func contains(identifier, name string) bool {
	parts, wanted := humps(identifier), strings.Fields(strings.ToLower(name))
	if slices.Contains(parts, strings.Join(wanted, "")) {
		return true
	}
	last := len(wanted) - 1
	for i := range len(parts) - last {
		if slices.Equal(parts[i:i+last], wanted[:last]) &&
			(parts[i+last] == wanted[last] || parts[i+last] == wanted[last]+"s") {
			return true
		}
	}
	return false
}

// humps are the words of an identifier, in lower case: sendRetry has send and retry, URLVisit has url and visit.
func humps(identifier string) (words []string) {
	runes := []rune(identifier)
	start := 0
	for i := 1; i <= len(runes); i++ {
		switch {
		case i == len(runes):
		case unicode.IsUpper(runes[i]) && !unicode.IsUpper(runes[i-1]): // sendRetry
		case i+1 < len(runes) && unicode.IsUpper(runes[i]) && unicode.IsLower(runes[i+1]): // URLVisit
		default:
			continue
		}
		words = append(words, strings.ToLower(string(runes[start:i])))
		start = i
	}
	return words
}

func TestAGlossaryThatRotsIsFound(t *testing.T) {
	code := fstest.MapFS{
		"mcp/a.go":         {Data: []byte("package mcp\n\ntype sendRetry struct{ inFlight int }\n")},
		"mcp/below/b.go":   {Data: []byte("package below\n\nfunc (t T) URLVisits(lent bool) {}\n")},
		"mcp/a_test.go":    {Data: []byte("package mcp\n\nvar onlyTested int\n")},
		"other/c.go":       {Data: []byte("package other\n\nfunc f() { local := 1; _ = local }\n")},
		"other/readme.txt": {Data: []byte("lent")},
	}
	for name, want := range map[string]string{
		"| in flight | M. | `mcp` |":                                   "",
		"| send retry | M. | `mcp` |\n| URL visit | M. | `mcp` |":      "",
		"| lent | M. | `mcp` `mcp/below` |":                            "",
		"| below | M. | `mcp` |":                                       "",
		"| flight send | M. | `mcp` |":                                 `no name in mcp has the word "flight send"`,
		"| only tested | M. | `mcp` |":                                 `no name in mcp has the word "only tested"`,
		"| local | M. | `other` |":                                     `no name in other has the word "local"`,
		"| lent | M. | `mcp` `other` |":                                `no name in other has the word "lent"`,
		"| lent | M. | `nowhere` |":                                    "nowhere",
		"| lent | M. |  |":                                             "want the directories",
		"| lent | M. And more. | `mcp` |":                              "want one sentence",
		"| lent | M | `mcp` |":                                         "want one sentence",
		"| lent | M. | `mcp` |\n## S\n| Lent | N. | `mcp` |":           "two rows",
		"| visits | M. | `mcp` |\n| lent | N. | `mcp` |":               `"lent" stands behind "visits"`,
		"| visits | M. | `mcp` |\n## S\n\n| lent | N. | `mcp/below` |": "",
	} {
		rows, problems := glossary(name + "\n")
		got := strings.Join(append(problems, missing(code, rows)...), "\n")
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s\nwant a problem with %q, got %q", name, want, got)
		}
	}
}
