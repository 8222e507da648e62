package mcpclient

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/mcp"
)

// short makes a notification from a short name: P progress, L log message, T, R and S list changed of tools, resources
// and prompts, Ux an update of x, and anything else a method of its own. The text after a colon distinguishes
// notifications of the same kind.
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

// drain empties a queue and returns the short names of its notifications.
func drain(q *notifyQueue) (words []string) {
	for n, ok := q.pop(); ok; n, ok = q.pop() {
		words = append(words, string(n.Params))
	}
	return words
}

// words returns the short names of notifications.
func words(some []*Notification) string {
	var all []string
	for _, n := range some {
		all = append(all, string(n.Params))
	}
	return strings.Join(all, " ")
}

// sized is like short, for a frame of this number of bytes.
func sized(word string, bytes int) *Notification {
	n := short(word)
	n.size = bytes
	return n
}

func TestQueueAtByteLimitDropsExpendableNotifications(t *testing.T) {
	for _, tc := range []struct {
		name, waiting string // a digit after the colon is the size
		comes         string
		left, lost    string
		coalesced     bool
	}{
		{"there is room", "a:3 b:3", "c:4", "a:3 b:3 c:4", "", false},
		{"the oldest progress goes", "a:2 P:4 P:4", "b:3", "a:2 P:4 b:3", "P:4", false},
		{"as many go as it takes", "P:3 a:1 L:3 P:3", "b:5", "a:1 P:3 b:5", "P:3 L:3", false},
		{"none goes if all are not enough", "P:2 a:7", "b:5", "P:2 a:7", "b:5", false},
		{"what is alone has room", "", "a:99", "a:99", "", false},
		{"and beside it there is none", "a:99", "b:1", "a:99", "b:1", false},
		{"nor for what is as large", "a:1", "b:99", "a:1", "b:99", false},
		{"unless that can be missed", "P:99", "b:1", "b:1", "P:99", false},
		{"list changed twice is once", "a:5 T:5", "T:1", "a:5 T:5", "", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			parse := func(word string) *Notification {
				_, size, _ := strings.Cut(word, ":")
				n, _ := strconv.Atoi(size)
				return sized(word, n)
			}
			q := notifyQueue{limit: 100, bytes: 10}
			for word := range strings.FieldsSeq(tc.waiting) {
				if p := q.push(parse(word)); p.coalesced || p.dropped != nil {
					t.Fatalf("want room for %s, got %+v", word, p)
				}
			}
			p := q.push(parse(tc.comes))
			if lost := words(p.dropped); lost != tc.lost || p.coalesced != tc.coalesced {
				t.Errorf("want lost %q, coalesced %v, got %q, %v", tc.lost, tc.coalesced, lost, p.coalesced)
			}
			if got := strings.Join(drain(&q), " "); got != tc.left || q.size != 0 {
				t.Errorf("want %q left and 0 bytes after that, got %q, %d bytes", tc.left, got, q.size)
			}
		})
	}
}

func TestFullQueueDropsExpendableNotifications(t *testing.T) {
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
				if p := q.push(short(word)); p.coalesced || p.dropped != nil {
					t.Fatalf("want room for %s, got %+v", word, p)
				}
			}
			p := q.push(short(tc.comes))
			if lost := words(p.dropped); lost != tc.lost || p.coalesced != tc.coalesced {
				t.Errorf("want lost %q, coalesced %v, got %q, %v", tc.lost, tc.coalesced, lost, p.coalesced)
			}
			if got := strings.Join(drain(&q), " "); got != tc.left {
				t.Errorf("want %q left, got %q", tc.left, got)
			}
		})
	}
}

func TestEmptyQueuePopsNothing(t *testing.T) {
	q := notifyQueue{limit: 1}
	for range 3 {
		if n, ok := q.pop(); ok || n != nil || len(q.waiting) != 0 {
			t.Fatalf("want nothing, got %v, %d waiting", n, len(q.waiting))
		}
		q.push(short("a"))
		q.pop()
	}
}

func TestMissedUpdateDoesNotReplaceAReceivedOne(t *testing.T) {
	q := notifyQueue{limit: 1}
	q.push(&Notification{Method: mcp.NotificationResourceUpdated, uri: "file:///x", missed: true})
	if done := q.push(&Notification{Method: mcp.NotificationResourceUpdated, uri: "file:///x"}); done.coalesced {
		t.Error("a received update was coalesced with a missed one, which raw handlers do not get")
	}
}

// The test compares the queue with a model that follows the queue's description literally, for random sequences.
func TestNotificationQueueMatchesModel(t *testing.T) {
	kinds := []string{"P", "L", "T", "R", "S", "Ux", "Uy", "a", "b"}
	rapid.Check(t, func(t *rapid.T) {
		q := notifyQueue{limit: rapid.IntRange(1, 8).Draw(t, "limit"), bytes: rapid.IntRange(1, 40).Draw(t, "bytes")}
		var want []*Notification // the waiting notifications
		for i, kind := range rapid.SliceOf(rapid.SampledFrom(append(kinds, "pop", "pop", "pop"))).Draw(t, "notifications") {
			if kind == "pop" {
				n, ok := q.pop()
				if ok != (len(want) > 0) || ok && n != want[0] {
					t.Fatalf("%d: pop: want the first of %v, got %v", i, want, n)
				}
				want = want[min(1, len(want)):]
				continue
			}
			n := sized(fmt.Sprint(kind, ":", i), rapid.IntRange(0, 20).Draw(t, "size"))
			p := q.push(n)
			left, coalesced, lost := told(&q, want, n)
			if p.coalesced != coalesced || !slices.Equal(p.dropped, lost) {
				t.Fatalf("%d: %s comes to %s: want %s lost, coalesced %v, got %+v", i, n.Params, words(want), words(lost),
					coalesced, p)
			}
			want = left
			if n := len(q.waiting); n != len(want) || n > q.limit || n > 1 && q.size > q.bytes || q.size != held(want) {
				t.Fatalf("%d: want %d waiting with %d bytes, got %d of %d with %d of %d", i, len(want), held(want), n, q.limit,
					q.size, q.bytes)
			}
			if cap(q.waiting) > 4*q.limit+4 {
				t.Fatalf("%d: want a capacity of at most the limit %d, got %d", i, q.limit, cap(q.waiting))
			}
		}
		if got := strings.Join(drain(&q), " "); got != words(want) {
			t.Fatalf("want %s in the end, got %v", words(want), got)
		}
		for _, n := range q.waiting[:cap(q.waiting)] {
			if n != nil {
				t.Fatalf("the empty queue still refers to %s", n.Params)
			}
		}
	})
}

func held(some []*Notification) (bytes int) {
	for _, n := range some {
		bytes += n.held()
	}
	return bytes
}

// told returns the result of pushing n according to the queue's description: the notifications that wait after that,
// and the notifications that are lost.
func told(q *notifyQueue, waiting []*Notification, n *Notification) (left []*Notification, coalesced bool,
	lost []*Notification) {
	room := func(others []*Notification) bool {
		return len(others) < q.limit && (len(others) == 0 || held(others)+n.held() <= q.bytes)
	}
	if room(waiting) {
		return append(slices.Clone(waiting), n), false, nil
	}
	if slices.ContainsFunc(waiting, n.repeats) {
		return waiting, true, nil
	}
	left = slices.Clone(waiting)
	for !room(left) {
		i := slices.IndexFunc(left, (*Notification).expendable)
		if i < 0 {
			return waiting, false, []*Notification{n}
		}
		lost = append(lost, left[i])
		left = slices.Delete(left, i, i+1)
	}
	return append(left, n), false, lost
}
