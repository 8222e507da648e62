package mcpserver

import (
	"slices"
	"testing"
)

func TestAWatchlistCanBeRestoredFromItsSnapshot(t *testing.T) {
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
