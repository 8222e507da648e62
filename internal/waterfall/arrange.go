package waterfall

import "time"

// An Arrangement is the spans of one trace in their places, for who draws them elsewhere than in a terminal.
type Arrangement struct {
	From, To time.Time // the time axis
	Rows     []Row     // from top to bottom: children below their parents, by start
}

// A Row is one line of an arrangement.
type Row struct {
	Index    int       // of the span among those given; -1 for the parent that is not among them
	ID       string    // of the span
	Parent   int       // the row of its parent; -1 for a root
	Depth    int       // 0 for a root
	From, To time.Time // where it is drawn, which differs from when it was as Notes say
	Notes    []string  // what was done to draw it, about clocks that differ and the like
}

// Arrange places the spans of one trace as [Render] does.
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

// plant grows the trees, decides where each span is drawn, and finds the ends of the time axis.
func plant(spans []Span) (roots []*node, from, to time.Time) {
	roots = grow(spans)
	for _, r := range roots {
		align(r, 0)
	}
	from, to = extent(roots)
	return roots, from, to
}
