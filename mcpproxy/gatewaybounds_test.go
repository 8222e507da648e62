package mcpproxy

import (
	"strconv"
	"strings"
	"testing"
)

func TestGatewayMemoryIsBounded(t *testing.T) {
	var o owners
	long := strings.Repeat("x", 1000)
	for i := range 2 * maxOwners / len(long) {
		name := strconv.Itoa(i) + long
		o.note(resources, name, new(member))
		o.note(templates, name, new(member))
		o.note(tools, name, new(member))
	}
	size := 0
	for _, of := range []map[string]*member{o.resources, o.templates} {
		for uri := range of {
			size += len(uri)
		}
	}
	if size > maxOwners || size < maxOwners*9/10 {
		t.Errorf("URIs of %d bytes are remembered, want %d at most, and not much less", size, maxOwners)
	}
}

// For a known URI, the gateway asks only its owner. Otherwise it asks members with a matching template, then the
// others.
func TestResourceReadAsksMembersInOrder(t *testing.T) {
	members := []*member{{name: "a"}, {name: "b"}, {name: "c"}, {name: "d"}}
	var o owners
	o.note(resources, "x://1", members[1])
	o.note(templates, "x://{n}", members[2])
	o.note(templates, "x://long/{n}", members[3])
	o.note(templates, "{+any}", members[1])
	for _, test := range []struct{ uri, want string }{
		{"x://1", "b"}, {"x://{n}", "c"}, {"x://2", "cbad"}, {"x://long/2", "dcba"}, {"y://2", "bacd"},
	} {
		all, listed := o.of(test.uri, members)
		var got strings.Builder
		for _, m := range all {
			got.WriteString(m.name)
		}
		if got.String() != test.want || listed != (len(test.want) == 1) {
			t.Errorf("%s: asked %s, listed %v, want %s", test.uri, got.String(), listed, test.want)
		}
	}
}
