package schema

import (
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"slices"
	"strconv"
	"testing"
)

// paidFiles are the files that evaluate data from peers.
var paidFiles = []string{
	"evaluate.go", "assert.go", "arrays.go", "objects.go", "equal.go", "explain.go", "defaults.go",
}

// paidLoops are the functions that yield to a loop and pay for each iteration.
var paidLoops = []string{"each", "entries", "inside", "back"}

// paidImports have no functions with a cost that grows with their arguments, except in defaults.go, which encodes data
// that has been paid for.
var paidImports = []string{
	"cmp", "context", "encoding/binary", "hash/maphash", "iter", "math",
	"github.com/go-json-experiment/json", "github.com/go-json-experiment/json/jsontext",
}

// TestEveryLoopIsMetered checks that the evaluation of schemas and values loops only over the iterators of the meter,
// and imports only packages in paidImports.
func TestEveryLoopIsMetered(t *testing.T) {
	files := gotoken.NewFileSet()
	for _, name := range paidFiles {
		f, err := parser.ParseFile(files, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range f.Imports {
			if path, _ := strconv.Unquote(i.Path.Value); !slices.Contains(paidImports, path) {
				t.Errorf("%s: %s is imported; what takes longer for a longer argument belongs in meter.go", name, path)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ForStmt:
				t.Errorf("%v: a loop that pays nothing", files.Position(n.Pos()))
			case *ast.RangeStmt:
				if !slices.Contains(paidLoops, called(n.X)) {
					t.Errorf("%v: a loop over what the meter does not yield", files.Position(n.Pos()))
				}
			}
			return true
		})
	}
}

// called returns the name of the function that an expression calls.
func called(e ast.Expr) string {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return ""
	}
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// TestRecursionIsMetered checks that every cycle of calls in the evaluation goes through a function that pays first.
func TestRecursionIsMetered(t *testing.T) {
	paying := []string{"visit", "fill", "hash", "equal", "fallback"}
	calls := map[string][]string{}
	files := gotoken.NewFileSet()
	for _, name := range paidFiles {
		f, err := parser.ParseFile(files, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			ast.Inspect(fn, func(n ast.Node) bool {
				if e, ok := n.(ast.Expr); ok && called(e) != "" {
					calls[fn.Name.Name] = append(calls[fn.Name.Name], called(e))
				}
				return true
			})
		}
	}
	for _, name := range paying {
		if !slices.Contains(calls[name], "pay") {
			t.Errorf("%s does not pay", name)
		}
		delete(calls, name)
	}
	var walk func(name string, trail []string)
	walk = func(name string, trail []string) {
		if slices.Contains(trail, name) {
			t.Fatalf("calls that go round without paying: %v", append(trail, name))
		}
		for _, next := range calls[name] {
			walk(next, append(trail, name))
		}
	}
	for name := range calls {
		walk(name, nil)
	}
}
