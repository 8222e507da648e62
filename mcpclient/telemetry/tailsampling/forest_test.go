package tailsampling

import (
	"encoding/binary"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// key returns the key of a span in these tests; -1 means no span.
func key(n int) (k spanKey) {
	binary.BigEndian.PutUint64(k.span[:], uint64(n+2))
	return k
}

// plain is a simple model of the forest, without lists and bounds: it records whether each span is exported.
type plain struct{ spans []plainSpan }

type plainSpan struct {
	parent  int // -1 for none
	state   string
	kept    bool // the span and all spans below it are kept
	path    bool // the span is exported at its end
	itself  bool // the span is kept for its outcome
	follows bool
}

// open reports whether a span, or a span below it, has not ended.
func (p *plain) open(i int) bool {
	if p.spans[i].state == "live" {
		return true
	}
	for j := i + 1; j < len(p.spans); j++ {
		if p.spans[j].parent == i && p.open(j) {
			return true
		}
	}
	return false
}

// holder returns the nearest open span, starting at i and going up, or -1.
func (p *plain) holder(i int) int {
	for i >= 0 && !p.open(i) {
		i = p.spans[i].parent
	}
	return i
}

func (p *plain) start(parent int) {
	s := plainSpan{parent: parent, state: "live"}
	if parent >= 0 && !p.open(parent) {
		s.parent, s.follows = -1, p.spans[parent].itself
	}
	p.spans = append(p.spans, s)
}

func (p *plain) end(i int, keep bool) {
	s := &p.spans[i]
	if s.itself = keep; keep || s.follows || s.parent >= 0 && p.spans[s.parent].kept {
		for j := range p.spans {
			if p.spans[j].state == "held" && p.holder(j) == i {
				p.spans[j].state = "exported"
			}
		}
		s.kept, s.state = true, "exported"
		for a := s.parent; a >= 0; a = p.spans[a].parent {
			if p.spans[a].path = true; p.spans[a].state == "held" {
				p.spans[a].state = "exported"
			}
		}
	} else if s.path {
		s.state = "exported"
	} else {
		s.state = "held"
	}
	for j := range p.spans { // held spans move up from a span that has no open span at or below it
		for x := j; p.spans[j].state == "held" && !p.open(x); x = p.spans[x].parent {
			if up := p.spans[x].parent; up < 0 {
				p.spans[j].state = "dropped"
			} else if p.spans[up].kept {
				p.spans[j].state = "exported"
			}
		}
	}
}

// For any order of starts and ends, the forest exports the spans of the model.
func TestForestMatchesModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, p := newForest[int](1<<40), &plain{}
		var exported, live []int
		end := func(i int, keep bool) {
			self, company := f.end(key(i), i, 1, keep)
			if exported = append(exported, company...); self {
				exported = append(exported, i)
			}
			p.end(i, keep)
			live = slices.DeleteFunc(live, func(l int) bool { return l == i })

			var want []int
			for i, s := range p.spans {
				if s.state == "exported" {
					want = append(want, i)
				}
			}
			if got := slices.Sorted(slices.Values(exported)); !slices.Equal(got, want) {
				t.Fatalf("want exports %v, got %v", want, got)
			}
		}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			if len(live) == 0 || rapid.Bool().Draw(t, "start") {
				parent := rapid.IntRange(-1, len(p.spans)-1).Draw(t, "parent")
				f.start(key(len(p.spans)), key(parent))
				live = append(live, len(p.spans))
				p.start(parent)
				continue
			}
			end(rapid.SampledFrom(live).Draw(t, "end"), rapid.IntRange(0, 5).Draw(t, "keep") == 0)
		}
		for len(live) > 0 {
			end(live[len(live)-1], false)
		}
		if f.bytes != 0 || f.openBytes != 0 || len(f.open) != 0 || !f.held.empty() || !f.nodes.empty() {
			t.Errorf("want an empty forest after all spans have ended, got %d bytes, %d open", f.bytes, len(f.open))
		}
		if got := int(f.dropped) + len(exported); got != len(p.spans) || f.evicted != 0 {
			t.Errorf("want each of %d spans exported or dropped, got %d", len(p.spans), got)
		}
	})
}

// For any order of starts and ends, the held spans stay within the bound, no span is exported twice, and kept spans are
// exported.
func TestForestIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := newForest[int](rapid.Int64Range(0, 12*nodeBytes).Draw(t, "max"))
		exported := map[int]bool{}
		var live []int
		n := 0
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			if len(live) == 0 || rapid.Bool().Draw(t, "start") {
				f.start(key(n), key(rapid.IntRange(-1, n-1).Draw(t, "parent")))
				live = append(live, n)
				n++
			} else {
				i := rapid.SampledFrom(live).Draw(t, "end")
				live = slices.DeleteFunc(live, func(l int) bool { return l == i })
				keep := rapid.IntRange(0, 5).Draw(t, "keep") == 0
				self, company := f.end(key(i), i, rapid.Int64Range(1, 3*nodeBytes).Draw(t, "bytes"), keep)
				if self {
					company = append(company, i)
				}
				if keep && !self {
					t.Errorf("span %d is kept but not exported", i)
				}
				for _, e := range company {
					if exported[e] {
						t.Errorf("span %d is exported twice", e)
					}
					exported[e] = true
				}
			}
			if f.bytes > f.max || f.openBytes > f.max/2 || f.openBytes != nodeBytes*int64(len(f.open)) {
				t.Errorf("want at most %d bytes, half of them for open spans, got %d and %d", f.max, f.bytes, f.openBytes)
			}
		}
		held := 0
		for range f.held.all() {
			held++
		}
		if got := len(exported) + held + len(live) + int(f.dropped+f.evicted); got != n {
			t.Errorf("want each of %d spans counted, got %d", n, got)
		}
		f.clear()
		if f.bytes != 0 || f.openBytes != 0 || len(f.open) != 0 || !f.held.empty() || !f.nodes.empty() {
			t.Errorf("want an empty forest after clear, got %d bytes, %d open", f.bytes, len(f.open))
		}
	})
}

func TestForestEvictsOldestEndedSpan(t *testing.T) {
	const bytes = 2 * nodeBytes
	f := newForest[int](nodeBytes + 3*bytes) // room for one open span and three ended spans below it
	f.start(key(0), key(-1))
	for i := 1; i <= 4; i++ {
		f.start(key(i), key(0))
		f.end(key(i), i, bytes, false)
	}
	self, company := f.end(key(0), 0, bytes, true)
	if !self || len(company) == 0 || company[len(company)-1] != 4 || slices.Contains(company, 1) ||
		int(f.evicted)+len(company) != 4 {
		t.Errorf("want the span itself and the spans that ended last, got %v, %v and %d evicted", self, company, f.evicted)
	}
}

// In a chain, each span starts before its parent ends, so there is always an open span below it.
func TestChainOfOpenSpansIsBounded(t *testing.T) {
	const most = 100
	f := newForest[int](2 * most * nodeBytes)
	for i := range 10_000 {
		f.start(key(i), key(i-1))
		f.end(key(i-1), i-1, 1, false)
		depth := 0
		for n := f.open[key(i)]; n != nil; n = n.parent {
			depth++
		}
		if depth > most+1 {
			t.Fatalf("span %d keeps %d spans above it in memory, want at most %d", i, depth, most)
		}
	}
}

// Spans that never end take at most half of the bound, so the forest still handles other spans.
func TestOpenSpansTakeAtMostHalfOfBound(t *testing.T) {
	f := newForest[int](100 * nodeBytes)
	for i := range 1000 {
		f.start(key(i), key(-1))
	}
	for i := 1000; i < 2000; i += 2 {
		f.start(key(i), key(-1))
		f.start(key(i+1), key(i))
		f.end(key(i+1), i+1, nodeBytes, false)
		if self, company := f.end(key(i), i, nodeBytes, true); !self || !slices.Equal(company, []int{i + 1}) {
			t.Fatalf("want exports %d and %d, got %v and %v", i, i+1, self, company)
		}
	}
}

func TestRecentKeepsLatestSpans(t *testing.T) {
	var r recent
	for i := range remembered + 10 {
		r.add(key(i))
		r.add(key(i))
	}
	for _, at := range []struct {
		id   int
		want bool
	}{{9, false}, {10, true}, {remembered + 9, true}, {remembered + 10, false}} {
		if got := r.has(key(at.id)); got != at.want {
			t.Errorf("has %d: want %v, got %v", at.id, at.want, got)
		}
	}
	if len(r.set) != remembered {
		t.Errorf("want %d keys, got %d", remembered, len(r.set))
	}
}
