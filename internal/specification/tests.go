package specification

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
)

// testFunctions are the tests, fuzz targets and examples below root, those of nested modules too, as directory, dot, name, each with
// its file.
func testFunctions(root string) (map[string]string, error) {
	found := map[string]string{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "node_modules" || len(d.Name()) > 2 && d.Name()[0] == '.') {
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
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Recv != nil {
				continue
			}
			for _, prefix := range []string{"Test", "Fuzz", "Example"} {
				if strings.HasPrefix(f.Name.Name, prefix) {
					found[path.Dir(relative)+"."+f.Name.Name] = relative
				}
			}
		}
		return nil
	})
	return found, err
}

// function is a test without what names its subtest.
func function(test string) string {
	dot := strings.LastIndex(test, ".Test")
	dot = max(dot, strings.LastIndex(test, ".Fuzz"), strings.LastIndex(test, ".Example"), 0)
	if slash := strings.IndexByte(test[dot:], '/'); slash >= 0 {
		return test[:dot+slash]
	}
	return test
}
