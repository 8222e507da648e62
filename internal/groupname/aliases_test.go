package groupname

import (
	"strconv"
	"strings"
	"testing"
)

func TestAliasMemoryIsBounded(t *testing.T) {
	var a Aliases
	long := strings.Repeat("x", 1000)
	for i := range 2 * MaxAliases / len(long) {
		name := strconv.Itoa(i) + long
		a.Add(name, name)
	}
	size := 0
	for name, own := range a.names {
		size += len(name) + len(own)
	}
	if size > MaxAliases || size < MaxAliases*9/10 || a.Len() != len(a.names) {
		t.Errorf("names of %d bytes are remembered, want %d at most, and not much less", size, MaxAliases)
	}
	if own, known := a.Own("0" + long); !known || own != "0"+long {
		t.Errorf("the first name: got %v and %.10s, want it remembered", known, own)
	}
	if _, known := a.Own("other"); known {
		t.Error("a name that was not added is remembered")
	}
}
