package store

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// keptOf returns the number of stored events of a session.
func (s *memoryEvents) keptOf(session string) int {
	if k := s.sessions[session]; k != nil {
		return len(k.events)
	}
	return 0
}

func TestEventsOfOneAccountDoNotEvictOthers(t *testing.T) {
	hostile, honest := "hostile", "honest"
	for name, who := range map[string]any{"of one account": hostile, "without an account": nil} {
		t.Run(name, func(t *testing.T) {
			store := NewMemoryEvents(0, 0).(*memoryEvents)
			store.total = 1 << 20
			keep := func(who any, session string, sequence, size int) {
				e := Event{ID: EventID{Sequence: int64(sequence)}, Data: make([]byte, size)}
				if err := store.keep(who, session, e); err != nil {
					t.Fatal(err)
				}
				if store.bytes > store.total {
					t.Fatalf("%d bytes are kept, want no more than %d", store.bytes, store.total)
				}
			}
			for i := range 10 {
				keep(honest, "honest", i+1, 10_000)
			}
			sessions := 1000
			if who == nil {
				sessions = 1
			}
			for i := range 50_000 { // most events are small, and small events take memory too
				keep(who, fmt.Sprint("hostile ", i%sessions), i+1, i%3*500)
			}
			if n := store.keptOf("honest"); n != 10 {
				t.Errorf("%d of 10 events of the honest client are kept, want all", n)
			}
			keep(honest, "honest", 11, 10_000)
			if n := store.keptOf("honest"); n != 11 {
				t.Errorf("%d of 11 events of the honest client are kept, want room for another", n)
			}
		})
	}
}

// TestEventHolderBookkeepingMatchesStoredEvents changes a store at random and checks the state of its holders.
func TestEventHolderBookkeepingMatchesStoredEvents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		store := NewMemoryEvents(5, 2000).(*memoryEvents)
		store.total = 3000
		sequence := int64(0)
		session := rapid.SampledFrom([]string{"a", "b", "c", "d", "e"})
		t.Repeat(map[string]func(*rapid.T){
			"keep": func(t *rapid.T) {
				id := session.Draw(t, "session")
				var who any
				if id < "d" {
					who = map[string]string{"a": "x", "b": "x", "c": "y"}[id]
				}
				sequence++
				e := Event{ID: EventID{Sequence: sequence}, Data: make([]byte, rapid.IntRange(0, 2100).Draw(t, "size"))}
				if err := store.keep(who, id, e); err != nil {
					t.Fatal(err)
				}
			},
			"forget": func(t *rapid.T) { store.Forget(session.Draw(t, "session")) },
			"": func(t *rapid.T) {
				held, total := map[*eventHolder]int{}, 0
				for _, k := range store.sessions {
					for _, e := range k.events {
						held[k.holder] += len(e.Data) + eventCost
						total += len(e.Data) + eventCost
					}
				}
				if total != store.bytes || total > store.total || len(held) != len(store.holders.order) ||
					len(held) != len(store.holders.byKey) {
					t.Fatalf("%d bytes of %d holders are kept, the books say %d of %d", total, len(held), store.bytes,
						store.holders.Len())
				}
				for i, h := range store.holders.order {
					if h.bytes != held[h] || h.place != i || i > 0 && store.holders.Less(i, (i-1)/2) {
						t.Fatalf("holder %d has %d bytes, the books say %d; or it is not in its place", i, held[h], h.bytes)
					}
				}
			},
		})
	})
}
