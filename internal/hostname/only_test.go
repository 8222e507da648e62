package hostname

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestNoOtherPackageComparesHosts checks that the whole repository, nested modules included, uses this package to
// compare hosts. Before, six packages compared hosts in different ways, and attackers exploit such differences.
func TestNoOtherPackageComparesHosts(t *testing.T) {
	files := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules" ||
			strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"),
			path == filepath.Join("..", "..", "internal", "hostname", d.Name()):
			return nil
		}
		files++
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, m := range judgements(file) {
			t.Errorf("%s: %s: use package internal/hostname", set.Position(m.at), m.what)
		}
		return nil
	})
	if err != nil || files < 500 {
		t.Errorf("read %d files, error %v; want the whole repository", files, err)
	}
}

// TestHostComparisonsAreDetected shows that TestNoOtherPackageComparesHosts can fail.
func TestHostComparisonsAreDetected(t *testing.T) {
	for code, want := range map[string]bool{
		`u.Host == other.Host`:                             true,
		`r.Host != allowed`:                                true,
		`u.Hostname() == "localhost"`:                      true,
		`host == "localhost"`:                              true,
		`strings.EqualFold(a.Host, b)`:                     true,
		`strings.EqualFold(host, "localhost")`:             true,
		`strings.HasSuffix(name, ".localhost")`:            true,
		`ip.IsLoopback()`:                                  true,
		`addr.Unmap().IsLoopback() || x`:                   true,
		`strings.ContainsRune("!#$%&'*+-.^_` + "`|~\", c)": true,
		`strings.ContainsRune("-._~+/", r)`:                true,
		`slices.Contains(hosts, u.Host)`:                   true,
		`u.Host == ""`:                                     false,
		`"" != u.Hostname()`:                               false,
		`u.Scheme == "https"`:                              false,
		`len(u.Host) > 3`:                                  false,
		`dial("localhost:80")`:                             false,
		`hostname.Loopback(u.Hostname())`:                  false,
	} {
		e, err := parser.ParseExpr(code)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(judgements(e)) > 0; got != want {
			t.Errorf("%s: found %t, want %t", code, got, want)
		}
	}
	file, err := parser.ParseFile(token.NewFileSet(), "", `package x; func f() { switch u.Hostname() { case "a": } }`, 0)
	if err != nil || len(judgements(file)) != 1 {
		t.Errorf("a switch over hosts: found %v, error %v, want one", judgements(file), err)
	}
}

type judgement struct {
	at   token.Pos
	what string
}

// comparing are the functions that compare two texts.
var comparing = []string{"EqualFold", "HasSuffix", "HasPrefix", "Contains", "Equal", "Compare", "Index"}

// judgements finds code that compares hosts, checks for a loopback address, or lists the bytes of a token.
func judgements(code ast.Node) (found []judgement) {
	see := func(n ast.Node, format string, args ...any) {
		found = append(found, judgement{n.Pos(), fmt.Sprintf(format, args...)})
	}
	ast.Inspect(code, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if (n.Op == token.EQL || n.Op == token.NEQ) && (aboutHosts(n.X) || aboutHosts(n.Y)) && !empty(n.X) && !empty(n.Y) {
				see(n, "a host is compared")
			}
		case *ast.SwitchStmt:
			if n.Tag != nil && aboutHosts(n.Tag) {
				see(n, "a host is compared")
			}
		case *ast.CallExpr:
			f, ok := n.Fun.(*ast.SelectorExpr)
			if !ok {
				break
			}
			if f.Sel.Name == "IsLoopback" {
				see(n, "an address is asked whether it is of the loopback")
			}
			if slices.Contains(comparing, f.Sel.Name) && slices.ContainsFunc(n.Args, aboutHosts) {
				see(n, "a host is compared")
			}
		case *ast.BasicLit:
			if strings.Contains(n.Value, "!#$%&'*+-.^_") && n.Kind == token.STRING && len(n.Value) < 20 {
				see(n, "the bytes of a token are listed")
			}
			if n.Kind == token.STRING && strings.Contains(n.Value, "-._~+/") {
				see(n, "the bytes of a token68 are listed")
			}
		}
		return true
	})
	return found
}

// aboutHosts reports whether an expression is the host of a URL or request, or a loopback name.
func aboutHosts(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		return e.Sel.Name == "Host"
	case *ast.CallExpr:
		f, ok := e.Fun.(*ast.SelectorExpr)
		return ok && f.Sel.Name == "Hostname" && len(e.Args) == 0
	case *ast.BasicLit:
		return e.Kind == token.STRING && (strings.Trim(e.Value, "\"`.") == "localhost" || strings.HasPrefix(e.Value, `"127.`))
	}
	return false
}

func empty(e ast.Expr) bool {
	lit, ok := e.(*ast.BasicLit)
	return ok && lit.Value == `""`
}
