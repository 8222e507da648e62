package waterfall

import (
	"cmp"
	"slices"
	"time"
)

// A node is a span in its place in the tree.
type node struct {
	Span
	index    int // of the span, among those given
	parent   *node
	children []*node // by start
	missing  bool    // stands for a parent that is not among the spans: only ID is set
	loop     bool    // root only because its ancestors lead back to it

	from, to time.Time     // where it is drawn
	shift    time.Duration // how far that is from where its clock put it
	cut      bool          // drawn shorter than it was
}

// grow makes trees of spans and returns their roots, by start. Of spans with one id, all are kept and the first (by
// start) has the children.
func grow(spans []Span) []*node {
	nodes := make([]*node, len(spans))
	for i, s := range spans {
		nodes[i] = &node{Span: s, index: i}
	}
	slices.SortStableFunc(nodes, func(a, b *node) int {
		return cmp.Or(a.Start.Compare(b.Start), cmp.Compare(a.ID, b.ID))
	})
	byID := make(map[string]*node)
	for _, n := range nodes {
		if byID[n.ID] == nil {
			byID[n.ID] = n
		}
	}

	var roots []*node
	for _, n := range nodes {
		if n.ParentID == "" {
			roots = append(roots, n)
			continue
		}
		p := byID[n.ParentID]
		if p == nil {
			p = &node{Span: Span{ID: n.ParentID}, index: -1, missing: true}
			byID[n.ParentID] = p
			roots = append(roots, p)
		}
		n.parent = p
		p.children = append(p.children, n)
	}
	return append(roots, breakLoops(nodes, roots)...)
}

// breakLoops finds the nodes that no root leads to, which is when parents form a loop, and makes a root of one span of
// each loop.
func breakLoops(nodes, roots []*node) (more []*node) {
	seen := make(map[*node]bool)
	for _, r := range roots {
		mark(r, seen)
	}
	for _, n := range nodes {
		if seen[n] {
			continue
		}
		r := onLoop(n)
		r.parent.children = slices.DeleteFunc(r.parent.children, func(c *node) bool { return c == r })
		r.parent, r.loop = nil, true
		mark(r, seen)
		more = append(more, r)
	}
	return more
}

// onLoop follows the parents of n, which never end, to the first that comes twice.
func onLoop(n *node) *node {
	passed := make(map[*node]bool)
	for ; !passed[n]; n = n.parent {
		passed[n] = true
	}
	return n
}

func mark(n *node, seen map[*node]bool) {
	seen[n] = true
	for _, c := range n.children {
		mark(c, seen)
	}
}
