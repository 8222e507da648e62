package mcpserver

import (
	"fmt"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/mcp"
)

// keptOf returns how many events of a session a store has.
func (s *memoryStore) keptOf(session string) int {
	if k := s.sessions[session]; k != nil {
		return len(k.events)
	}
	return 0
}

func TestEventsOfOneAccountLeaveThoseOfOthers(t *testing.T) {
	hostile, honest := account{name: "hostile"}, account{name: "honest"}
	for name, who := range map[string]account{"of one account": hostile, "without an account": {}} {
		t.Run(name, func(t *testing.T) {
			store := NewMemoryEventStore(0, 0).(*memoryStore)
			store.total = 1 << 20
			keep := func(who account, session string, sequence, size int) {
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
			if who == (account{}) {
				sessions = 1
			}
			for i := range 50_000 { // most of them small: they take memory too
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

// TestHoldersOfEventsAreKnownByWhatTheyHold does anything to a store, and looks at its books.
func TestHoldersOfEventsAreKnownByWhatTheyHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		store := NewMemoryEventStore(5, 2000).(*memoryStore)
		store.total = 3000
		sequence := int64(0)
		session := rapid.SampledFrom([]string{"a", "b", "c", "d", "e"})
		t.Repeat(map[string]func(*rapid.T){
			"keep": func(t *rapid.T) {
				id := session.Draw(t, "session")
				var who account
				if id < "d" {
					who.name = map[string]string{"a": "x", "b": "x", "c": "y"}[id]
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
					t.Fatalf("%d bytes of %d holders are kept, the books say %d of %d", total, len(held), store.bytes, store.holders.Len())
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

func TestASessionOverHTTPKeepsItsEventsOnItsAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := NewMemoryEventStore(0, 0).(*memoryStore)
		h := New(mcp.Implementation{Name: "test", Version: "1"}, nil).HTTPHandler(&HTTPOptions{Events: store})
		who := account{name: "alice"}
		s := h.makeSession("session", "alice", who, h.http1, nil)
		if err := s.general.notify(t.Context(), []byte(`{}`)); err != nil {
			t.Fatal(err)
		}
		if holder := store.holders.byKey[eventHolderKey{who: who}]; holder == nil || holder.bytes != 2+eventCost {
			t.Errorf("the account holds %+v, want one event", holder)
		}
		h.end(s)
		if err := h.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if n := store.holders.Len(); n != 0 || store.bytes != 0 {
			t.Errorf("after the session %d hold %d bytes, want none", n, store.bytes)
		}
	})
}

func TestWhatIsWatchedIsGivenBackToTheRoom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		room := newWatchRoom(5000)
		lists := make([]*watchlist, 3)
		for i := range lists {
			lists[i] = new(watchlist)
			lists[i].join(room, account{name: fmt.Sprint(i % 2)})
		}
		list := func(t *rapid.T) *watchlist { return rapid.SampledFrom(lists).Draw(t, "list") }
		uri := rapid.StringMatching(`[ab]{1,2}|c{500}`)
		reserved := 0
		t.Repeat(map[string]func(*rapid.T){
			"add":    func(t *rapid.T) { list(t).add(uri.Draw(t, "uri")) },
			"remove": func(t *rapid.T) { list(t).remove(uri.Draw(t, "uri")) },
			"replace": func(t *rapid.T) {
				if reserved == 0 { // those that reserve are never replaced
					list(t).replace(rapid.SliceOfNDistinct(uri, 0, 3, rapid.ID).Draw(t, "uris"))
				}
			},
			"reserve": func(t *rapid.T) {
				if list(t).reserve(300) {
					reserved += 300
				}
			},
			"": func(t *rapid.T) {
				want := reserved
				for _, w := range lists {
					for uri := range w.uris {
						want += len(uri) + watchCost
					}
				}
				if room.bytes.used != want {
					t.Fatalf("%d bytes of the room are taken, want %d", room.bytes.used, want)
				}
			},
		})
		for _, w := range lists {
			w.release()
			w.remove("a")
		}
		if room.bytes.used != 0 || len(room.bytes.held) != 0 {
			t.Fatalf("afterwards %d bytes are taken, want none", room.bytes.used)
		}
	})
}
