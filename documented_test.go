package mcpotel_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestEveryExportedSymbolIsDocumented reads the source of all packages that a user of the library can import. A
// constant is documented by its own comment, by the comment on its group, or by the comment on its type. A variable is
// documented by its own comment or by the comment on its group.
func TestEveryExportedSymbolIsDocumented(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.Dir}}|{{.ImportPath}}|{{.Name}}",
		"./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	packages := 0
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSpace(line), "|")
		if slices.Contains(strings.Split(f[1], "/"), "internal") || f[2] == "main" || strings.Contains(f[1], "/testenv/") ||
			f[1] == module+"/examples" {
			continue
		}
		packages++
		for _, symbol := range undocumented(t, f[0], f[1]) {
			t.Errorf("%s.%s has no comment", strings.TrimPrefix(f[1], module+"/"), symbol)
		}
	}
	if packages < 15 {
		t.Errorf("%d packages were read, want all public packages", packages)
	}
}

// undocumented returns the exported symbols without a comment in the package in dir. They include the package itself if
// it has no comment.
func undocumented(t *testing.T, dir, importPath string) (missing []string) {
	t.Helper()
	files := token.NewFileSet()
	parsed := map[string]*ast.File{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != dir:
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		parsed[name], err = parser.ParseFile(files, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var all []*ast.File
	for _, f := range parsed {
		all = append(all, f)
	}
	p, err := doc.NewFromFiles(files, all, importPath, doc.PreserveAST)
	if err != nil {
		t.Fatal(err)
	}
	note := func(text, name string) {
		if strings.TrimSpace(text) == "" {
			missing = append(missing, name)
		}
	}
	note(p.Doc, "(package "+path.Base(importPath)+")")
	values := func(groups []*doc.Value) {
		for _, g := range groups {
			for _, spec := range g.Decl.Specs {
				v := spec.(*ast.ValueSpec)
				for _, name := range v.Names {
					if name.IsExported() {
						note(g.Doc+v.Doc.Text()+v.Comment.Text(), name.Name)
					}
				}
			}
		}
	}
	functions := func(of string, some []*doc.Func) {
		for _, f := range some {
			note(f.Doc, of+f.Name)
		}
	}
	values(p.Consts)
	values(p.Vars)
	functions("", p.Funcs)
	for _, typ := range p.Types {
		note(typ.Doc, typ.Name)
		values(typ.Vars)
		functions("", typ.Funcs)
		functions(typ.Name+".", typ.Methods)
	}
	return missing
}
