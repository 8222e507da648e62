package recordingdiff

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// marks converts each character to an exchange: the letter is the request, and its case is the answer. All letters have
// the same key; digits are exchanges with another key.
func marks(text string) (all []mark) {
	for _, c := range text {
		key := 0
		if c <= '9' {
			key = 1
		}
		all = append(all, mark{key, int(c | 0x20), int(c)})
	}
	return all
}

func TestAlignPairsExchanges(t *testing.T) {
	for _, c := range []struct {
		x, y string
		want []int
	}{
		{"", "", []int{}},
		{"abc", "abc", []int{0, 1, 2}},
		{"abc", "xabc", []int{1, 2, 3}},               // an added exchange at the front
		{"abc", "bc", []int{-1, 0, 1}},                // a missing exchange
		{"aaa", "aaaa", []int{0, 1, 2}},               // repeated exchanges
		{"aAa", "AaAa", []int{1, 2, 3}},               // equal answers first
		{"ab", "ba", []int{1, 0}},                     // in another order
		{"abc", "axc", []int{0, 1, 2}},                // other params
		{"abc", "nabx", []int{1, 2, 3}},               // an added exchange and changed params
		{"ab", "bx", []int{-1, 0}},                    // a missing and an added exchange
		{"ab", "xy", []int{0, 1}},                     // no equal requests: paired by position
		{"ab", "x", []int{0, -1}},                     //
		{"abcd", "AbCd", []int{0, 1, 2, 3}},           // other answers
		{"aabb", "bbaa", []int{2, 3, 0, 1}},           // two pairs exchanged
		{"abcab", "cabab", []int{1, 2, 0, 3, 4}},      //
		{"a1", "1b", []int{1, 0}},                     // exchanges with another key are not neighbours
		{"a1b2", "c1d2", []int{0, 1, 2, 3}},           //
		{"AaaA1", "AaA1aA1", []int{0, 1, 4, 5, 6}},    // repeated exchanges with another in between
		{"xaybzc", "aybzcx", []int{5, 0, 1, 2, 3, 4}}, // the first exchange moved to the end
	} {
		if got := align(marks(c.x), marks(c.y)); !slices.Equal(got, c.want) {
			t.Errorf("%s and %s: got %v, want %v", c.x, c.y, got, c.want)
		}
	}
}

var drawn = rapid.Custom(func(t *rapid.T) []mark {
	return marks(rapid.StringOfN(rapid.RuneFrom([]rune("abAB12")), 0, 12, -1).Draw(t, "exchanges"))
})

// TestAlignLeavesOneInsertedExchangeUnpaired inserts an exchange at each position, in both recordings.
func TestAlignLeavesOneInsertedExchangeUnpaired(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawn.Draw(t, "first")
		at := rapid.IntRange(0, len(x)).Draw(t, "at")
		y := slices.Insert(slices.Clone(x), at, rapid.SampledFrom(marks("abABxX123")).Draw(t, "one more"))
		same := 0
		for i, j := range align(x, y) {
			if j >= 0 && x[i] == y[j] {
				same++
			}
		}
		left := 0
		for j, i := range align(y, x) {
			if i < 0 {
				left++
			} else if y[j] != x[i] {
				t.Errorf("%v and %v: %d is paired with %d", y, x, j, i)
			}
		}
		if same != len(x) || left != 1 {
			t.Errorf("%v and %v: %d of %d are equal; in reverse, %d are unpaired", x, y, same, len(x), left)
		}
	})
}

// TestAlignPairsAllEqualRequests checks that no exchange is paired twice, and that no two equal requests stay unpaired.
func TestAlignPairsAllEqualRequests(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := drawn.Draw(t, "first"), drawn.Draw(t, "second")
		count := map[int]int{}
		for _, m := range y {
			count[m.request]++
		}
		want := 0
		for _, m := range x {
			if count[m.request] > 0 {
				count[m.request]--
				want++
			}
		}
		got, taken := 0, map[int]bool{}
		for i, j := range align(x, y) {
			if j >= 0 && taken[j] {
				t.Errorf("%v and %v: %d is paired twice", x, y, j)
			}
			taken[j] = true
			if j >= 0 && x[i].request == y[j].request {
				got++
			}
		}
		if got != want {
			t.Errorf("%v and %v: %d pairs with equal requests, want %d", x, y, got, want)
		}
	})
}

// TestAlignPairsManyExchangesFromBothEnds aligns more than maxCells combinations, with different answers.
func TestAlignPairsManyExchangesFromBothEnds(t *testing.T) {
	const n = 1 << 13
	x, y := make([]mark, n), make([]mark, n+1)
	for i := range x {
		x[i], y[i+1] = mark{0, i, i}, mark{0, i, -i - 1}
	}
	y[0] = mark{0, -1, -1}
	for i, j := range align(x, y) {
		if j != i+1 {
			t.Fatalf("%d is paired with %d", i, j)
		}
	}
	y[n] = mark{0, -2, -2} // now the ends are different
	x[0], x[n-1] = mark{0, -3, -3}, mark{0, -4, -4}
	for i, j := range align(x, y)[1 : n-1] {
		if j != i+2 {
			t.Fatalf("%d is paired with %d", i+1, j)
		}
	}
}
