package waterfall

import "time"

// An Arrangement has the positions of a trace's spans, for drawing outside a terminal.
type Arrangement struct {
	From, To time.Time // the time axis
	Rows     []Row     // from top to bottom: children below their parents, by start
}

// A Row is one line of an arrangement.
type Row struct {
	Index    int       // index of the span in the argument of Arrange; -1 for a missing parent
	ID       string    // id of the span
	Parent   int       // index of the parent's row; -1 for a root
	Depth    int       // 0 for a root
	From, To time.Time // position on the axis; Notes explain a difference from the recorded times
	Notes    []string  // corrections, for example for clocks that differ
}

// Arrange positions the spans of one trace like [Render].
func Arrange(spans []Span) Arrangement {
	roots, from, to := plant(spans)
	a := Arrangement{From: from, To: to}
	for _, r := range roots {
		a.add(r, -1, 0)
	}
	return a
}

func (a *Arrangement) add(n *node, parent, depth int) {
	row := Row{Index: n.index, ID: n.ID, Parent: parent, Depth: depth, From: n.from, To: n.to}
	if !n.missing {
		row.Notes = n.notes(false)
	}
	here := len(a.Rows)
	a.Rows = append(a.Rows, row)
	for _, c := range n.children {
		a.add(c, here, depth+1)
	}
}

// plant builds the trees, computes the position of each span, and finds the ends of the time axis.
func plant(spans []Span) (roots []*node, from, to time.Time) {
	roots = grow(spans)
	for _, r := range roots {
		align(r, 0)
	}
	from, to = extent(roots)
	return roots, from, to
}
