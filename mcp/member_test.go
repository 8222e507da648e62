package mcp

import "testing"

func TestEveryMemberIsFoundByItsName(t *testing.T) {
	if members > 64 {
		t.Fatalf("there are %d members, want no more than a word has bits", members)
	}
	for m := otherMember + 1; m < members; m++ {
		name := memberNames[m]
		if name == "" {
			t.Errorf("member %d has no name", m)
			continue
		}
		if got := memberOf([]byte(name)); got != m {
			t.Errorf("memberOf(%q) = %d (%q), want %d: where hashes collide, choose other factors in memberHash",
				name, got, memberNames[got], m)
		}
		for _, other := range []string{name + "s", name[:len(name)-1], "X" + name[1:]} {
			if got := memberOf([]byte(other)); got != otherMember && memberNames[got] != other {
				t.Errorf("memberOf(%q) = %q, want none", other, memberNames[got])
			}
		}
	}
	if got := memberOf(nil); got != otherMember {
		t.Errorf("memberOf of an empty name = %d, want none", got)
	}
}
