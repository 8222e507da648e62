package main

import (
	"math"
	"testing"
)

var none = math.NaN()

func TestMedianIgnoresMissingValues(t *testing.T) {
	for _, c := range []struct {
		s    series
		want float64
	}{
		{series{3}, 3}, {series{5, 1, 3}, 3}, {series{4, 1, 3, 2}, 2.5}, {series{none, 7, none}, 7}, {series{none}, none},
		{nil, none},
	} {
		if got := c.s.median(); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("median of %v: want %v, got %v", c.s, c.want, got)
		}
	}
	if s := (series{3, 1, 2}); s.median() != 2 || s[0] != 3 {
		t.Errorf("want a median that leaves the series as it is, got %v", s)
	}
}

// A machine that is slow in a pass is slow for both peers, so each pass has its own ratio.
func TestRatiosAreComputedPerPass(t *testing.T) {
	a, b := series{20, 400, 30, 50, none}, series{10, 100, 10, 0, 1}
	r := a.over(b)
	for i, want := range []float64{2, 4, 3, none, none} {
		if r[i] != want && !(math.IsNaN(r[i]) && math.IsNaN(want)) {
			t.Errorf("pass %d: want ratio %v, got %v", i+1, want, r[i])
		}
	}
	if got := r.median(); got != 3 {
		t.Errorf("median of ratios: want 3, got %v", got)
	}
}

func TestFiguresAreFormattedForReaders(t *testing.T) {
	for _, c := range []struct {
		value      float64
		unit, want string
	}{
		{0.11, wall, "0.11 ns"}, {6234, wall, "6.23 µs"}, {135_600, cpu, "136 µs"}, {1.67e9, wall, "1.67 s"},
		{999_600, cpu, "1.00 ms"},
		{416, perClient, "416 B"}, {133_427, perClient, "130 KiB"}, {4196, binary, "4.10 KiB"},
		{9830.4, perClient, "9.60 KiB"},
		{2.5, peak, "×2.50"}, {166_131, allocs, "166,131"}, {1_234_567, allocs, "1,234,567"}, {12, allocs, "12"},
		{-1234, allocs, "-1,234"},
		{1998.6, rate, "1,999 MB/s"}, {0, wall, "0 ns"}, {-6234, cpu, "-6.23 µs"}, {none, wall, "–"},
	} {
		if got := quantity(c.value, c.unit); got != c.want {
			t.Errorf("%v %s: want %q, got %q", c.value, c.unit, c.want, got)
		}
	}
}
