package bounds

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const module = "github.com/mcpotel/mcpotel"

// A source is the code of this repository. It reads a package when it is first needed, and looks up names, constants
// and growing members in it, so that every row refers to existing code.
type source struct {
	root     string
	fset     *token.FileSet
	packages map[string]*pkg // by path below the module
}

// A pkg is one package, type-checked without the code of other packages. A type from outside the repository is invalid,
// which does not matter for the lookups here.
type pkg struct {
	path  string
	files []*ast.File
	types *types.Package
	info  *types.Info
}

func newSource(root string) *source {
	return &source{root: root, fset: token.NewFileSet(), packages: map[string]*pkg{}}
}

// load reads the package at path, such as mcpclient/transport.
func (s *source) load(path string) (*pkg, error) {
	if p, ok := s.packages[path]; ok {
		return p, nil
	}
	dir, err := build.Default.ImportDir(filepath.Join(s.root, path), 0)
	if err != nil {
		return nil, err
	}
	p := &pkg{path: path, info: &types.Info{
		Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Types: map[ast.Expr]types.TypeAndValue{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
	}}
	for _, name := range dir.GoFiles {
		f, err := parser.ParseFile(s.fset, filepath.Join(dir.Dir, name), nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		p.files = append(p.files, f)
	}
	check := types.Config{Importer: s, Error: func(error) {}, FakeImportC: true}
	p.types, _ = check.Check(module+"/"+path, s.fset, p.files, p.info)
	s.packages[path] = p
	return p, nil
}

// Import implements types.Importer. It reads packages of this module; of other packages, it knows only the durations of
// package time.
func (s *source) Import(name string) (*types.Package, error) {
	if own, ok := strings.CutPrefix(name, module+"/"); ok {
		p, err := s.load(own)
		if err != nil {
			return nil, err
		}
		return p.types, nil
	}
	other := types.NewPackage(name, path.Base(name))
	if name == "time" {
		declareDurations(other)
	}
	other.MarkComplete()
	return other, nil
}

// declareDurations declares the names of package time that constants use.
func declareDurations(p *types.Package) {
	duration := types.NewTypeName(token.NoPos, p, "Duration", nil)
	types.NewNamed(duration, types.Typ[types.Int64], nil)
	p.Scope().Insert(duration)
	for name, d := range map[string]time.Duration{
		"Nanosecond": time.Nanosecond, "Microsecond": time.Microsecond, "Millisecond": time.Millisecond,
		"Second": time.Second, "Minute": time.Minute, "Hour": time.Hour,
	} {
		p.Scope().Insert(types.NewConst(token.NoPos, p, name, duration.Type(), constant.MakeInt64(int64(d))))
	}
}

// split divides "mcpclient/transport.HTTP.streams" into the package and the names.
func split(name string) (pkg string, names []string) {
	slash := strings.LastIndexByte(name, '/') + 1
	first, rest, _ := strings.Cut(name[slash:], ".")
	return name[:slash] + first, strings.Split(rest, ".")
}

// object finds the object of a name: something declared in a package, or a field or method of a type there.
func (s *source) object(name string) (types.Object, error) {
	path, names := split(name)
	p, err := s.load(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	found := p.declared(names[0])
	for _, member := range names[1:] {
		if found == nil {
			break
		}
		found = p.member(found, member)
	}
	if found == nil {
		return nil, fmt.Errorf("%s not found in the source", name)
	}
	return found, nil
}

// member finds a field or method of a type, or a parameter of a function.
func (p *pkg) member(of types.Object, name string) (found types.Object) {
	if f, ok := of.(*types.Func); ok {
		for v := range f.Signature().Params().Variables() {
			if v.Name() == name {
				return v
			}
		}
		return nil
	}
	found, _, _ = types.LookupFieldOrMethod(of.Type(), true, p.types, name)
	return found
}

// declared finds a name of the package, or of a function in it.
func (p *pkg) declared(name string) types.Object {
	if found := p.types.Scope().Lookup(name); found != nil {
		return found
	}
	for ident, found := range p.info.Defs {
		if _, isType := found.(*types.TypeName); isType && ident.Name == name {
			return found
		}
	}
	return nil
}

// value returns the value of a constant or an initialized variable, or the default of a field of options or of a
// parameter.
func (s *source) value(name string) (constant.Value, error) {
	found, err := s.object(name)
	if err != nil {
		return nil, err
	}
	path, _ := split(name)
	p := s.packages[path]
	var v constant.Value
	switch found := found.(type) {
	case *types.Const:
		v = found.Val()
	case *types.Var:
		if v = p.initial(found); v == nil {
			v = p.byDefault(found)
		}
	}
	if v == nil || v.Kind() == constant.Unknown {
		return nil, fmt.Errorf("%s has no constant value", name)
	}
	return v, nil
}

// hasTest reports whether the directory of name, such as mcpclient.TestX, has that test, benchmark or fuzz target.
func (s *source) hasTest(name string) bool {
	dir, names := split(name)
	found, err := filepath.Glob(filepath.Join(s.root, dir, "*_test.go"))
	return err == nil && slices.ContainsFunc(found, func(file string) bool {
		text, err := os.ReadFile(file)
		return err == nil && strings.Contains(string(text), "\nfunc "+names[0]+"(")
	})
}
