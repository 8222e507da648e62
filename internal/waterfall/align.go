package waterfall

import "time"

// skewTolerance is how far a span of another service may extend beyond its parent without being moved. Without clock
// skew, a server may still end its span microseconds after the client has received the response.
const skewTolerance = time.Millisecond

// align computes the positions of n and its descendants. shift is the clock offset of the parent.
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

// fit moves n as little as possible so that it lies between from and to, and cuts n if it is too long.
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

// extent returns the ends of the time axis: the earliest and the latest drawn time.
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
