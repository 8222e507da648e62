// Package testnames lists the tests of this repository.
package testnames

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// kinds are the prefixes of the names of tests.
var kinds = []string{"Test", "Fuzz", "Benchmark", "Example"}

// Of returns the tests, fuzz targets, benchmarks and examples below root, including those in nested modules and for
// other systems. The key is directory, dot, name; the value is the file.
func Of(root string) (map[string]string, error) {
	found := map[string]string{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && file != root && isLeftOut(d.Name()) {
			return fs.SkipDir
		}
		if !strings.HasSuffix(file, "_test.go") {
			return nil
		}
		syntax, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		relative = filepath.ToSlash(relative)
		for _, decl := range syntax.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && isTest(f.Name.Name) {
				found[path.Dir(relative)+"."+f.Name.Name] = relative
			}
		}
		return nil
	})
	return found, err
}

func isLeftOut(dir string) bool {
	return dir == "node_modules" || dir == "testdata" || strings.HasPrefix(dir, ".") || strings.HasPrefix(dir, "_")
}

// isTest reports whether go test takes a function for a test: no lower-case letter follows the prefix.
func isTest(name string) bool {
	for _, kind := range kinds {
		if rest, ok := strings.CutPrefix(name, kind); ok && name != "TestMain" {
			first, _ := utf8.DecodeRuneInString(rest)
			return !unicode.IsLower(first)
		}
	}
	return false
}
