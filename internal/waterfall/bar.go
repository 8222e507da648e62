package waterfall

import (
	"strings"
	"time"
)

// Blocks that fill a cell from the right. Unicode has only these two; from the left, it has a block for each eighth.
const (
	rightEighth = "▕"
	rightHalf   = "▐"
)

var leftEighths = [9]string{" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"}

// An axis maps the time of the trace to a row of cells.
type axis struct {
	from, to time.Time
	cells    int
	ascii    bool
}

// bar draws the time between from and to. A very short time is still visible.
func (x axis) bar(from, to time.Time) string {
	last := 8 * x.cells
	a := min(x.eighth(from), last-1)
	b := max(x.eighth(to), a+1)
	if x.ascii {
		return asciiBar(a, b, x.cells)
	}
	var s strings.Builder
	for left := 0; left < last; left += 8 {
		s.WriteString(block(max(a-left, 0), min(b-left, 8)))
	}
	return s.String()
}

// eighth returns the position of t on the axis, in eighths of a cell from the left end.
func (x axis) eighth(t time.Time) int {
	whole := x.to.Sub(x.from)
	if whole <= 0 {
		return 0
	}
	share := float64(t.Sub(x.from)) / float64(whole)
	return int(min(max(share, 0), 1)*float64(8*x.cells) + 0.5)
}

// block returns the character that best shows a cell filled from lo to hi, in eighths.
func block(lo, hi int) string {
	switch width := hi - lo; {
	case width <= 0:
		return leftEighths[0]
	case lo == 0, hi < 8 && lo < 4:
		return leftEighths[width]
	case width >= 7:
		return leftEighths[8]
	case width >= 3:
		return rightHalf
	default:
		return rightEighth
	}
}

// asciiBar fills the cells that are at least half covered, and always the first cell.
func asciiBar(a, b, cells int) string {
	first := a / 8
	end := max((b+4)/8, first+1)
	return strings.Repeat(" ", first) + strings.Repeat("=", end-first) + strings.Repeat(" ", cells-end)
}

// ruler labels the two ends of the axis and, if there is room, its middle.
func (x axis) ruler() string {
	whole := x.to.Sub(x.from)
	const left = "0"
	right := duration(whole, x.ascii)
	gap := x.cells - columns(left) - columns(right)
	middle := duration(whole/2, x.ascii)
	before := x.cells/2 - columns(left) - columns(middle)/2
	after := gap - before - columns(middle)
	if whole == 0 || before < 2 || after < 2 {
		return left + strings.Repeat(" ", gap) + right
	}
	return left + strings.Repeat(" ", before) + middle + strings.Repeat(" ", after) + right
}
