package recordingdiff

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// marks are exchanges that were asked with a letter and answered with a case of it. Digits have a key of their own.
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
		{"abc", "xabc", []int{1, 2, 3}},               // one more at the front
		{"abc", "bc", []int{-1, 0, 1}},                // one less
		{"aaa", "aaaa", []int{0, 1, 2}},               // that repeat
		{"aAa", "AaAa", []int{1, 2, 3}},               // those with the same answers
		{"ab", "ba", []int{1, 0}},                     // in another order
		{"abc", "axc", []int{0, 1, 2}},                // other params
		{"abc", "nabx", []int{1, 2, 3}},               // both
		{"ab", "bx", []int{-1, 0}},                    // one that is gone, and another one elsewhere
		{"ab", "xy", []int{0, 1}},                     // nothing in common: by position
		{"ab", "x", []int{0, -1}},                     //
		{"abcd", "AbCd", []int{0, 1, 2, 3}},           // other answers
		{"aabb", "bbaa", []int{2, 3, 0, 1}},           // two and two
		{"abcab", "cabab", []int{1, 2, 0, 3, 4}},      //
		{"a1", "1b", []int{1, 0}},                     // what has another key is no neighbour
		{"a1b2", "c1d2", []int{0, 1, 2, 3}},           //
		{"AaaA1", "AaA1aA1", []int{0, 1, 4, 5, 6}},    // that repeat, with something else in between
		{"xaybzc", "aybzcx", []int{5, 0, 1, 2, 3, 4}}, // the first one comes last
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
			t.Errorf("%v and %v: %d of %d are the same; the other way round, %d are left", x, y, same, len(x), left)
		}
	})
}

// TestAlignPairsAllEqualRequests checks that no exchange is paired twice and that no two equal requests stay
// unpaired.
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
				t.Errorf("%v and %v: %d is taken twice", x, y, j)
			}
			taken[j] = true
			if j >= 0 && x[i].request == y[j].request {
				got++
			}
		}
		if got != want {
			t.Errorf("%v and %v: %d are paired that were asked with the same, want %d", x, y, got, want)
		}
	})
}

// TestAlignPairsManyExchangesFromBothEnds has more than maxCells combinations, with different answers.
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
	y[n] = mark{0, -2, -2} // now nothing is the same at the ends
	x[0], x[n-1] = mark{0, -3, -3}, mark{0, -4, -4}
	for i, j := range align(x, y)[1 : n-1] {
		if j != i+2 {
			t.Fatalf("%d is paired with %d", i+1, j)
		}
	}
}
