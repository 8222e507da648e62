package mcpserver

import (
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

type item struct {
	numbered
	name string
}

func (i *item) key() string { return i.name }

// TestPagesIncludeEveryUnchangedEntry reads pages while the server adds and removes entries.
func TestPagesIncludeEveryUnchangedEntry(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r registry[*item]
		next := 0
		add := func() string {
			next++
			name := strconv.Itoa(next)
			if !r.add(&item{name: name}) {
				t.Fatalf("%s was not added, want it: the name is new", name)
			}
			return name
		}
		var stable []string
		for range rapid.IntRange(0, 30).Draw(t, "n") {
			stable = append(stable, add())
		}
		size := rapid.IntRange(1, 7).Draw(t, "size")
		var seen []string
		for cursor := (*string)(nil); ; {
			after, ok := readCursor(cursor)
			if !ok {
				t.Fatalf("cursor %q is refused, want it read", *cursor)
			}
			some, more := r.after(after, size)
			if len(some) > size {
				t.Fatalf("a page has %d entries, want %d at most", len(some), size)
			}
			for _, i := range some {
				seen = append(seen, i.name)
			}
			if !more {
				break
			}
			cursor = new(cursorAfter(some[len(some)-1].number()))
			if rapid.Bool().Draw(t, "add") {
				add()
			}
			if rapid.Bool().Draw(t, "remove") && len(stable) > 0 {
				at := rapid.IntRange(0, len(stable)-1).Draw(t, "which")
				if !r.remove(stable[at], "nobody") || r.remove(stable[at]) {
					t.Fatalf("removing %s twice did not report true and then false", stable[at])
				}
				stable = slices.Delete(stable, at, at+1)
			}
		}
		at := 0
		for _, name := range seen {
			if at < len(stable) && name == stable[at] {
				at++
			}
		}
		if at < len(stable) {
			t.Fatalf("the pages show %v, want in order all that was there from first to last: %v", seen, stable)
		}
		if twice := slices.Sorted(slices.Values(seen)); len(slices.Compact(twice)) != len(seen) {
			t.Fatalf("the pages show %v, want nothing twice", seen)
		}
	})
}

func TestLaterRemovalDoesNotChangePage(t *testing.T) {
	var r registry[*item]
	for _, name := range []string{"a", "b", "c"} {
		r.add(&item{name: name})
	}
	page, _ := r.after(0, 3)
	r.remove("a")
	if page[0].name != "a" || page[2].name != "c" {
		t.Errorf("the page is now %s, %v, want it unchanged", page[0].name, page[2])
	}
}

func TestForeignCursorsAreRefused(t *testing.T) {
	for _, cursor := range []string{"", "x", "!", "YWZ0ZXI6", "YWZ0ZXI6MA", "YWZ0ZXI6LTE", "YWZ0ZXI6MDE", "YWZ0ZXI6MQ==",
		"YmVmb3JlMQ"} {
		if n, ok := readCursor(&cursor); ok {
			t.Errorf("cursor %q is read as %d, want it refused", cursor, n)
		}
	}
}
