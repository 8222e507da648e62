package mcpserver

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/internal/server/quota"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

func TestASessionOverHTTPKeepsItsEventsOnItsAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events := store.NewMemoryEvents(0, 40<<20) // 64 MiB in all
		h := New(mcp.Implementation{Name: "test", Version: "1"}, nil).HTTPHandler(&HTTPOptions{Events: events})
		send := func(id, name string, size int) *httpSession {
			t.Helper()
			p := new(peer)
			h.recognize(p, h.http1, name, quota.Account{Name: name})
			s := h.makeSession(id, p, nil)
			if err := s.general.Notify(t.Context(), make([]byte, size)); err != nil {
				t.Fatal(err)
			}
			return s
		}
		kept := func(id string) (n int) {
			for range events.Behind(t.Context(), id, store.EventID{}) {
				n++
			}
			return n
		}
		all := []*httpSession{send("bob", "bob", 25<<20), send("one", "alice", 20<<20), send("two", "alice", 20<<20)}
		if kept("bob") != 1 || kept("one") != 0 || kept("two") != 1 {
			t.Errorf("of one account with two sessions and one with the largest, %d, %d and %d events are kept, want the "+
				"first of the former gone",
				kept("one"), kept("two"), kept("bob"))
		}
		for _, s := range all {
			h.end(s)
		}
		if err := h.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if kept("bob")+kept("two") != 0 {
			t.Error("behind the sessions events are kept, want none")
		}
	})
}

func TestWhatIsWatchedIsGivenBackToTheRoom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		room := quota.NewMemory(5000)
		lists := make([]*watchlist, 3)
		for i := range lists {
			lists[i] = new(watchlist)
			lists[i].join(room, quota.Account{Name: fmt.Sprint(i % 2)})
		}
		list := func(t *rapid.T) *watchlist { return rapid.SampledFrom(lists).Draw(t, "list") }
		uri := rapid.SampledFrom([]string{"a", "b", "aa", "ab", "ba", "bb", strings.Repeat("c", 500)})
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
				if used, _ := room.Usage(); used != want {
					t.Fatalf("%d bytes of the room are taken, want %d", used, want)
				}
			},
		})
		for _, w := range lists {
			w.release()
			w.remove("a")
		}
		if used, _ := room.Usage(); used != 0 || room.Accounts() != 0 {
			t.Fatalf("afterwards %d bytes are taken, want none", used)
		}
	})
}
