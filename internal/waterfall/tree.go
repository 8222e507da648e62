package waterfall

import (
	"cmp"
	"slices"
	"time"
)

// A node is a span in the tree.
type node struct {
	Span
	index    int // index of the span in the argument
	parent   *node
	children []*node // sorted by start
	missing  bool    // a placeholder for a missing parent: only ID is set
	loop     bool    // made a root because its ancestors form a loop

	from, to time.Time     // position on the axis
	shift    time.Duration // offset of the position from the recorded time
	cut      bool          // drawn shorter than recorded
}

// grow builds trees of spans and returns their roots, sorted by start. If several spans have the same id, grow keeps
// all of them; the earliest gets the children.
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

// breakLoops finds the nodes that are not below any root, because the parents of these nodes form a loop. It turns one
// node of each loop into a root, and returns the new roots.
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

// onLoop returns a node of the loop that the parents of n lead to. It follows the parents of n until a node repeats,
// and returns this node.
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
