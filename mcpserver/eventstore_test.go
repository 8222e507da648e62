package mcpserver_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/mcpserver"
)

func behind(t *rapid.T, s mcpserver.EventStore, session string, id mcpserver.EventID) (events []mcpserver.Event) {
	for e, err := range s.Behind(t.Context(), session, id) {
		if err != nil {
			t.Fatalf("Behind: %v", err)
		}
		events = append(events, e)
	}
	return events
}

// TestAMemoryEventStoreKeepsTheLatestWithinItsBounds compares it with a list of all events.
func TestAMemoryEventStoreKeepsTheLatestWithinItsBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(1, 5).Draw(t, "events")
		size := rapid.IntRange(1, 50).Draw(t, "bytes")
		store := mcpserver.NewMemoryEventStore(most, size)
		all := map[string][]mcpserver.Event{}
		latest := map[string]int64{}
		t.Repeat(map[string]func(*rapid.T){
			"append": func(t *rapid.T) {
				session := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "session")
				stream := rapid.Int64Range(0, 2).Draw(t, "stream")
				key := fmt.Sprint(session, stream)
				latest[key]++
				data := rapid.SliceOfN(rapid.Byte(), 0, 30).Draw(t, "data")
				e := mcpserver.Event{ID: mcpserver.EventID{Stream: stream, Sequence: latest[key]}, Data: data}
				if err := store.Append(t.Context(), session, e); err != nil {
					t.Fatalf("Append: %v", err)
				}
				e.Data = slices.Clone(data)
				clear(data) // it is not the store's
				all[session] = append(all[session], e)
			},
			"forget": func(t *rapid.T) {
				session := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "session")
				store.Forget(session)
				delete(all, session)
			},
			"": func(t *rapid.T) {
				for session, events := range all {
					var kept []mcpserver.Event
					sum := 0
					for _, e := range slices.Backward(events) {
						if sum += len(e.Data); len(kept) == most || sum > size {
							break
						}
						kept = append(kept, e)
					}
					slices.Reverse(kept)
					for stream := range int64(3) {
						var want []mcpserver.Event
						for _, e := range kept {
							if e.ID.Stream == stream && e.ID.Sequence > 1 {
								want = append(want, e)
							}
						}
						got := behind(t, store, session, mcpserver.EventID{Stream: stream, Sequence: 1})
						if !slices.EqualFunc(got, want, func(a, b mcpserver.Event) bool { return a.ID == b.ID && string(a.Data) == string(b.Data) }) {
							t.Fatalf("session %s, stream %d: got %v, want %v", session, stream, got, want)
						}
					}
				}
			},
		})
	})
}

func TestTheEventsOfAllSessionsTogetherAreBounded(t *testing.T) {
	store := mcpserver.NewMemoryEventStore(0, 64<<20)
	data := make([]byte, 30<<20)
	for _, session := range []string{"first", "second", "third"} {
		e := mcpserver.Event{ID: mcpserver.EventID{Sequence: 1}, Data: data}
		if err := store.Append(t.Context(), session, e); err != nil {
			t.Fatalf("Append: %v", err)
		}
	}
	for session, want := range map[string]int{"first": 0, "second": 1, "third": 1} {
		got := 0
		for range store.Behind(t.Context(), session, mcpserver.EventID{}) {
			got++
		}
		if got != want {
			t.Errorf("the %s session has %d events, want %d: the oldest go first", session, got, want)
		}
	}
}
