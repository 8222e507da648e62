package bounds

import (
	"cmp"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"maps"
	"slices"
)

// members returns the names of the members of a package that may grow: fields and package variables that are a map, a
// pool or a buffer, slices that are appended to, and channels that hold more than one value. A channel outside of a
// field has the name of the function that makes it.
func (s *source) members(path string) ([]string, error) {
	p, err := s.load(path)
	if err != nil {
		return nil, err
	}
	m := &members{pkg: p, appended: map[types.Object]bool{}, written: map[types.Object]bool{}, found: map[string]bool{}}
	for _, f := range p.files {
		ast.Inspect(f, m.changes)
	}
	for _, f := range p.files {
		ast.Inspect(f, m.fields)
		for _, d := range f.Decls {
			m.variables(d)
			m.channels(d)
		}
	}
	return slices.Sorted(maps.Keys(m.found)), nil
}

type members struct {
	*pkg
	appended, written map[types.Object]bool
	found             map[string]bool
}

// changes records the targets of append and of writes by key.
func (m *members) changes(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		if f, ok := n.Fun.(*ast.Ident); ok && len(n.Args) > 0 {
			switch f.Name {
			case "append":
				m.appended[m.target(n.Args[0])] = true
			case "delete", "clear":
				m.written[m.target(n.Args[0])] = true
			}
		}
	case *ast.AssignStmt:
		m.extended(n)
		for _, left := range n.Lhs {
			if at, ok := left.(*ast.IndexExpr); ok {
				m.written[m.target(at.X)] = true
			} else if n.Tok == token.ASSIGN {
				m.written[m.target(left)] = true
			}
		}
	}
	return true
}

// extended records variables that are assigned the result of a function of themselves, such as slices.Insert.
func (m *members) extended(n *ast.AssignStmt) {
	for i, right := range n.Rhs {
		call, ok := right.(*ast.CallExpr)
		if !ok || i >= len(n.Lhs) || shrinks(call) {
			continue
		}
		left := m.target(n.Lhs[i])
		for _, arg := range call.Args {
			if left != nil && m.target(arg) == left {
				m.appended[left] = true
			}
		}
	}
}

// shrinks reports whether call calls a function that adds nothing to its argument.
func shrinks(call *ast.CallExpr) bool {
	f, ok := call.Fun.(*ast.SelectorExpr)
	return ok && slices.Contains([]string{"Clone", "Compact", "Delete", "DeleteFunc"}, f.Sel.Name)
}

// target returns the field or variable that an expression refers to.
func (m *members) target(x ast.Expr) types.Object {
	switch x := ast.Unparen(x).(type) {
	case *ast.SelectorExpr:
		return origin(m.info.Uses[x.Sel])
	case *ast.Ident:
		return m.info.Uses[x]
	case *ast.SliceExpr:
		return m.target(x.X)
	case *ast.StarExpr:
		return m.target(x.X)
	}
	return nil
}

// origin returns the declaration of a field of a generic type.
func origin(o types.Object) types.Object {
	if v, ok := o.(*types.Var); ok {
		return v.Origin()
	}
	return o
}

func (m *members) fields(n ast.Node) bool {
	spec, ok := n.(*ast.TypeSpec)
	if !ok {
		return true
	}
	ast.Inspect(spec.Type, func(n ast.Node) bool {
		if s, ok := n.(*ast.StructType); ok {
			m.structure(spec.Name.Name, s)
		}
		return true
	})
	return true
}

func (m *members) structure(name string, s *ast.StructType) {
	for _, field := range s.Fields.List {
		for _, ident := range field.Names { // no embedded type grows by itself
			if m.grows(field.Type, m.info.Defs[ident], true) {
				m.add(name + "." + ident.Name)
			}
		}
	}
}

// variables examines the package's variables. A table that is never written after its declaration does not grow.
func (m *members) variables(d ast.Decl) {
	decl, ok := d.(*ast.GenDecl)
	if !ok || decl.Tok != token.VAR {
		return
	}
	for _, spec := range decl.Specs {
		v := spec.(*ast.ValueSpec)
		for i, ident := range v.Names {
			kind := v.Type
			if lit, ok := at(v.Values, i).(*ast.CompositeLit); kind == nil && ok {
				kind = lit.Type
			}
			if s, ok := kind.(*ast.StructType); ok {
				m.structure(ident.Name, s)
			} else if m.grows(kind, m.info.Defs[ident], false) {
				m.add(ident.Name)
			}
		}
	}
}

func at(values []ast.Expr, i int) ast.Expr {
	if i < len(values) {
		return values[i]
	}
	return nil
}

// grows reports whether a value of this type may grow. A map in a field counts even without a visible write, because
// the code may write the map under another name.
func (m *members) grows(kind ast.Expr, o types.Object, field bool) bool {
	if sel, ok := kind.(*ast.SelectorExpr); ok {
		switch types.ExprString(sel) {
		case "sync.Map", "sync.Pool", "list.List", "bytes.Buffer", "strings.Builder":
			return true
		}
	}
	if o == nil || o.Type() == nil {
		return false
	}
	switch o.Type().Underlying().(type) {
	case *types.Map:
		return field || m.written[o]
	case *types.Slice:
		return m.appended[o]
	}
	return false
}

// channels finds each make(chan T, n) in a declaration with an n other than 0 and 1.
func (m *members) channels(d ast.Decl) {
	named := map[*ast.CallExpr]string{}
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, right := range n.Rhs {
				if call, ok := right.(*ast.CallExpr); ok && i < len(n.Lhs) {
					named[call] = m.owner(n.Lhs[i])
				}
			}
		case *ast.CompositeLit:
			m.literal(n, named)
		case *ast.CallExpr:
			if m.buffered(n) {
				m.add(cmp.Or(named[n], function(d)))
			}
		}
		return true
	})
}

func (m *members) literal(lit *ast.CompositeLit, named map[*ast.CallExpr]string) {
	kind := m.info.TypeOf(lit)
	if kind == nil {
		return
	}
	if p, ok := kind.Underlying().(*types.Pointer); ok {
		kind = p.Elem()
	}
	of, ok := kind.(*types.Named)
	if !ok {
		return
	}
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if call, ok := kv.Value.(*ast.CallExpr); ok {
				named[call] = of.Obj().Name() + "." + types.ExprString(kv.Key)
			}
		}
	}
}

// owner returns the name of the field x, with its type.
func (m *members) owner(x ast.Expr) string {
	sel, ok := x.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	s, ok := m.info.Selections[sel]
	if !ok {
		return ""
	}
	kind := s.Recv()
	if p, ok := kind.(*types.Pointer); ok {
		kind = p.Elem()
	}
	if of, ok := kind.(*types.Named); ok {
		return of.Obj().Name() + "." + sel.Sel.Name
	}
	return ""
}

func (m *members) buffered(call *ast.CallExpr) bool {
	if f, ok := call.Fun.(*ast.Ident); !ok || f.Name != "make" || len(call.Args) != 2 {
		return false
	}
	if t := m.info.TypeOf(call.Args[0]); t == nil {
		return false
	} else if _, ok := t.Underlying().(*types.Chan); !ok {
		return false
	}
	n := m.info.Types[call.Args[1]].Value
	return n == nil || constant.Compare(n, token.GTR, constant.MakeInt64(1))
}

// function returns the name of a function declaration, with its receiver's type.
func function(d ast.Decl) string {
	f, ok := d.(*ast.FuncDecl)
	if !ok {
		return "init"
	}
	if f.Recv == nil {
		return f.Name.Name
	}
	kind := f.Recv.List[0].Type
	if star, ok := kind.(*ast.StarExpr); ok {
		kind = star.X
	}
	if generic, ok := kind.(*ast.IndexExpr); ok {
		kind = generic.X
	}
	return types.ExprString(kind) + "." + f.Name.Name
}

func (m *members) add(name string) { m.found[m.path+"."+name] = true }
