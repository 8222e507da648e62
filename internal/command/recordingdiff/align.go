package recordingdiff

// mark identifies an exchange for pairing. Equal numbers mean equal values.
type mark struct {
	key     int // number of the side, method and name
	request int // number of the key and the params
	whole   int // number of the key, the params and the answer
}

// align pairs exchanges by index: pairs[i] is the index in y of the partner of x[i], or -1. It pairs in three steps:
//
//  1. as many exchanges with equal requests as possible, in the same order, and among these solutions one with the most
//     equal answers;
//  2. equal requests in another order;
//  3. exchanges with equal keys, in order, if step 1 paired equally many exchanges with this key before each of them.
func align(x, y []mark) []int {
	pairs := make([]int, len(x))
	for i := range pairs {
		pairs[i] = -1
	}
	anchor(x, y, pairs)
	betweenX, betweenY := neighbours(x, y, pairs)
	pairRemaining(pairs, len(y), func(i int) int { return x[i].request }, func(j int) int { return y[j].request })
	pairRemaining(pairs, len(y), func(i int) place { return betweenX[i] }, func(j int) place { return betweenY[j] })
	return pairs
}

// maxCells bounds the size of the table in common: the number of exchanges in x times the number in y. Each cell takes
// one byte.
const maxCells = 1 << 24

// anchor pairs exchanges with equal requests in the same order. Above maxCells combinations, it pairs only the equal
// exchanges at both ends.
func anchor(x, y []mark, pairs []int) {
	from, xEnd, yEnd := ends(x, y, 0, pairs, func(a, b mark) bool { return a.whole == b.whole })
	many := func() bool { return int64(xEnd-from)*int64(yEnd-from) > maxCells }
	if many() {
		from, xEnd, yEnd = ends(x[:xEnd], y[:yEnd], from, pairs, func(a, b mark) bool { return a.request == b.request })
	}
	if many() {
		return
	}
	common(x[from:xEnd], y[from:yEnd], func(i, j int) { pairs[from+i] = from + j })
}

// ends pairs equal exchanges forward from the index from, and backward from the last exchanges. It returns the range
// between these pairs.
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

// Steps of a longest common subsequence from a cell of its table.
const (
	pairBoth = iota
	skipX
	skipY
)

// common finds a longest common subsequence of equal requests, and calls pair for each pair in it. If there are several
// such subsequences, it selects one with the most equal answers.
func common(x, y []mark, pair func(i, j int)) {
	weight := min(len(x), len(y)) + 1 // weight of an equal request: more than all equal answers together
	steps := make([]uint8, len(x)*len(y))
	below, row := make([]int, len(y)+1), make([]int, len(y)+1) // best values from a cell to the end
	for i := len(x) - 1; i >= 0; i-- {
		for j := len(y) - 1; j >= 0; j-- {
			best, step := below[j], uint8(skipX)
			if row[j+1] > best {
				best, step = row[j+1], skipY
			}
			if x[i].request == y[j].request {
				value := below[j+1] + weight
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

// pairRemaining pairs each unpaired x with the first unpaired y of the same key. n is the number of exchanges in y.
func pairRemaining[K comparable](pairs []int, n int, keyOfX, keyOfY func(i int) K) {
	taken := make([]bool, n)
	for _, j := range pairs {
		if j >= 0 {
			taken[j] = true
		}
	}
	unpaired := map[K][]int{}
	for j, t := range taken {
		if !t {
			unpaired[keyOfY(j)] = append(unpaired[keyOfY(j)], j)
		}
	}
	for i, j := range pairs {
		if same := unpaired[keyOfX(i)]; j < 0 && len(same) > 0 {
			pairs[i], unpaired[keyOfX(i)] = same[0], same[1:]
		}
	}
}

// place is the position of an exchange: its key, and the number of exchanges with this key that anchor paired before
// it.
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
