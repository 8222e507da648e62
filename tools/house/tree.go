package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// notLibrary are the directories without code for users of the library: programs, examples, benchmarks, test support.
var notLibrary = []string{
	"cmd", "example", "examples", "benchmarks", "testenv", "tools", "testdata", "testsupport", "node_modules",
}

// A file is one Go file of a library.
type file struct {
	dir    string // below the root, with slashes
	lines  [][]byte
	syntax *ast.File
	set    *token.FileSet
}

// library reads the Go files below root, except tests, nested modules, hidden directories and notLibrary.
func library(root string) ([]file, error) {
	var files []file
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != root && (isLeftOut(d.Name()) || isModule(name)):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		below, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		f, err := parse(filepath.ToSlash(below), text)
		files = append(files, f)
		return err
	})
	return files, err
}

// parse reads a file; name has slashes.
func parse(name string, text []byte) (file, error) {
	set := token.NewFileSet()
	syntax, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
	lines := bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	return file{dir: path.Dir(name), lines: lines, syntax: syntax, set: set}, err
}

func isLeftOut(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || slices.Contains(notLibrary, name)
}

func isModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// libraryModules returns the directories of the modules that a user of the library may require: root, and those below
// it outside of the directories that [library] omits.
func libraryModules(root string) ([]string, error) {
	var modules []string
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || !d.IsDir():
			return err
		case name != root && isLeftOut(d.Name()):
			return fs.SkipDir
		case isModule(name):
			modules = append(modules, name)
		}
		return nil
	})
	return modules, err
}

// below returns the files in dir and the directories below it.
func below(files []file, dir string) []file {
	var within []file
	for _, f := range files {
		if f.dir == dir || strings.HasPrefix(f.dir, dir+"/") {
			within = append(within, f)
		}
	}
	return within
}

// line returns the line of a position, starting at 1.
func (f *file) line(p token.Pos) int { return f.set.PositionFor(p, false).Line }

// typeName returns the name of a type with its package: mcpclient.Client.
func (f *file) typeName(name string) string {
	if f.dir == "." {
		return f.syntax.Name.Name + "." + name
	}
	if path.Base(f.dir) == f.syntax.Name.Name {
		return f.dir + "." + name
	}
	return f.dir + " " + f.syntax.Name.Name + "." + name
}
