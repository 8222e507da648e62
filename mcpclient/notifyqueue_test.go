package mcpclient

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/mcp"
)

// short names notifications in tests: P progress, L log message, T, R and S list changed of tools, resources and prompts,
// Ux updated x, and anything else a method of its own. What follows a colon tells those of one kind apart.
func short(word string) *Notification {
	kind, _, _ := strings.Cut(word, ":")
	n := &Notification{Params: []byte(word)}
	switch kind {
	case "P":
		n.Method = mcp.NotificationProgress
	case "L":
		n.Method = mcp.NotificationMessage
	case "T":
		n.Method = mcp.NotificationToolListChanged
	case "R":
		n.Method = mcp.NotificationResourceListChanged
	case "S":
		n.Method = mcp.NotificationPromptListChanged
	default:
		n.Method = "custom/" + kind
		if uri, ok := strings.CutPrefix(kind, "U"); ok {
			n.Method, n.uri = mcp.NotificationResourceUpdated, uri
		}
	}
	return n
}

// drain empties a queue and returns the words of what was in it.
func drain(q *notifyQueue) (words []string) {
	for n, ok := q.pop(); ok; n, ok = q.pop() {
		words = append(words, string(n.Params))
	}
	return words
}

func TestAFullQueueMakesRoomByWhatCanBeMissed(t *testing.T) {
	for _, tc := range []struct {
		name, waiting, comes, left, lost string
		coalesced                        bool
	}{
		{"there is room", "a b", "c", "a b c", "", false},
		{"there is room for what is waiting already", "T b", "T:2", "T b T:2", "", false},
		{"the oldest progress goes", "a P:1 L:1", "b", "a L:1 b", "P:1", false},
		{"the oldest log message goes", "L:1 P:1 a", "b", "P:1 a b", "L:1", false},
		{"progress goes for progress", "a P:1 P:2", "P:3", "a P:2 P:3", "P:1", false},
		{"list changed twice is once", "a T b", "T:2", "a T b", "", true},
		{"lists are not each other's", "P:1 T R", "S", "T R S", "P:1", false},
		{"updated twice is once", "Ux a b", "Ux:2", "Ux a b", "", true},
		{"resources are not each other", "Ux P:1 b", "Uy", "Ux b Uy", "P:1", false},
		{"coalescing comes before dropping", "P:1 T b", "T:2", "P:1 T b", "", true},
		{"without anything to miss the new one goes", "a b c", "d", "a b c", "d", false},
		{"new progress too", "a b c", "P:1", "a b c", "P:1", false},
		{"a custom notification counts each time", "a b c", "a:2", "a b c", "a:2", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			q := notifyQueue{limit: 3}
			for word := range strings.FieldsSeq(tc.waiting) {
				if p := q.push(short(word)); p != (pushed{}) {
					t.Fatalf("want room for %s, got %+v", word, p)
				}
			}
			p := q.push(short(tc.comes))
			lost := ""
			if p.dropped != nil {
				lost = string(p.dropped.Params)
			}
			if lost != tc.lost || p.coalesced != tc.coalesced {
				t.Errorf("want lost %q, coalesced %v, got %q, %v", tc.lost, tc.coalesced, lost, p.coalesced)
			}
			if got := strings.Join(drain(&q), " "); got != tc.left {
				t.Errorf("want %q left, got %q", tc.left, got)
			}
		})
	}
}

func TestAnEmptyQueueHasNothing(t *testing.T) {
	q := notifyQueue{limit: 1}
	for range 3 {
		if n, ok := q.pop(); ok || n != nil || q.len() != 0 {
			t.Fatalf("want nothing, got %v, %d waiting", n, q.len())
		}
		q.push(short("a"))
		q.pop()
	}
}

// TestTheQueueLosesOnlyWhatItMay holds the queue against its description, word for word, on any sequence.
func TestTheQueueLosesOnlyWhatItMay(t *testing.T) {
	kinds := []string{"P", "L", "T", "R", "S", "Ux", "Uy", "a", "b"}
	rapid.Check(t, func(t *rapid.T) {
		q := notifyQueue{limit: rapid.IntRange(1, 8).Draw(t, "limit")}
		var want []string // what waits
		for i, kind := range rapid.SliceOf(rapid.SampledFrom(append(kinds, "pop", "pop", "pop"))).Draw(t, "what comes") {
			if kind == "pop" {
				n, ok := q.pop()
				if ok != (len(want) > 0) || ok && string(n.Params) != want[0] {
					t.Fatalf("%d: pop: want the first of %v, got %v", i, want, n)
				}
				want = want[min(1, len(want)):]
				continue
			}
			word := fmt.Sprint(kind, ":", i)
			p := q.push(short(word))
			expendable := slices.IndexFunc(want, func(w string) bool { return w[0] == 'P' || w[0] == 'L' })
			same := strings.Contains("TRSUxUy", kind) && slices.ContainsFunc(want, func(w string) bool { return strings.HasPrefix(w, kind+":") })
			switch {
			case len(want) < q.limit:
				if p != (pushed{}) {
					t.Fatalf("%d: want room for %s in %v, got %+v", i, word, want, p)
				}
				want = append(want, word)
			case same:
				if !p.coalesced || p.dropped != nil {
					t.Fatalf("%d: want %s coalesced with one of %v, got %+v", i, word, want, p)
				}
			case expendable >= 0:
				if p.coalesced || p.dropped == nil || string(p.dropped.Params) != want[expendable] {
					t.Fatalf("%d: want %s lost for %s, got %+v", i, want[expendable], word, p)
				}
				want = append(slices.Delete(want, expendable, expendable+1), word)
			default:
				if p.coalesced || p.dropped == nil || string(p.dropped.Params) != word {
					t.Fatalf("%d: want %s lost itself, as %v is all wanted, got %+v", i, word, want, p)
				}
			}
			if q.len() != len(want) || q.len() > q.limit {
				t.Fatalf("%d: want %d waiting, got %d of %d", i, len(want), q.len(), q.limit)
			}
			if cap(q.waiting) > 4*q.limit+4 {
				t.Fatalf("%d: want memory bounded by the limit of %d, got room for %d", i, q.limit, cap(q.waiting))
			}
		}
		if got := drain(&q); !slices.Equal(got, want) {
			t.Fatalf("want %v in the end, got %v", want, got)
		}
		for _, n := range q.waiting[:cap(q.waiting)] {
			if n != nil {
				t.Fatalf("want an empty queue to keep nothing in memory, got %s", n.Params)
			}
		}
	})
}

func TestTheProgressRingKeepsTheLatestReports(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r progressRing
		for _, reports := range rapid.SliceOf(rapid.IntRange(0, 3*progressKept)).Draw(t, "reports before each take") {
			var want []float64
			for i := range reports {
				if lost := r.push(Progress{Progress: float64(i)}); lost != (i >= progressKept) {
					t.Fatalf("report %d: want an older one lost %v, got %v", i, i >= progressKept, lost)
				}
				want = append(want, float64(i))
			}
			if got := values(r.take()); !slices.Equal(got, want[max(0, len(want)-progressKept):]) {
				t.Fatalf("want the latest %d of %v, got %v", progressKept, want, got)
			}
		}
	})
}

func values(reports []Progress) (all []float64) {
	for _, p := range reports {
		all = append(all, p.Progress)
	}
	return all
}
