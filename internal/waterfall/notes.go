package waterfall

// notes describes how the drawn position of a span differs from its recorded times.
func (n *node) notes(ascii bool) []string {
	var notes []string
	own := n.shift
	if n.parent != nil {
		own -= n.parent.shift
	}
	switch {
	case own > 0:
		notes = append(notes, "clock skew? drawn "+duration(own, ascii)+" later")
	case own < 0:
		notes = append(notes, "clock skew? drawn "+duration(-own, ascii)+" earlier")
	}
	if n.cut {
		notes = append(notes, "outlasts its parent, drawn shorter")
	}
	if n.End.Before(n.Start) {
		notes = append(notes, "ends "+duration(n.Start.Sub(n.End), ascii)+" before it starts")
	}
	if n.loop {
		notes = append(notes, "its ancestors form a loop, drawn as a root")
	}
	return notes
}
