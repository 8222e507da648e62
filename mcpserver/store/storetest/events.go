package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// TestEvents tests a shared store of events. For each session, the store must keep at least 100 events and 1 MiB, and
// at most the given number of events and size bytes.
func TestEvents(t *testing.T, events, size int, open func(t *testing.T) store.SharedEvents) {
	for name, test := range map[string]func(*testing.T, store.SharedEvents){
		"EventsAreStoredByStream":           keptEvents,
		"SeparatesSessionsWithIDsOfAnyKind": anySessions,
		"StreamsHaveUniqueNumbers":          numbered,
		"StreamRefusesEventsOutOfOrder":     ascending,
		"OneOfConcurrentAppendsSucceeds":    oneAppends,
		"StoreNumbersEventsOfStream0":       unnumbered,
		"FollowYieldsStoredAndNewEvents":    followed,
		"FollowOfAStreamThatHasEnded":       followedTooLate,
		"FollowEndsWithItsContext":          followingEnds,
		"ForgetDropsASession":               forgotten,
		"StoreKeepsEventsWithinItsLimits": func(t *testing.T, s store.SharedEvents) {
			bounded(t, s, events, size)
		},
		"FinalEventAboveTheLimit": func(t *testing.T, s store.SharedEvents) { tooLarge(t, s, size) },
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

func id(stream, sequence int64) store.EventID {
	return store.EventID{Stream: stream, Sequence: sequence}
}

func event(stream, sequence int64, data string) store.Event {
	return store.Event{ID: id(stream, sequence), Data: []byte(data)}
}

// last returns the final event of a stream.
func last(stream, sequence int64, data string) store.Event {
	e := event(stream, sequence, data)
	e.Final = true
	return e
}

// opened opens a stream and returns its number.
func opened(t testing.TB, s store.SharedEvents, session string) int64 {
	t.Helper()
	n, err := s.Open(t.Context(), session, []byte("note"))
	must(t, "Open", err)
	return n
}

func behind(t testing.TB, s store.SharedEvents, session string, id store.EventID) (events []store.Event) {
	t.Helper()
	for e, err := range s.Behind(t.Context(), session, id) {
		must(t, "Behind", err)
		events = append(events, e)
	}
	return events
}

func same(t testing.TB, what string, got []store.Event, want ...store.Event) {
	t.Helper()
	if !slices.EqualFunc(got, want, func(a, b store.Event) bool {
		return a.ID == b.ID && string(a.Data) == string(b.Data) && a.Final == b.Final
	}) {
		t.Errorf("%s: want %s, got %s", what, shown(want), shown(got))
	}
}

func shown(events []store.Event) string {
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "%s %.40q final=%v; ", e.ID, e.Data, e.Final)
	}
	return b.String()
}

func keptEvents(t *testing.T, s store.SharedEvents) {
	session, other := fresh(), fresh()
	one, two := opened(t, s, session), opened(t, s, session)
	data := []byte("a\x00\xff\r\n")
	given := store.Event{ID: id(one, 1), Data: slices.Clone(data)}
	must(t, "Append", s.Append(t.Context(), session, given))
	clear(given.Data) // the store must have its own copy
	must(t, "Append", s.Append(t.Context(), session, event(two, 1, "b")))
	must(t, "Append", s.Append(t.Context(), session, event(one, 2, "c")))
	must(t, "Append", s.Append(t.Context(), session, last(one, 3, "")))
	must(t, "Append", s.Append(t.Context(), other, event(opened(t, s, other), 1, "x")))
	same(t, "all of a stream", behind(t, s, session, id(one, 0)), event(one, 1, string(data)), event(one, 2, "c"),
		last(one, 3, ""))
	same(t, "the rest of a stream", behind(t, s, session, id(one, 2)), last(one, 3, ""))
	same(t, "after the end of a stream", behind(t, s, session, id(one, 3)))
	same(t, "another stream", behind(t, s, session, id(two, 0)), event(two, 1, "b"))
	same(t, "an unknown stream", behind(t, s, session, id(99, 0)))
	same(t, "an unknown session", behind(t, s, fresh(), id(one, 0)))
}

func numbered(t *testing.T, s store.SharedEvents) {
	session := fresh()
	var mu sync.Mutex
	var all sync.WaitGroup
	seen := map[int64]bool{}
	for i := range 20 {
		all.Go(func() {
			note := fmt.Sprint("note ", i)
			n, err := s.Open(t.Context(), session, []byte(note))
			if err != nil {
				t.Errorf("Open: %v", err)
				return
			}
			mu.Lock()
			if seen[n] || n <= 0 {
				t.Errorf("want an unused number above 0, got %d", n)
			}
			seen[n] = true
			mu.Unlock()
			if got, err := s.Note(t.Context(), session, n); err != nil || string(got) != note {
				t.Errorf("want %q, got %q, %v", note, got, err)
			}
			if err := s.Append(t.Context(), session, last(n, 1, "")); err != nil {
				t.Errorf("Append: %v", err)
			}
			if _, err := s.Note(t.Context(), session, n); !errors.Is(err, store.ErrNoStream) {
				t.Errorf("note of a stream that has ended: want %v, got %v", store.ErrNoStream, err)
			}
		})
	}
	all.Wait()
	for _, stream := range []int64{0, 99} {
		_, err := s.Note(t.Context(), session, stream)
		want(t, fmt.Sprint("the note about stream ", stream), err, store.ErrNoStream)
	}
	if n := opened(t, s, session); seen[n] {
		t.Errorf("want a number that was never used, got %d", n)
	}
}

func ascending(t *testing.T, s store.SharedEvents) {
	session := fresh()
	n, empty := opened(t, s, session), opened(t, s, session)
	must(t, "Append", s.Append(t.Context(), session, event(n, 1, "a")))
	want(t, "the first event again", s.Append(t.Context(), session, event(n, 1, "x")), store.ErrConflict)
	must(t, "Append", s.Append(t.Context(), session, event(n, 3, "c"))) // event 2 is missing, as if the store had lost it
	want(t, "the second event after the third", s.Append(t.Context(), session, event(n, 2, "x")), store.ErrConflict)
	must(t, "Append", s.Append(t.Context(), session, last(n, 4, "d")))
	for sequence := range int64(6) {
		want(t, "an event after the final event", s.Append(t.Context(), session, event(n, sequence, "x")), store.ErrConflict)
	}
	must(t, "Append", s.Append(t.Context(), session, last(empty, 1, "")))
	want(t, "another final event", s.Append(t.Context(), session, last(empty, 1, "")), store.ErrConflict)
	same(t, "the stream", behind(t, s, session, id(n, 0)), event(n, 1, "a"), event(n, 3, "c"), last(n, 4, "d"))
}

func oneAppends(t *testing.T, s store.SharedEvents) {
	session := fresh()
	n := opened(t, s, session)
	var mu sync.Mutex
	var all sync.WaitGroup
	done := map[int64]int{}
	for range 8 {
		all.Go(func() {
			for sequence := int64(1); sequence <= 20; sequence++ {
				switch err := s.Append(t.Context(), session, event(n, sequence, "")); {
				case err == nil:
					mu.Lock()
					done[sequence]++
					mu.Unlock()
				case !errors.Is(err, store.ErrConflict):
					t.Errorf("want success or a conflict, got %v", err)
				}
			}
		})
	}
	all.Wait()
	for sequence := int64(1); sequence <= 20; sequence++ {
		if done[sequence] != 1 {
			t.Errorf("want one call to append event %d, got %d", sequence, done[sequence])
		}
	}
}

func unnumbered(t *testing.T, s store.SharedEvents) {
	session := fresh()
	latest := func() int64 {
		n, err := s.Latest(t.Context(), session)
		must(t, "Latest", err)
		return n
	}
	if n := latest(); n != 0 {
		t.Errorf("before any event: want 0 as the latest, got %d", n)
	}
	const writers, each = 4, 20
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for range each {
				if err := s.Append(t.Context(), session, event(0, 0, "x")); err != nil {
					t.Errorf("Append: %v", err)
				}
			}
		})
	}
	all.Wait()
	got := behind(t, s, session, id(0, 0))
	at := int64(0)
	for _, e := range got {
		if e.ID.Stream != 0 || e.ID.Sequence <= at || e.Previous != at {
			t.Fatalf("want an event behind 0-%d, got %s behind %d", at, e.ID, e.Previous)
		}
		at = e.ID.Sequence
	}
	if len(got) != writers*each || latest() != at {
		t.Errorf("want %d events and %d as the latest, got %d and %d", writers*each, at, len(got), latest())
	}
	n := opened(t, s, session)
	must(t, "Append", s.Append(t.Context(), session, event(n, 0, "a")))
	same(t, "an event without a number on another stream", behind(t, s, session, id(n, 0)), event(n, 1, "a"))
}

func followed(t *testing.T, s store.SharedEvents) {
	session := fresh()
	n, other := opened(t, s, session), opened(t, s, session)
	const all = 60
	must(t, "Append", s.Append(t.Context(), session, event(n, 1, "1")))
	var followers sync.WaitGroup
	var got atomic.Int64                               // number of events that all followers have read
	caughtUp := func(i int64) int64 { return 4*i - 2 } // two of the four followers start after the first event
	for i := range 4 {
		followers.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			next := int64(i%2 + 1)
			for e, err := range s.Follow(ctx, session, id(n, next-1)) {
				if err != nil || e.ID != id(n, next) || string(e.Data) != fmt.Sprint(next) || e.Final != (next == all) {
					t.Errorf("want event %d, got %s %q final=%v, %v", next, e.ID, e.Data, e.Final, err)
					return
				}
				next++
				got.Add(1)
			}
			if next != all+1 {
				t.Errorf("want all %d events, got %d", all, next-1)
			}
		})
	}
	for i := int64(2); i <= all; i++ {
		must(t, "Append", s.Append(t.Context(), session, event(other, i-1, "not this")))
		must(t, "Append", s.Append(t.Context(), session,
			store.Event{ID: id(n, i), Data: fmt.Append(nil, i), Final: i == all}))
		if i%20 == 0 && i < all {
			waitUntil(t, "all followers have caught up", func() bool { return got.Load() >= caughtUp(i) })
		}
	}
	followers.Wait()
}

func followedTooLate(t *testing.T, s store.SharedEvents) {
	session := fresh()
	n := opened(t, s, session)
	must(t, "Append", s.Append(t.Context(), session, event(n, 1, "a")))
	must(t, "Append", s.Append(t.Context(), session, last(n, 2, "b")))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for sequence, events := range [][]store.Event{{event(n, 1, "a"), last(n, 2, "b")}, {last(n, 2, "b")}, nil, nil} {
		var got []store.Event
		for e, err := range s.Follow(ctx, session, id(n, int64(sequence))) {
			must(t, "Follow", err)
			got = append(got, e)
		}
		same(t, fmt.Sprint("behind ", sequence), got, events...)
	}
	if ctx.Err() != nil {
		t.Error("want following to end with the stream, it has waited")
	}
}

func followingEnds(t *testing.T, s store.SharedEvents) {
	session := fresh()
	must(t, "Append", s.Append(t.Context(), session, event(0, 0, "a")))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, err := range s.Follow(ctx, session, id(0, 0)) {
		if err != nil {
			t.Errorf("want the end of the context to be no error, got %v", err)
		}
		cancel()
	}
}

func forgotten(t *testing.T, s store.SharedEvents) {
	session, other := fresh(), fresh()
	n := opened(t, s, session)
	must(t, "Append", s.Append(t.Context(), session, event(n, 1, "a")))
	must(t, "Append", s.Append(t.Context(), session, event(0, 0, "a")))
	must(t, "Append", s.Append(t.Context(), other, event(0, 0, "b")))
	s.Forget(session)
	same(t, "a forgotten session", behind(t, s, session, id(n, 0)))
	same(t, "stream 0 of a forgotten session", behind(t, s, session, id(0, 0)))
	if got := behind(t, s, other, id(0, 0)); len(got) != 1 || string(got[0].Data) != "b" {
		t.Errorf("another session: want its event, got %s", shown(got))
	}
	_, err := s.Note(t.Context(), session, n)
	want(t, "note of a stream of a forgotten session", err, store.ErrNoStream)
}

// bounded checks that the store keeps the latest events without a gap, and that their number is within the limits.
func bounded(t *testing.T, s store.SharedEvents, events, size int) {
	for _, length := range []int{1, 100 << 10} {
		session := fresh()
		n := opened(t, s, session)
		total := int64(min(events, size/length) + 50)
		for i := range total {
			must(t, "Append", s.Append(t.Context(), session, event(n, i+1, strings.Repeat("x", length))))
		}
		got := behind(t, s, session, id(n, 0))
		if most, least := min(events, size/length), min(100, (1<<20)/length); len(got) > most || len(got) < least {
			t.Errorf("events of %d bytes: want between %d and %d of them kept, got %d", length, least, most, len(got))
		}
		for i, e := range got {
			if e.ID.Sequence != total-int64(len(got)-i-1) {
				t.Fatalf("want the latest without a gap, got %s at %d of %d", e.ID, i, len(got))
			}
		}
	}
}

func tooLarge(t *testing.T, s store.SharedEvents, size int) {
	session := fresh()
	n := opened(t, s, session)
	done := make(chan int)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	go func() {
		got := 0
		for _, err := range s.Follow(ctx, session, id(n, 1)) {
			if err != nil {
				t.Errorf("Follow: %v", err)
			}
			got++
		}
		done <- got
	}()
	must(t, "Append", s.Append(t.Context(), session, event(n, 1, "a")))
	must(t, "Append", s.Append(t.Context(), session, last(n, 2, strings.Repeat("x", size+1))))
	if got := <-done; ctx.Err() != nil || got > 1 {
		t.Errorf("want following to end with the stream, got %d events and %v", got, ctx.Err())
	}
}

// anySessions checks that sessions with long and unusual ids do not share events and streams.
func anySessions(t *testing.T, s store.SharedEvents) {
	ids := append(strange(), "") // the empty id is a session, too
	var streams []int64
	for _, session := range ids {
		s.Forget(session)
		n := opened(t, s, session)
		streams = append(streams, n)
		must(t, "Append", s.Append(t.Context(), session, event(n, 1, session)))
		must(t, "Append", s.Append(t.Context(), session, event(0, 0, "of no request")))
	}
	for i, session := range ids {
		n := streams[i]
		same(t, fmt.Sprintf("events of %.60q", session), behind(t, s, session, id(n, 0)), event(n, 1, session))
		s.Forget(session)
		same(t, fmt.Sprintf("events of %.60q, forgotten", session), behind(t, s, session, id(n, 0)))
	}
}
