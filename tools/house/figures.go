package main

import (
	"go/ast"
	"go/token"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// figures are the counts for a library.
type figures struct {
	dirs                   map[string]bool // directly below the root, with files in or below them
	files, lines, comments int
	fileLines, funcLines   []int // sorted
	exported               int   // outside of internal: functions, types, constants, variables, methods of exported types
	wide120, wide130       int   // lines with more characters; a tab counts as one
	vague                  int   // occurrences of vague words in comments
	methods                map[string]*methods
	fields                 map[string]int      // of struct types
	receivers              map[string][]string // the receivers of each private method name
}

// methods counts the methods of one type.
type methods struct{ exported, private int }

var vague = regexp.MustCompile(`(?i)\b(nobody|somebody|whoever)\b`)

func count(files []file) *figures {
	n := &figures{
		dirs: map[string]bool{}, methods: map[string]*methods{}, fields: map[string]int{}, receivers: map[string][]string{},
	}
	for i := range files {
		f := &files[i]
		n.files++
		top, _, _ := strings.Cut(f.dir, "/")
		n.dirs[top] = true
		n.lines += len(f.lines)
		n.fileLines = append(n.fileLines, len(f.lines))
		n.addWidths(f)
		n.addComments(f)
		for _, decl := range f.syntax.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				n.addFunc(f, d)
			case *ast.GenDecl:
				n.addNames(f, d)
			}
		}
	}
	slices.Sort(n.fileLines)
	slices.Sort(n.funcLines)
	return n
}

func (n *figures) addWidths(f *file) {
	for _, line := range f.lines {
		width := utf8.RuneCount(line)
		if width > 120 {
			n.wide120++
		}
		if width > 130 {
			n.wide130++
		}
	}
}

// addComments counts lines that start with a comment. A comment behind code belongs to a line of code.
func (n *figures) addComments(f *file) {
	for _, group := range f.syntax.Comments {
		for _, c := range group.List {
			n.vague += len(vague.FindAllString(c.Text, -1))
			start := f.set.PositionFor(c.Pos(), false)
			lines := f.line(c.End()) - start.Line
			if strings.TrimSpace(string(f.lines[start.Line-1][:start.Column-1])) == "" {
				lines++
			}
			n.comments += lines
		}
	}
}

func (n *figures) addFunc(f *file, d *ast.FuncDecl) {
	n.funcLines = append(n.funcLines, f.line(d.End())-f.line(d.Pos())+1)
	if d.Recv == nil {
		n.addName(f, d.Name)
		return
	}
	receiver := baseName(d.Recv.List[0].Type)
	name := f.typeName(receiver)
	of := n.methods[name]
	if of == nil {
		of = &methods{}
		n.methods[name] = of
	}
	if !d.Name.IsExported() {
		of.private++
		if !slices.Contains(n.receivers[d.Name.Name], name) { // a method may exist once per operating system
			n.receivers[d.Name.Name] = append(n.receivers[d.Name.Name], name)
		}
		return
	}
	of.exported++
	if token.IsExported(receiver) {
		n.addName(f, d.Name)
	}
}

// addName counts a declared name if a user of the library can refer to it.
func (n *figures) addName(f *file, name *ast.Ident) {
	if name.IsExported() && !slices.Contains(strings.Split(f.dir, "/"), "internal") {
		n.exported++
	}
}

func (n *figures) addNames(f *file, d *ast.GenDecl) {
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			n.addName(f, s.Name)
			if structure, ok := s.Type.(*ast.StructType); ok {
				n.fields[f.typeName(s.Name.Name)] = structure.Fields.NumFields()
			}
		case *ast.ValueSpec:
			for _, name := range s.Names {
				n.addName(f, name)
			}
		}
	}
}

// baseName returns the name of a receiver's type, without pointer and type parameters.
func baseName(e ast.Expr) string {
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// quantile returns the nearest rank among sorted values.
func quantile(sorted []int, q float64) int {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max(0, int(math.Ceil(q*float64(len(sorted))))-1)]
}
