package main

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/api.txt anew")

func TestExportsMatchTheBaseline(t *testing.T) {
	const file = "testdata/api.txt"
	var out strings.Builder
	if err := run(&out, "../..", []string{"api"}); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(text) == out.String() {
		return
	}
	t.Errorf("%s is not what the packages export; run go -C tools generate ./house", file)
	before, now := strings.Split(string(text), "\n"), strings.Split(out.String(), "\n")
	for _, line := range before {
		if _, found := slices.BinarySearch(now, line); !found && line != "" {
			t.Errorf("- %s", line)
		}
	}
	for _, line := range now {
		if _, found := slices.BinarySearch(before, line); !found && line != "" {
			t.Errorf("+ %s", line)
		}
	}
}

func TestEachExportIsPrintedOnOneLine(t *testing.T) {
	const source = `package p

const Typed Kind = "x"
const Untyped, hidden = 1 << 3, 2

type Kind string
func (Kind) String() string { return "" }

var Err error

func F[T ~int](a, b Kind, more ...T) (ok bool) { return false }

type T struct {
	A  []Kind
	mu int
	*inner
	Kind
}
func (*T) Set(a Kind) {}
func (*T) get() {}

type inner struct { B bool; c int }
func (inner) Promoted() {}

type List[E any] []E
func (List[E]) First() (e E) { return }

type Sealed interface { Name() string; sealed() }
type Number interface { ~int | ~float64 }
type Alias = map[Kind]*T
type Handler func(k Kind) error
`
	want := []string{
		`const Typed Kind = "x"`, `const Untyped = 8`, `func F[T ~int](a Kind, b Kind, more ...T) (ok bool)`,
		`method (T) Promoted()`, `method (T) String() string`,
		`method (*T) Set(a Kind)`, `method (Kind) String() string`, `method (List[E any]) First() (e E)`,
		`type Alias = map[Kind]*T`, `type Handler func(k Kind) error`, `type Kind string`, `type List[E any] []E`,
		`type Number interface`, `type Number interface, ~int | ~float64`,
		`type Sealed interface`, `type Sealed interface, Name() string`, `type Sealed interface, unexported methods`,
		`type T struct`, `type T struct, A []Kind`, `type T struct, B bool`, `type T struct, embedded Kind`, `var Err error`,
	}
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, "p.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	p, err := new(types.Config).Check(module+"/below/p", set, []*ast.File{f}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := surface(p)
	for i, line := range got {
		got[i] = strings.TrimPrefix(line, "pkg below/p, ")
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("lines: want\n%s\ngot\n%s", strings.Join(want, "\n"), strings.Join(got, "\n"))
	}
}

func TestBaselineCoversTheModulesOfUsers(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{".", "adapters/one", "benchmarks/peers", "examples/mine", "plain", ".ci", "tools"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
		if dir == "plain" {
			continue
		}
		if err := os.WriteFile(filepath.Join(root, dir, "go.mod"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := libraryModules(root)
	want := []string{root, filepath.Join(root, "adapters", "one")}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("want %q, got %q, %v", want, got, err)
	}
}

func TestExportsUseNoInternalTypes(t *testing.T) {
	exports, err := os.ReadFile("testdata/api.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(exports)) {
		if strings.Contains(line, "internal/") {
			t.Errorf("a user cannot name the type: %s", line)
		}
	}
}

func TestInternalPackagesAreNotPublic(t *testing.T) {
	for path, want := range map[string]bool{
		module: true, module + "/mcp/app": true, module + "/internal/client/machine": false,
		module + "/internal/sse": false, module + "/benchmarks/workload": false, "go.opentelemetry.io/otel": false,
	} {
		if got := isPublic(path); got != want {
			t.Errorf("isPublic(%s): want %v, got %v", path, want, got)
		}
	}
}
