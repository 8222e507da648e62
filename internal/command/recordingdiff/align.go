package recordingdiff

// mark is what an exchange is paired with others by. Equal numbers mean equal values.
type mark struct {
	key   int // side, method and name
	asked int // that, with the params
	whole int // that, with what became of it
}

// align pairs exchanges by their indices: for each x, that of its y, or -1.
//
// Most of those that were asked with the same are paired in one order, and of the ways to do that, the one that leaves
// the fewest with another answer. What is left is paired with what was asked with the same in another order, and then
// with what has the same key, in its order, between the same neighbours of that key.
func align(x, y []mark) []int {
	pairs := make([]int, len(x))
	for i := range pairs {
		pairs[i] = -1
	}
	anchor(x, y, pairs)
	betweenX, betweenY := neighbours(x, y, pairs)
	pairLeft(pairs, len(y), func(i int) int { return x[i].asked }, func(j int) int { return y[j].asked })
	pairLeft(pairs, len(y), func(i int) place { return betweenX[i] }, func(j int) place { return betweenY[j] })
	return pairs
}

// maxCells is how many pairs of exchanges are compared with each other: a byte of memory for each.
const maxCells = 1 << 24

// anchor pairs what was asked with the same in one order. If that takes too long it pairs what stands at the ends.
func anchor(x, y []mark, pairs []int) {
	from, xEnd, yEnd := ends(x, y, 0, pairs, func(a, b mark) bool { return a.whole == b.whole })
	many := func() bool { return int64(xEnd-from)*int64(yEnd-from) > maxCells }
	if many() {
		from, xEnd, yEnd = ends(x[:xEnd], y[:yEnd], from, pairs, func(a, b mark) bool { return a.asked == b.asked })
	}
	if many() {
		return
	}
	common(x[from:xEnd], y[from:yEnd], func(i, j int) { pairs[from+i] = from + j })
}

// ends pairs what is the same from a place on and before the ends, and returns what is left between.
func ends(x, y []mark, from int, pairs []int, same func(a, b mark) bool) (first, xEnd, yEnd int) {
	xEnd, yEnd = len(x), len(y)
	for ; from < min(xEnd, yEnd) && same(x[from], y[from]); from++ {
		pairs[from] = from
	}
	for ; xEnd > from && yEnd > from && same(x[xEnd-1], y[yEnd-1]); xEnd, yEnd = xEnd-1, yEnd-1 {
		pairs[xEnd-1] = yEnd - 1
	}
	return from, xEnd, yEnd
}

// How a longest common order goes on from a cell of its table.
const (
	pairBoth = iota
	skipX
	skipY
)

// common calls pair for each of a longest common order of what was asked, in which most have the same answer, too.
func common(x, y []mark, pair func(i, j int)) {
	asked := min(len(x), len(y)) + 1 // counts more than all answers
	steps := make([]uint8, len(x)*len(y))
	below, row := make([]int, len(y)+1), make([]int, len(y)+1) // the values from a cell on
	for i := len(x) - 1; i >= 0; i-- {
		for j := len(y) - 1; j >= 0; j-- {
			best, step := below[j], uint8(skipX)
			if row[j+1] > best {
				best, step = row[j+1], skipY
			}
			if x[i].asked == y[j].asked {
				value := below[j+1] + asked
				if x[i].whole == y[j].whole {
					value++
				}
				if value >= best {
					best, step = value, pairBoth
				}
			}
			row[j], steps[i*len(y)+j] = best, step
		}
		below, row = row, below
	}
	for i, j := 0, 0; i < len(x) && j < len(y); {
		switch steps[i*len(y)+j] {
		case pairBoth:
			pair(i, j)
			i, j = i+1, j+1
		case skipX:
			i++
		default:
			j++
		}
	}
}

// pairLeft pairs what has no pair yet with what has the same key among n others, in its order.
func pairLeft[K comparable](pairs []int, n int, keyOfX, keyOfY func(i int) K) {
	taken := make([]bool, n)
	for _, j := range pairs {
		if j >= 0 {
			taken[j] = true
		}
	}
	waiting := map[K][]int{}
	for j, t := range taken {
		if !t {
			waiting[keyOfY(j)] = append(waiting[keyOfY(j)], j)
		}
	}
	for i, j := range pairs {
		if same := waiting[keyOfX(i)]; j < 0 && len(same) > 0 {
			pairs[i], waiting[keyOfX(i)] = same[0], same[1:]
		}
	}
}

// place is where an exchange stands: how many of its key come before it that have a partner.
type place struct{ key, before int }

// neighbours returns the places of x and y.
func neighbours(x, y []mark, pairs []int) (ofX, ofY []place) {
	inX, inY := make([]bool, len(x)), make([]bool, len(y))
	for i, j := range pairs {
		if j >= 0 {
			inX[i], inY[j] = true, true
		}
	}
	return places(x, inX), places(y, inY)
}

func places(all []mark, partner []bool) []place {
	before := map[int]int{}
	of := make([]place, len(all))
	for i, m := range all {
		of[i] = place{m.key, before[m.key]}
		if partner[i] {
			before[m.key]++
		}
	}
	return of
}
