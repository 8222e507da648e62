package main

import (
	"fmt"
	"go/ast"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"
	"testing/fstest"
)

// TestWhatChanceHasMadeIsAskedForInLongRunsOnly: with -short, rapid draws a fifth of the cases, so a kind of them that
// is rare may be missing. A test that wants some of each asks testing.Short first.
func TestWhatChanceHasMadeIsAskedForInLongRunsOnly(t *testing.T) {
	problems, properties, err := leftToChance(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Error(p)
	}
	if properties < 50 {
		t.Errorf("want 50 properties or more, got %d", properties)
	}
}

func TestATestThatIsLeftToChanceIsFound(t *testing.T) {
	const head = "package x\nfunc TestX(t *testing.T) {\n\tn := 0\n\trapid.Check(t, func(t *rapid.T) { n++ })\n"
	for text, want := range map[string]int{
		head + "\tif n == 0 { t.Error(n) }\n}":                                                        1,
		head + "\tfor range 3 { if n == 0 { t.Fatal(n) } }\n}":                                        1,
		head + "\tif !testing.Short() && n == 0 { t.Error(n) }\n}":                                    0,
		head + "\tif n != 7 { t.Error(n) }\n}":                                                        0,
		head + "\tif n == 0 { t.Log(n) }\n}":                                                          0,
		"package x\nfunc TestX(t *testing.T) {\n\tif n == 0 { t.Error(n) }\n\trapid.Check(t, nil)\n}": 0,
	} {
		problems, _, err := leftToChance(fstest.MapFS{"x/x_test.go": {Data: []byte(text)}})
		if err != nil || len(problems) != want {
			t.Errorf("got %q, %v, want %d problems, of\n%s", problems, err, want, text)
		}
	}
}

// leftToChance returns the tests that want something of what rapid has drawn, and the number of properties.
func leftToChance(root fs.FS) (problems []string, properties int, err error) {
	err = fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch base := path.Base(name); {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(base, ".") || base == "node_modules" || base == "testdata"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil || !strings.Contains(string(text), "rapid.Check(") {
			return err
		}
		f, err := parse(name, text)
		if err != nil {
			return err
		}
		of := func(n ast.Node) string {
			return string(text[f.set.Position(n.Pos()).Offset:f.set.Position(n.End()).Offset])
		}
		for _, decl := range f.syntax.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			checked := false
			for _, s := range fn.Body.List {
				code := of(s)
				if strings.HasPrefix(code, "rapid.Check(") {
					checked = true
					properties++
				} else if checked && strings.Contains(code, " == 0") && !strings.Contains(of(fn), "testing.Short()") &&
					(strings.Contains(code, "t.Error") || strings.Contains(code, "t.Fatal")) {
					problems = append(problems, fmt.Sprintf("%s: %s wants something of what rapid has drawn: with -short, it may "+
						"be missing; ask testing.Short() first", name, fn.Name.Name))
				}
			}
		}
		return nil
	})
	return problems, properties, err
}
