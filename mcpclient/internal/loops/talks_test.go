package loops

import (
	"bytes"
	"testing"
)

func TestConversationsAreBounded(t *testing.T) {
	var talks Talks
	first := talks.Of(1)
	for id := range uint64(10 * MaxTalks) {
		talks.Of(id + 2)
		if talks.Of(1) != first {
			t.Fatal("the conversation that is used is kept")
		}
	}
	if n := len(talks.all); n != MaxTalks {
		t.Errorf("got %d conversations, want %d", n, MaxTalks)
	}
	if none := talks.Of(0); talks.Of(0) != none || len(talks.all) != MaxTalks {
		t.Error("want one for the calls of no conversation, which takes no room")
	}
}

func TestHashCoversLengthBeginningAndEnd(t *testing.T) {
	large := bytes.Repeat([]byte("x"), 4*Whole)
	other := func(at, length int) []byte {
		b := bytes.Clone(large[:length])
		b[at] = 'y'
		return b
	}
	for name, tc := range map[string]struct {
		a, b []byte
		same bool
	}{
		"the same":               {large, bytes.Clone(large), true},
		"another length":         {large, large[1:], false},
		"another beginning":      {large, other(end-1, len(large)), false},
		"another end":            {large, other(len(large)-end, len(large)), false},
		"another middle":         {large, other(2*Whole, len(large)), true},
		"whole, another middle":  {large[:Whole], other(Whole/2, Whole), false},
		"nothing and a zero":     {nil, []byte{0}, false},
		"as large, and one more": {large[:Whole], large[:Whole+1], false},
	} {
		if got := Hash(tc.a) == Hash(tc.b); got != tc.same {
			t.Errorf("%s: got %v", name, got)
		}
	}
	if mix(1, 2) == mix(2, 1) || mix(0, 0) == mix(0, 1) {
		t.Error("a hash of two says which is which")
	}
}

var sink Loop

func BenchmarkAdd(b *testing.B) {
	for name, words := range map[string]string{
		"honest": "", "poll": "A1=x?", "loop": "A1=x", "alternation": "A1=x B1=y",
	} {
		b.Run(name, func(b *testing.B) {
			var r Ring
			calls := of(words)
			for i := 0; b.Loop(); i++ {
				c := Call{Tool: 1, Args: uint64(i) * 0x9e3779b97f4a7c15, Result: uint64(i) * 0xc2b2ae3d27d4eb4f}
				if len(calls) > 0 {
					c = calls[i%len(calls)]
				}
				sink = r.Add(c, usual)
			}
		})
	}
}
