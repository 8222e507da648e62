package store_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/mcpotel/mcpotel/mcpserver/store"
	"pgregory.net/rapid"
)

func behind(t *rapid.T, s store.Events, session string, id store.EventID) (events []store.Event) {
	for e, err := range s.Behind(t.Context(), session, id) {
		if err != nil {
			t.Fatalf("Behind: %v", err)
		}
		events = append(events, e)
	}
	return events
}

// TestMemoryEventsKeepsLatestEventsWithinLimits compares the store with a list of all events.
func TestMemoryEventsKeepsLatestEventsWithinLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(1, 5).Draw(t, "events")
		size := rapid.IntRange(1, 50).Draw(t, "bytes")
		memory := store.NewMemoryEvents(most, size)
		all := map[string][]store.Event{}
		latest := map[string]int64{}
		t.Repeat(map[string]func(*rapid.T){
			"append": func(t *rapid.T) {
				session := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "session")
				stream := rapid.Int64Range(0, 2).Draw(t, "stream")
				key := fmt.Sprint(session, stream)
				latest[key]++
				data := rapid.SliceOfN(rapid.Byte(), 0, 30).Draw(t, "data")
				e := store.Event{ID: store.EventID{Stream: stream, Sequence: latest[key]}, Data: data}
				if err := memory.Append(t.Context(), session, e); err != nil {
					t.Fatalf("Append: %v", err)
				}
				e.Data = slices.Clone(data)
				clear(data) // the store must have its own copy
				all[session] = append(all[session], e)
			},
			"forget": func(t *rapid.T) {
				session := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "session")
				memory.Forget(session)
				delete(all, session)
			},
			"": func(t *rapid.T) {
				for session, events := range all {
					var kept []store.Event
					sum := 0
					for _, e := range slices.Backward(events) {
						if sum += len(e.Data); len(kept) == most || sum > size {
							break
						}
						kept = append(kept, e)
					}
					slices.Reverse(kept)
					for stream := range int64(3) {
						var want []store.Event
						for _, e := range kept {
							if e.ID.Stream == stream && e.ID.Sequence > 1 {
								want = append(want, e)
							}
						}
						got := behind(t, memory, session, store.EventID{Stream: stream, Sequence: 1})
						if !slices.EqualFunc(got, want, func(a, b store.Event) bool {
							return a.ID == b.ID && string(a.Data) == string(b.Data)
						}) {
							t.Fatalf("session %s, stream %d: got %v, want %v", session, stream, got, want)
						}
					}
				}
			},
		})
	})
}

func TestTotalEventBytesAreLimited(t *testing.T) {
	memory := store.NewMemoryEvents(0, 64<<20)
	data := make([]byte, 30<<20)
	for _, session := range []string{"first", "second", "third"} {
		e := store.Event{ID: store.EventID{Sequence: 1}, Data: data}
		if err := memory.Append(t.Context(), session, e); err != nil {
			t.Fatalf("Append: %v", err)
		}
	}
	for session, want := range map[string]int{"first": 0, "second": 1, "third": 1} {
		got := 0
		for range memory.Behind(t.Context(), session, store.EventID{}) {
			got++
		}
		if got != want {
			t.Errorf("the %s session has %d events, want %d: the oldest go first", session, got, want)
		}
	}
}
