package traceview

import (
	"cmp"
	"crypto/sha256"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/otlpsink"
)

// maxKept bounds the number of series in memory. Later series are only counted.
const maxKept = 10_000

// meters holds the current metrics. It reads each point once, so its sums include deltas that the sink has dropped
// since.
type meters struct {
	mu     sync.Mutex
	read   int                   // points read since the start; guarded by mu
	series map[[32]byte]*series  // guarded by mu
	beyond map[[32]byte]struct{} // series above maxKept, for counting; at most maxKept; guarded by mu
}

func newMeters() *meters {
	return &meters{series: make(map[[32]byte]*series), beyond: make(map[[32]byte]struct{})}
}

// A series is one metric with one set of attributes, over all processes of a service.
type series struct {
	service, metric, unit string
	kind                  otlpsink.Kind
	monotonic             bool
	attributes            []attribute
	processes             map[string]*reading
}

// A reading is the state of a series in one process.
type reading struct {
	at              time.Time
	value           float64
	count, sum      float64
	least, greatest float64 // NaN if unknown
	buckets         []bucket
	exemplars       []otlpsink.Exemplar // newest last
}

// update reads the points that are new since the last call.
func (m *meters) update(now otlpsink.Snapshot) {
	total := now.Dropped.Points + len(now.Points)
	for _, p := range now.Points[max(min(m.read-now.Dropped.Points, len(now.Points)), 0):] {
		m.take(p)
	}
	m.read = max(m.read, total)
}

func (m *meters) take(p otlpsink.Point) {
	key := keyOf(p)
	s := m.series[key]
	if s == nil {
		if len(m.series) >= maxKept {
			if len(m.beyond) < maxKept {
				m.beyond[key] = struct{}{}
			}
			return
		}
		s = &series{
			service: p.Service(), metric: p.Metric, unit: p.Unit, kind: p.Kind, monotonic: p.Monotonic,
			processes: make(map[string]*reading),
		}
		for _, k := range slices.Sorted(maps.Keys(p.Attributes)) {
			if len(s.attributes) < maxAttributes {
				s.attributes = append(s.attributes, attribute{cut(scantText, k), cut(titleText, valueText(p.Attributes[k]))})
			}
		}
		m.series[key] = s
	}
	process := processOf(p.Origin)
	r := s.processes[process]
	if r == nil {
		if len(s.processes) >= maxProcesses {
			return
		}
		r = &reading{least: math.NaN(), greatest: math.NaN()}
		s.processes[process] = r
	}
	r.take(p)
}

// maxProcesses bounds the number of processes whose points a series counts. It ignores points of further processes.
const maxProcesses = 100

// keyOf returns a key of fixed size for the series of a point.
func keyOf(p otlpsink.Point) [32]byte {
	var b strings.Builder
	for _, part := range []string{p.Service(), p.Metric, p.Unit, string(p.Kind)} {
		b.WriteString(part + "\x00")
	}
	for _, k := range slices.Sorted(maps.Keys(p.Attributes)) {
		b.WriteString(k + "\x00" + valueText(p.Attributes[k]) + "\x00")
	}
	return sha256.Sum256([]byte(b.String()))
}

// processOf returns an identifier of the process within its service.
func processOf(o otlpsink.Origin) string {
	for _, key := range []string{"service.instance.id", "process.pid", "host.name"} {
		if v, ok := o.Resource[key]; ok {
			return cut(titleText, valueText(v))
		}
	}
	return ""
}

func (r *reading) take(p otlpsink.Point) {
	if p.Time.Before(r.at) && !p.Delta {
		return // a late point is older than the reading
	}
	r.at = p.Time
	if !p.Delta {
		r.value, r.count, r.sum, r.buckets = 0, 0, 0, nil
		r.least, r.greatest = math.NaN(), math.NaN()
	}
	if p.Kind == otlpsink.Gauge {
		r.value = 0
	}
	r.value += p.Value
	r.count += float64(p.Count)
	r.sum += p.Sum
	r.buckets = merge(r.buckets, bucketsOf(p))
	if p.Min != nil {
		r.least = least(r.least, *p.Min)
	}
	if p.Max != nil {
		r.greatest = greatest(r.greatest, *p.Max)
	}
	for _, e := range p.Exemplars {
		if e.TraceID != "" && !slices.ContainsFunc(r.exemplars, func(x otlpsink.Exemplar) bool {
			return x.TraceID == e.TraceID && x.SpanID == e.SpanID
		}) {
			e.Attributes = nil
			r.exemplars = append(r.exemplars, e)
		}
	}
	r.exemplars = r.exemplars[max(len(r.exemplars)-maxReservoir, 0):]
}

// maxReservoir bounds the exemplars of a series in one process.
const maxReservoir = 16

// least returns the lesser of two numbers, either of which may be NaN for unknown.
func least(a, b float64) float64 {
	if math.IsNaN(a) || b < a {
		return b
	}
	return a
}

func greatest(a, b float64) float64 { return -least(-a, -b) }

// total returns the reading of a series over all its processes.
func (s *series) total() reading {
	t := reading{least: math.NaN(), greatest: math.NaN()}
	for _, name := range slices.Sorted(maps.Keys(s.processes)) {
		r := s.processes[name]
		switch {
		case s.kind == otlpsink.Gauge && !r.at.Before(t.at):
			t.value = r.value
		case s.kind != otlpsink.Gauge:
			t.value += r.value
		}
		t.at = later(t.at, r.at)
		t.count += r.count
		t.sum += r.sum
		t.least, t.greatest = least(t.least, r.least), greatest(t.greatest, r.greatest)
		t.buckets = merge(t.buckets, r.buckets)
		t.exemplars = append(t.exemplars, r.exemplars...)
	}
	// Readers look for the largest measurements.
	slices.SortStableFunc(t.exemplars, func(a, b otlpsink.Exemplar) int {
		return cmp.Or(cmp.Compare(b.Value, a.Value), b.Time.Compare(a.Time))
	})
	return t
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// look updates the metrics and calls f for each series, ordered by service, metric and attributes. It returns the
// results of f and the number of series above maxKept.
func look[T any](m *meters, now otlpsink.Snapshot, f func(*series) (T, bool)) (all []T, beyond int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.update(now)
	sorted := slices.SortedFunc(maps.Values(m.series), func(a, b *series) int {
		return cmp.Or(cmp.Compare(a.service, b.service), cmp.Compare(a.metric, b.metric),
			slices.CompareFunc(a.attributes, b.attributes,
				func(a, b attribute) int { return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Value, b.Value)) }))
	})
	for _, s := range sorted {
		if t, ok := f(s); ok {
			all = append(all, t)
		}
	}
	return all, len(m.beyond)
}
