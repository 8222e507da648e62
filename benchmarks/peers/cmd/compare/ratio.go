package main

import (
	"math"
	"slices"
)

// over returns the ratio of s to base within each pass, NaN where base is zero.
func (s series) over(base series) series {
	ratios := make(series, min(len(s), len(base)))
	for i := range ratios {
		ratios[i] = math.NaN()
		if base[i] > 0 {
			ratios[i] = s[i] / base[i]
		}
	}
	return ratios
}

// minus returns the difference of two figures within each pass.
func (s series) minus(base series) series {
	d := make(series, min(len(s), len(base)))
	for i := range d {
		d[i] = s[i] - base[i]
	}
	return d
}

// median returns the median of the existing values: for an even number of values, the mean of the middle two. Without
// values it returns NaN.
func (s series) median() float64 {
	v := s.known()
	if len(v) == 0 {
		return math.NaN()
	}
	slices.Sort(v)
	half := len(v) / 2
	if len(v)%2 == 1 {
		return v[half]
	}
	return (v[half-1] + v[half]) / 2
}

// least returns the smallest existing value, or NaN without values.
func (s series) least() float64 {
	v := s.known()
	if len(v) == 0 {
		return math.NaN()
	}
	return slices.Min(v)
}

func (s series) known() series {
	return slices.DeleteFunc(slices.Clone(s), math.IsNaN)
}
