package bounds

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var braces = regexp.MustCompile(`\{[^}]*\}`)

// fill replaces the expressions in braces by their values.
func (s *source) fill(text string) (filled string, err error) {
	filled = braces.ReplaceAllStringFunc(text, func(in string) string {
		unit, expression, ok := strings.Cut(strings.Trim(in, "{}"), " ")
		if !ok || unit != "bytes" && unit != "time" {
			unit, expression = "", strings.Trim(in, "{}")
		}
		n, e := s.compute(expression)
		if e != nil {
			err = e
		}
		return show(n, unit)
	})
	return filled, err
}

// compute evaluates sums of products of numbers and names, which may be divided by a number.
func (s *source) compute(expression string) (sum int64, err error) {
	for product := range strings.SplitSeq(expression, " + ") {
		product, divisor, divided := strings.Cut(product, " / ")
		n := int64(1)
		for name := range strings.SplitSeq(product, " * ") {
			factor, err := s.number(name)
			if err != nil {
				return 0, err
			}
			n *= factor
		}
		if divided {
			by, err := strconv.ParseInt(divisor, 0, 64)
			if err != nil {
				return 0, err
			}
			n /= by
		}
		sum += n
	}
	return sum, nil
}

func (s *source) number(name string) (int64, error) {
	if n, err := strconv.ParseInt(name, 0, 64); err == nil {
		return n, nil
	}
	v, err := s.value(name)
	if err != nil {
		return 0, err
	}
	n, ok := constant.Int64Val(constant.ToInt(v))
	if !ok {
		return 0, fmt.Errorf("%s is %v, which is not a whole number", name, v)
	}
	return n, nil
}

// byDefault finds the default of a field of options or of a parameter: the second argument of cmp.Or(c.Field, default)
// or cmp.Or(max(parameter, 0), default) in the package.
func (p *pkg) byDefault(of types.Object) (found constant.Value) {
	for _, f := range p.files {
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 2 || types.ExprString(call.Fun) != "cmp.Or" {
				return true
			}
			if p.within(call.Args[0], of) {
				found = p.info.Types[call.Args[1]].Value
			}
			return true
		})
	}
	return found
}

// within reports whether x is a field or parameter, or an expression of it.
func (p *pkg) within(x ast.Expr, of types.Object) (yes bool) {
	ast.Inspect(x, func(n ast.Node) bool {
		if ident, ok := n.(*ast.Ident); ok && p.info.Uses[ident] == of {
			yes = true
		}
		return !yes
	})
	return yes
}

func show(n int64, unit string) string {
	switch unit {
	case "bytes":
		return size(n)
	case "time":
		return span(time.Duration(n))
	}
	return thousands(n)
}

func size(n int64) string {
	for _, unit := range []struct {
		shift int
		name  string
	}{{30, "GiB"}, {20, "MiB"}, {10, "KiB"}} {
		if whole := int64(1) << unit.shift; n >= whole {
			return strings.TrimSuffix(strconv.FormatFloat(float64(n)/float64(whole), 'f', 1, 64), ".0") + " " + unit.name
		}
	}
	return thousands(n) + " bytes"
}

func span(d time.Duration) string {
	for _, unit := range []struct {
		is   time.Duration
		name string
	}{{time.Hour, "h"}, {time.Minute, "min"}, {time.Second, "s"}, {time.Millisecond, "ms"}} {
		if d >= unit.is && d%unit.is == 0 {
			return thousands(int64(d/unit.is)) + " " + unit.name
		}
	}
	return d.String()
}

func thousands(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// initial returns the initial value in a variable's declaration.
func (p *pkg) initial(of types.Object) constant.Value {
	for _, f := range p.files {
		for _, d := range f.Decls {
			if decl, ok := d.(*ast.GenDecl); ok && decl.Tok == token.VAR {
				if v := p.assigned(decl, of); v != nil {
					return v
				}
			}
		}
	}
	return nil
}

func (p *pkg) assigned(decl *ast.GenDecl, of types.Object) constant.Value {
	for _, spec := range decl.Specs {
		v := spec.(*ast.ValueSpec)
		for i, ident := range v.Names {
			if p.info.Defs[ident] == of && i < len(v.Values) {
				return p.info.Types[v.Values[i]].Value
			}
		}
	}
	return nil
}
