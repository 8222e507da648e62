package mcpserver

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/internal/server/quota"
)

func TestWatchlistIsRestoredFromSnapshot(t *testing.T) {
	var nobody *watchlist
	if nobody.has("x") || nobody.snapshot() != nil {
		t.Error("the list of nobody has something on it, want nothing")
	}
	var first, second watchlist
	for _, uri := range []string{"test://b", "test://a", "test://b", "test://c"} {
		first.add(uri)
	}
	first.remove("test://c")
	for _, uri := range first.snapshot() {
		second.add(uri)
	}
	if got, want := second.snapshot(), []string{"test://a", "test://b"}; !slices.Equal(got, want) ||
		second.bytes != first.bytes {
		t.Errorf("restored, it is %q of %d bytes, want %q of %d", got, second.bytes, want, first.bytes)
	}
}

func TestWatchlistsReserveAndReleaseMemory(t *testing.T) {
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
				if reserved == 0 { // replace is never called for a list with a reservation
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
