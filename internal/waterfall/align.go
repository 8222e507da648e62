package waterfall

import "time"

// skewTolerance is how far outside its parent a span of another service may lie without being moved. It must leave
// alone the server that ends its span just after the client, in microseconds, has the response.
const skewTolerance = time.Millisecond

// align decides where n and all below it are drawn. shift is what their clock is off, as far as known from the parent.
func align(n *node, shift time.Duration) {
	n.shift = shift
	n.from = n.Start.Add(shift)
	n.to = n.from.Add(max(n.End.Sub(n.Start), 0))
	if p := n.parent; p != nil && !p.missing && p.Service != n.Service {
		n.fit(p.from, p.to)
	}
	for _, c := range n.children {
		align(c, n.shift)
	}
}

// fit moves n by the least that brings it inside from and to, and cuts what is too long.
func (n *node) fit(from, to time.Time) {
	early, late := from.Sub(n.from), n.to.Sub(to)
	if early <= skewTolerance && late <= skewTolerance {
		return
	}
	var move time.Duration
	switch fits := n.to.Sub(n.from) <= to.Sub(from); {
	case early > 0:
		move = early
	case fits:
		move = -late
	case n.from.After(to):
		move = early
	}
	n.shift += move
	n.from, n.to = n.from.Add(move), n.to.Add(move)
	if n.to.After(to) {
		n.to, n.cut = to, true
	}
}

// extent is the time axis: from the earliest to the latest moment that is drawn.
func extent(roots []*node) (from, to time.Time) {
	var walk func(n *node)
	walk = func(n *node) {
		if !n.missing {
			if from.IsZero() || n.from.Before(from) {
				from = n.from
			}
			if n.to.After(to) {
				to = n.to
			}
		}
		for _, c := range n.children {
			walk(c)
		}
	}
	for _, r := range roots {
		walk(r)
	}
	return from, to
}
