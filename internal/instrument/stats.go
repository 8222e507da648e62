package instrument

import (
	"cmp"
	"math/bits"
	"slices"
	"sync/atomic"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// stats holds the statistics of an opInfo. Writers take no lock, so a reader may see only a part of a request that is
// just ending.
type stats struct {
	latencies latencies
	errors    atomic.Pointer[[]*errorCount] // copy on write; side.endings guards writes
}

type errorCount struct {
	outcome
	n atomic.Uint64
}

// count adds an ended request to the statistics.
func (s *side) count(info *opInfo, o outcome, elapsed time.Duration) {
	info.stats.latencies.add(elapsed)
	if o.failed {
		s.errorCount(info, o).n.Add(1)
	}
}

// errorCount returns the counter of an outcome. Outcomes beyond the limit share one counter, as they do on metrics.
func (s *side) errorCount(info *opInfo, o outcome) *errorCount {
	if c := info.stats.find(o); c != nil {
		return c
	}
	s.endings.Lock()
	defer s.endings.Unlock()
	if !s.metrics.recordsOutcome(o) {
		o = o.anonymous()
	}
	if c := info.stats.find(o); c != nil {
		return c
	}
	c := &errorCount{outcome: o}
	next := append(slices.Clip(info.stats.all()), c)
	info.stats.errors.Store(&next)
	return c
}

func (s *stats) all() []*errorCount {
	if all := s.errors.Load(); all != nil {
		return *all
	}
	return nil
}

func (s *stats) find(o outcome) *errorCount {
	for _, c := range s.all() {
		if c.outcome == o {
			return c
		}
	}
	return nil
}

// operations returns the statistics of all requests, sorted by direction, method and target.
func (s *side) operations() []telemetry.Operation {
	var all []telemetry.Operation
	for _, info := range s.ops.All() {
		if o := info.stats.summary(); o.Count > 0 {
			o.Direction, o.Method, o.Target = info.direction.String(), info.method, info.target
			all = append(all, o)
		}
	}
	slices.SortFunc(all, func(a, b telemetry.Operation) int {
		return cmp.Or(-cmp.Compare(a.Direction, b.Direction), cmp.Compare(a.Method, b.Method),
			cmp.Compare(a.Target, b.Target))
	})
	return all
}

func (s *stats) summary() (o telemetry.Operation) {
	counts := s.latencies.counts()
	for _, n := range counts {
		o.Count += n
	}
	o.Max = time.Duration(s.latencies.max.Load())
	for _, q := range []struct {
		into *time.Duration
		part float64
	}{{&o.P50, 0.50}, {&o.P95, 0.95}, {&o.P99, 0.99}} {
		*q.into = min(quantile(&counts, o.Count, q.part), o.Max)
	}
	for _, c := range s.all() {
		if n := c.n.Load(); n > 0 {
			if o.Errors == nil {
				o.Errors = map[string]uint64{}
			}
			o.Errors[c.errorType()] += n
			o.Failed += n
		}
	}
	o.Count = max(o.Count, o.Failed)
	return o
}

// Durations are counted in buckets. Up to latencyLinear microseconds, each bucket is a microsecond wide. Above that,
// latencyParts buckets of equal width divide the range from each power of two to the next. The last bucket ends at
// about 19 hours.
const (
	latencyLinear  = 16
	latencyParts   = 8
	latencyOctaves = 32
	latencyBuckets = latencyLinear + latencyOctaves*latencyParts
)

// latencyGroupSize is the number of buckets that are allocated together. Most groups contain one or two durations.
const latencyGroupSize = 4

// latencies is a histogram of durations. The durations of one operation are similar, so buckets are allocated in
// groups, when the first duration falls into a group. The groups form a list.
type latencies struct {
	groups atomic.Pointer[latencyGroup]
	max    atomic.Int64
}

// latencyGroup holds the buckets from number*latencyGroupSize.
type latencyGroup struct {
	number int
	counts [latencyGroupSize]atomic.Uint64
	next   atomic.Pointer[latencyGroup]
}

// group returns the group with this number. If it does not exist, group adds it.
func (l *latencies) group(number int) *latencyGroup {
	at := &l.groups
	for {
		g := at.Load()
		switch {
		case g == nil:
			at.CompareAndSwap(nil, &latencyGroup{number: number})
		case g.number == number:
			return g
		default:
			at = &g.next
		}
	}
}

func (l *latencies) add(d time.Duration) {
	bucket := latencyBucket(d)
	l.group(bucket / latencyGroupSize).counts[bucket%latencyGroupSize].Add(1)
	for {
		high := l.max.Load()
		if int64(d) <= high || l.max.CompareAndSwap(high, int64(d)) {
			return
		}
	}
}

// counts returns the number of durations in each bucket.
func (l *latencies) counts() (all [latencyBuckets]uint64) {
	for g := l.groups.Load(); g != nil; g = g.next.Load() {
		for i := range g.counts {
			all[g.number*latencyGroupSize+i] = g.counts[i].Load()
		}
	}
	return all
}

func latencyBucket(d time.Duration) int {
	us := uint64(max(0, d) / time.Microsecond)
	if us < latencyLinear {
		return int(us)
	}
	octave := bits.Len64(us) - 5 // the first octave is 16 µs to 32 µs
	if octave >= latencyOctaves {
		return latencyBuckets - 1
	}
	part := int(us>>(octave+1)) - latencyParts
	return latencyLinear + octave*latencyParts + part
}

// latencyMiddle returns the duration in the middle of a bucket.
func latencyMiddle(bucket int) time.Duration {
	if bucket < latencyLinear {
		return time.Duration(bucket)*time.Microsecond + time.Microsecond/2
	}
	octave, part := (bucket-latencyLinear)/latencyParts, (bucket-latencyLinear)%latencyParts
	width := time.Microsecond << (octave + 1)
	return time.Duration(latencyParts+part)*width + width/2
}

// quantile returns the duration that this part of all durations does not exceed.
func quantile(counts *[latencyBuckets]uint64, all uint64, part float64) time.Duration {
	if all == 0 {
		return 0
	}
	rank := uint64(part * float64(all)) // number of durations before the quantile
	var seen uint64
	for i, n := range counts {
		if seen += n; seen > rank || seen == all {
			return latencyMiddle(i)
		}
	}
	return 0
}
