package otlpsink

import (
	"slices"
	"sync"

	"github.com/mcpotel/mcpotel/internal/broadcast"
)

// defaultLimit bounds the number of kept spans; the same bound applies to points and to records.
const defaultLimit = 100_000

// A Snapshot is the content of a sink at one moment, oldest first. It does not change, and taking it is cheap. Callers
// must not modify it.
type Snapshot struct {
	Spans   []Span
	Points  []Point
	Records []Record
	Dropped Dropped
}

// Dropped counts the elements that were received and then dropped.
type Dropped struct{ Spans, Points, Records int }

// Trace returns the spans of one trace.
func (s Snapshot) Trace(id string) []Span {
	return keep(s.Spans, func(sp Span) bool { return sp.TraceID == id })
}

// SpansNamed returns the spans with this name.
func (s Snapshot) SpansNamed(name string) []Span {
	return keep(s.Spans, func(sp Span) bool { return sp.Name == name })
}

// PointsOf returns the points of one metric.
func (s Snapshot) PointsOf(metric string) []Point {
	return keep(s.Points, func(p Point) bool { return p.Metric == metric })
}

// RecordsOf returns the log records of one event.
func (s Snapshot) RecordsOf(event string) []Record {
	return keep(s.Records, func(r Record) bool { return r.EventName == event })
}

func keep[T any](all []T, ok func(T) bool) []T {
	var some []T
	for _, v := range all {
		if ok(v) {
			some = append(some, v)
		}
	}
	return some
}

// A store holds the received data. Its slices only grow at the end and shrink at the front, and no element is written
// twice, so snapshots can share them.
type store struct {
	mu      sync.Mutex
	now     Snapshot         // guarded by mu
	spans   quota            // guarded by mu
	points  quota            // guarded by mu
	records quota            // guarded by mu
	changed broadcast.Signal // guarded by mu
}

func newStore(limit int) *store {
	q := quota{limit: limit}
	return &store{spans: q, points: q, records: q}
}

// add modifies the snapshot with change, and wakes the waiting goroutines.
func (s *store) add(change func(*Snapshot)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.now)
	s.changed.Send()
}

// look returns the present snapshot and a channel that is closed when it is out of date.
func (s *store) look() (Snapshot, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now
	now.Spans, now.Points, now.Records = slices.Clip(now.Spans), slices.Clip(now.Points), slices.Clip(now.Records)
	return now, s.changed.Next()
}

func (s *store) addSpans(spans []Span, size int) {
	s.add(func(n *Snapshot) { n.Spans = push(n.Spans, spans, s.spans.over(len(spans), size), &n.Dropped.Spans) })
}

func (s *store) addPoints(points []Point, size int) {
	s.add(func(n *Snapshot) {
		n.Points = push(n.Points, points, s.points.over(len(points), size), &n.Dropped.Points)
	})
}

func (s *store) addRecords(records []Record, size int) {
	s.add(func(n *Snapshot) {
		n.Records = push(n.Records, records, s.records.over(len(records), size), &n.Dropped.Records)
	})
}

// push appends the elements in more and drops the oldest elements. The built-in append frees the dropped elements when
// it next moves the slice.
func push[T any](kept, more []T, over int, dropped *int) []T {
	*dropped += over
	return append(kept, more...)[over:]
}

// maxBytes bounds the kept spans, in bytes on the wire; the same bound applies to points and to records. In memory,
// elements are several times larger. The last message is always kept, and maxMessage bounds its size.
const maxBytes = 128 << 20

// A quota tracks the messages of one signal, to decide which elements to drop.
type quota struct {
	limit    int
	messages []message // oldest first
	kept     message   // sum of messages
}

// A message counts the kept elements of one message and their bytes on the wire.
type message struct {
	elements int
	bytes    int
}

// over adds a message and returns how many of the oldest elements to drop.
func (q *quota) over(elements, bytes int) (drop int) {
	if elements == 0 {
		return 0
	}
	q.messages = append(q.messages, message{elements, bytes})
	q.kept.elements += elements
	q.kept.bytes += bytes
	for q.kept.elements > q.limit || q.kept.bytes > maxBytes && len(q.messages) > 1 {
		oldest := &q.messages[0]
		n := oldest.elements
		if q.kept.bytes <= maxBytes {
			n = min(n, q.kept.elements-q.limit)
		}
		share := oldest.bytes * n / oldest.elements
		drop += n
		q.kept.elements -= n
		q.kept.bytes -= share
		if oldest.elements -= n; oldest.elements == 0 {
			q.messages = q.messages[1:]
		} else {
			oldest.bytes -= share
		}
	}
	return drop
}
