package mcpserver

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/mcp"
)

// TestFastResultSignatureMatchesObjectWith compares the fast path of [signature.meta] with [mcp.Object.With].
func TestFastResultSignatureMatchesObjectWith(t *testing.T) {
	s, err := newSignature(mcp.Implementation{Name: "signed", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{`{}`, " { } ", `{"a":1}`, ` { "a" : [1, {"b":{}}] ,"c":"}"  } `, `{"a":1}x`, `{"a":1,}`,
		`[]`, `""`, ``,
		`{"a":`, `{"a":1,"a":2}`, `{"io.modelcontextprotocol/serverInfo":{"name":"mine"}}`, `null`,
		`{"io.modelcontextprotocol\/serverInfo":1,"b":2}`, `{"a":1,"io.modelcontextprotocol/serverInfo":2,"c":3}`}
	rapid.Check(t, func(t *rapid.T) {
		m := mcp.Meta(rapid.OneOf(rapid.SampledFrom(texts),
			rapid.StringMatching(`\{("[a-z"\\]{0,3}":[0-9\[\]]{1,2},?)*\} ?`)).Draw(t, "meta"))
		was := bytes.Clone(m)
		signed := s.meta(m)
		if !bytes.Equal(m, was) {
			t.Fatalf("the handler's own _meta has become %s", m)
		}
		want, err := m.With(mcp.MetaServerInfo, s.identity)
		if err != nil {
			want = m
		}
		if json.Valid(signed) != json.Valid(want) {
			t.Fatalf("%q is signed as %q, want %q", m, signed, want)
		}
		var have, wanted any
		if json.Valid(want) && (json.Unmarshal(signed, &have) != nil || json.Unmarshal(want, &wanted) != nil ||
			!reflect.DeepEqual(have, wanted)) {
			t.Fatalf("%q is signed as %q, want %q", m, signed, want)
		}
	})
}
