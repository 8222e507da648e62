package debugpage_test

import (
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

// node is an element of a page.
type node struct {
	name     string
	attrs    map[string]string
	children []*node
	words    []string // the text in it and below
}

// mainOf parses the <main> element of a page.
func mainOf(t *testing.T, body string) *node {
	t.Helper()
	_, rest, found := strings.Cut(body, "<main")
	end := strings.LastIndex(rest, "</main>")
	if !found || end < 0 {
		t.Fatalf("the page has no <main>:\n%.500s", body)
	}
	d := xml.NewDecoder(strings.NewReader("<main" + rest[:end] + "</main>"))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	root := &node{}
	open := []*node{root}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return root
		}
		if err != nil {
			t.Fatalf("the page cannot be parsed: %v", err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			n := &node{name: e.Name.Local, attrs: map[string]string{}}
			for _, a := range e.Attr {
				n.attrs[a.Name.Local] = a.Value
			}
			last := open[len(open)-1]
			last.children = append(last.children, n)
			open = append(open, n)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			for _, n := range open {
				n.words = append(n.words, strings.Fields(string(e))...)
			}
		}
	}
}

func (n *node) text() string {
	if n == nil {
		return ""
	}
	return strings.Join(n.words, " ")
}

// all returns the matching elements below n.
func (n *node) all(match func(*node) bool) (found []*node) {
	if n == nil {
		return nil
	}
	for _, c := range n.children {
		if match(c) {
			found = append(found, c)
		}
		found = append(found, c.all(match)...)
	}
	return found
}

// one returns the first element with this id, or nil.
func (n *node) one(id string) *node {
	for _, e := range n.all(func(e *node) bool { return e.attrs["id"] == id }) {
		return e
	}
	return nil
}

func (n *node) has(class string) bool {
	return slices.Contains(strings.Fields(n.attrs["class"]), class)
}

// rows returns the rows of the first table of a class.
func (n *node) rows(class string) []*node {
	tables := n.all(func(e *node) bool { return e.name == "table" && e.has(class) })
	if len(tables) == 0 {
		return nil
	}
	body := tables[0].all(func(e *node) bool { return e.name == "tbody" })[0]
	return body.all(func(e *node) bool { return e.name == "tr" })
}

// cell returns the text of the row's cell with this label, or "".
func (n *node) cell(label string) string {
	for _, e := range n.all(func(e *node) bool { return e.attrs["data-label"] == label }) {
		return e.text()
	}
	return ""
}

// tile returns the text of the tile with this name.
func (n *node) tile(name string) string {
	for _, e := range n.all(func(e *node) bool { return e.has("tile") }) {
		if len(e.children) == 2 && e.children[1].text() == name {
			return e.children[0].text()
		}
	}
	return ""
}
