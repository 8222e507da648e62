package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A source imports packages. It parses the packages of one module without the bodies of functions, which is quick after
// any change; for other packages it reads the compiler's export data.
type source struct {
	set     *token.FileSet
	files   map[string][]string // of the module's packages, by import path
	checked map[string]*types.Package
	others  types.Importer
}

// newSource returns a source for all packages of the module at root, as on Linux, and their imports.
func newSource(root string) (*source, error) {
	s := &source{set: token.NewFileSet(), files: map[string][]string{}, checked: map[string]*types.Package{}}
	own, err := goList(root, "-f", `{{.ImportPath}}|{{.Dir}}|{{join .GoFiles " "}}|{{join .Imports " "}}`, "./...")
	if err != nil {
		return nil, err
	}
	for _, f := range own {
		for name := range strings.FieldsSeq(f[2]) {
			s.files[f[0]] = append(s.files[f[0]], filepath.Join(f[1], name))
		}
	}
	args, seen := []string{"-export", "-deps", "-f", "{{.ImportPath}}|{{.Export}}"}, map[string]bool{}
	for _, f := range own {
		for path := range strings.FieldsSeq(f[3]) {
			if !seen[path] && s.files[path] == nil && path != "unsafe" {
				args = append(args, path)
			}
			seen[path] = true
		}
	}
	described, err := goList(root, args...)
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	for _, f := range described {
		exports[f[0]] = f[1]
	}
	s.others = importer.ForCompiler(s.set, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	return s, nil
}

// Import implements types.Importer.
func (s *source) Import(path string) (*types.Package, error) {
	if s.files[path] == nil {
		return s.others.Import(path)
	}
	if p := s.checked[path]; p != nil {
		return p, nil
	}
	var files []*ast.File
	for _, name := range s.files[path] {
		f, err := parser.ParseFile(s.set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	check := types.Config{Importer: s, IgnoreFuncBodies: true}
	p, err := check.Check(path, s.set, files, nil)
	s.checked[path] = p
	return p, err
}

// goList returns the lines of go list, as for Linux, each divided at its bars.
func goList(root string, args ...string) (lines [][]string, err error) {
	list := exec.Command("go", append([]string{"list"}, args...)...)
	list.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64")
	text, err := output(list, root)
	for line := range strings.Lines(text) {
		lines = append(lines, strings.Split(strings.TrimSpace(line), "|"))
	}
	return lines, err
}

// output runs a command in a directory. Its error is the command's standard error.
func output(cmd *exec.Cmd, dir string) (string, error) {
	var out, trouble bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &trouble
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", cmd, err, &trouble)
	}
	return out.String(), nil
}
