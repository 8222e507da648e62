package main

import (
	"fmt"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

const module = "github.com/mcpotel/mcpotel"

// api returns the exported API of the public packages, including the nested modules that users require, one declaration
// a line, sorted, as on Linux.
func api(root string) ([]string, error) {
	modules, err := libraryModules(root)
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, dir := range modules {
		of, err := moduleAPI(dir)
		if err != nil {
			return nil, err
		}
		lines = append(lines, of...)
	}
	slices.Sort(lines)
	return lines, nil
}

// moduleAPI returns the lines of the module in a directory.
func moduleAPI(dir string) ([]string, error) {
	source, err := newSource(dir)
	if err != nil {
		return nil, err
	}
	var lines []string
	for path := range source.files {
		if !isPublic(path) {
			continue
		}
		p, err := source.Import(path)
		if err != nil {
			return nil, err
		}
		if p.Name() != "main" {
			lines = append(lines, surface(p)...)
		}
	}
	return lines, nil
}

// isPublic reports whether a user of the library may import the package of this repository.
func isPublic(path string) bool {
	own, ok := strings.CutPrefix(path, module)
	return ok && !slices.ContainsFunc(strings.Split(own, "/"), func(part string) bool {
		return part == "internal" || slices.Contains(notLibrary, part)
	})
}

// surface returns the lines of one package.
func surface(p *types.Package) []string {
	s := surfaceLines{head: "pkg " + relative(p) + ", "}
	if s.head == "pkg , " {
		s.head = "pkg " + p.Name() + ", "
	}
	s.qualify = func(other *types.Package) string {
		if other == p {
			return ""
		}
		return relative(other)
	}
	for _, name := range p.Scope().Names() {
		if token.IsExported(name) {
			s.object(p.Scope().Lookup(name))
		}
	}
	return s.lines
}

// relative returns the path of a package without this module's path.
func relative(p *types.Package) string {
	return strings.TrimPrefix(strings.TrimPrefix(p.Path(), module), "/")
}

// A surfaceLines writes the lines of a package.
type surfaceLines struct {
	head    string
	qualify types.Qualifier
	lines   []string
}

func (s *surfaceLines) add(format string, args ...any) {
	s.lines = append(s.lines, s.head+fmt.Sprintf(format, args...))
}

func (s *surfaceLines) text(t types.Type) string { return types.TypeString(t, s.qualify) }

func (s *surfaceLines) signature(f types.Object) string {
	return strings.TrimPrefix(s.text(f.Type()), "func")
}

func (s *surfaceLines) object(o types.Object) {
	switch o := o.(type) {
	case *types.Const:
		value := o.Val().ExactString()
		if basic, ok := o.Type().(*types.Basic); ok && basic.Info()&types.IsUntyped != 0 {
			s.add("const %s = %s", o.Name(), value)
		} else {
			s.add("const %s %s = %s", o.Name(), s.text(o.Type()), value)
		}
	case *types.Var:
		s.add("var %s %s", o.Name(), s.text(o.Type()))
	case *types.Func:
		s.add("func %s%s", o.Name(), s.signature(o))
	case *types.TypeName:
		s.typeName(o)
	}
}

func (s *surfaceLines) typeName(o *types.TypeName) {
	named, ok := types.Unalias(o.Type()).(*types.Named)
	if !ok || o.IsAlias() {
		s.add("type %s = %s", o.Name(), s.text(types.Unalias(o.Type())))
		if ok && strings.HasPrefix(s.text(named), "internal/") { // the methods of an internal type appear in no other line
			s.methods(named)
		}
		return
	}
	name := s.text(named) // with its type parameters
	switch under := named.Underlying().(type) {
	case *types.Struct:
		s.add("type %s struct", name)
		s.fields(name, under)
	case *types.Interface:
		s.contract(name, under)
		return
	default:
		s.add("type %s %s", name, s.text(under))
	}
	s.methods(named)
}

// fields writes the fields of a type, including the fields of embedded types that have no name outside of the package.
func (s *surfaceLines) fields(name string, t *types.Struct) {
	for f := range t.Fields() {
		switch {
		case f.Embedded() && f.Exported():
			s.add("type %s struct, embedded %s", name, s.text(f.Type()))
		case f.Exported():
			s.add("type %s struct, %s %s", name, f.Name(), s.text(f.Type()))
		case f.Embedded():
			inner := f.Type()
			if p, ok := inner.(*types.Pointer); ok {
				inner = p.Elem()
			}
			if inner, ok := inner.Underlying().(*types.Struct); ok {
				s.fields(name, inner)
			}
		}
	}
}

// contract also states whether code outside of the package can implement the interface.
func (s *surfaceLines) contract(name string, t *types.Interface) {
	s.add("type %s interface", name)
	for m := range t.Methods() {
		if m.Exported() {
			s.add("type %s interface, %s%s", name, m.Name(), s.signature(m))
		}
	}
	for e := range t.EmbeddedTypes() {
		if _, isUnion := e.(*types.Union); isUnion {
			s.add("type %s interface, %s", name, s.text(e))
		}
	}
	if slices.ContainsFunc(slices.Collect(t.Methods()), func(m *types.Func) bool { return !m.Exported() }) {
		s.add("type %s interface, unexported methods", name)
	}
}

// methods writes the methods of a type, including the methods of embedded types.
func (s *surfaceLines) methods(t *types.Named) {
	values := types.NewMethodSet(t)
	for m := range types.NewMethodSet(types.NewPointer(t)).Methods() {
		if !m.Obj().Exported() {
			continue
		}
		receiver := "*" + s.text(t)
		if values.Lookup(nil, m.Obj().Name()) != nil {
			receiver = s.text(t)
		}
		s.add("method (%s) %s%s", receiver, m.Obj().Name(), s.signature(m.Obj()))
	}
}
