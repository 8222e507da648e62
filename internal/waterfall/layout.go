package waterfall

const (
	defaultWidth = 80
	minWidth     = 60

	kindColumns     = 8 // INTERNAL
	durationColumns = 7
	minName         = 9 // minimum width of the name in a deep tree
	levelColumns    = 3
)

// A layout has the width of each column. Columns are separated by one space.
type layout struct {
	width                int
	service, name, cells int
	levels               int // number of indented levels; deeper levels are not indented further
}

func newLayout(width int, roots []*node, ascii bool) layout {
	if width == 0 {
		width = defaultWidth
	}
	l := layout{width: max(width, minWidth)}
	l.service = min(longestService(roots, ascii), l.width/7)
	l.cells = l.width/3 - 4
	l.name = l.width - l.service - kindColumns - durationColumns - l.cells - 4
	l.levels = max(l.name-minName, 0) / levelColumns
	return l
}

// nameStart returns the number of columns before the name.
func (l layout) nameStart() int { return l.service + 1 + kindColumns + 1 }

func longestService(roots []*node, ascii bool) int {
	n := 1
	for _, r := range roots {
		n = max(n, columns(clean(r.Service, ascii)), longestService(r.children, ascii))
	}
	return n
}

// glyphs are the characters of the tree. The branch characters are levelColumns wide.
type glyphs struct{ branch, last, pass, empty, failed, arrow string }

func glyphsFor(ascii bool) glyphs {
	if ascii {
		return glyphs{branch: "|- ", last: "`- ", pass: "|  ", empty: "   ", failed: "x ", arrow: "->"}
	}
	return glyphs{branch: "├─ ", last: "└─ ", pass: "│  ", empty: "   ", failed: "✗ ", arrow: "→"}
}
