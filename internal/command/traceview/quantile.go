package traceview

import (
	"cmp"
	"math"
	"slices"

	"github.com/mcpotel/mcpotel/internal/otlpsink"
)

// A bucket counts the measurements between two values.
type bucket struct {
	lo, hi float64 // infinite at an open end of the histogram
	count  float64
}

// maxBuckets bounds the number of buckets of one histogram. The buckets of a larger histogram are ignored.
const maxBuckets = 2048

// bucketsOf returns the buckets of a histogram of either kind.
func bucketsOf(p otlpsink.Point) []bucket {
	switch p.Kind {
	case otlpsink.Histogram:
		return explicitBuckets(p)
	case otlpsink.ExponentialHistogram:
		return exponentialBuckets(p)
	}
	return nil
}

func explicitBuckets(p otlpsink.Point) []bucket {
	if len(p.Counts) != len(p.Bounds)+1 || len(p.Counts) > maxBuckets {
		return nil
	}
	var all []bucket
	for i, n := range p.Counts {
		if n == 0 {
			continue
		}
		b := bucket{math.Inf(-1), math.Inf(1), float64(n)}
		if i > 0 {
			b.lo = p.Bounds[i-1]
		}
		if i < len(p.Bounds) {
			b.hi = p.Bounds[i]
		}
		if i == 0 && b.hi > 0 {
			b.lo = 0 // measurements are rarely negative
		}
		all = append(all, b)
	}
	return all
}

func exponentialBuckets(p otlpsink.Point) []bucket {
	if len(p.Positive.Counts)+len(p.Negative.Counts) > maxBuckets {
		return nil
	}
	bound := func(index int64) float64 { return math.Exp2(math.Ldexp(float64(index), int(-p.Scale))) }
	var all []bucket
	for i, n := range p.Negative.Counts {
		if at := int64(p.Negative.Offset) + int64(i); n > 0 {
			all = append(all, bucket{-bound(at + 1), -bound(at), float64(n)})
		}
	}
	if p.Zero > 0 {
		all = append(all, bucket{0, 0, float64(p.Zero)})
	}
	for i, n := range p.Positive.Counts {
		if at := int64(p.Positive.Offset) + int64(i); n > 0 {
			all = append(all, bucket{bound(at), bound(at + 1), float64(n)})
		}
	}
	return all
}

// merge adds the buckets in more to buckets, even if the bounds differ.
func merge(buckets, more []bucket) []bucket {
	for _, m := range more {
		i := slices.IndexFunc(buckets, func(b bucket) bool { return b.lo == m.lo && b.hi == m.hi })
		if i >= 0 {
			buckets[i].count += m.count
		} else if len(buckets) < maxBuckets {
			buckets = append(buckets, m)
		}
	}
	return buckets
}

// quantile estimates the value that a share q of the measurements does not exceed. lo and hi are the least and the
// greatest measurement; NaN if unknown.
func quantile(q float64, buckets []bucket, lo, hi float64) float64 {
	sorted := slices.SortedFunc(slices.Values(buckets), func(a, b bucket) int {
		return cmp.Or(cmp.Compare(a.hi, b.hi), cmp.Compare(a.lo, b.lo))
	})
	total := 0.0
	for _, b := range sorted {
		total += b.count
	}
	if total == 0 {
		return math.NaN()
	}
	rank, below := q*total, 0.0
	for _, b := range sorted {
		if below+b.count < rank {
			below += b.count
			continue
		}
		return within(b, (rank-below)/b.count, lo, hi)
	}
	return hi
}

// within interpolates a value in b at this share, within the measured range.
func within(b bucket, share, lo, hi float64) float64 {
	if !math.IsNaN(lo) {
		b.lo = max(b.lo, lo)
	}
	if !math.IsNaN(hi) {
		b.hi = min(b.hi, hi)
	}
	switch {
	case math.IsInf(b.hi, 1):
		return b.lo // a lower bound
	case math.IsInf(b.lo, -1), b.lo >= b.hi:
		return b.hi
	}
	return min(b.lo+share*(b.hi-b.lo), b.hi)
}
