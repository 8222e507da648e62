package jsonrpc_test

import (
	"encoding/json"
	"math"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
)

func TestIDsSurviveEveryEncoding(t *testing.T) {
	for _, tt := range []struct {
		id         jsonrpc.ID
		wire, text string
	}{
		{jsonrpc.ID{}, "null", ""}, {jsonrpc.IntID(0), "0", "0"}, {jsonrpc.IntID(-7), "-7", "-7"},
		{jsonrpc.IntID(math.MaxInt64), "9223372036854775807", "9223372036854775807"},
		{jsonrpc.IntID(math.MinInt64), "-9223372036854775808", "-9223372036854775808"}, {jsonrpc.StringID(""), `""`, ""},
		{jsonrpc.StringID("42"), `"42"`, "42"},
		{jsonrpc.StringID("a\"\n观"), `"a\"\n观"`, "a\"\n观"},
	} {
		if got := string(tt.id.AppendJSON(nil)); got != tt.wire {
			t.Errorf("%#v on the wire is %s, want %s", tt.id, got, tt.wire)
		}
		if got := tt.id.String(); got != tt.text {
			t.Errorf("%#v is %q for people, want %q", tt.id, got, tt.text)
		}
		for name, codec := range map[string]struct {
			marshal   func(any) ([]byte, error)
			unmarshal func([]byte, any) error
		}{
			"v1": {json.Marshal, json.Unmarshal},
			"v2": {func(v any) ([]byte, error) {
				return jsonv2.Marshal(v)
			}, func(b []byte, v any) error { return jsonv2.Unmarshal(b, v) }},
		} {
			b, err := codec.marshal(struct{ ID jsonrpc.ID }{tt.id})
			var back struct{ ID jsonrpc.ID }
			if err == nil {
				err = codec.unmarshal(b, &back)
			}
			if err != nil || back.ID != tt.id {
				t.Errorf("json %s: %#v comes back as %#v from %s (%v)", name, tt.id, back.ID, b, err)
			}
		}
	}
}

func TestIDsOfWrongTypesAreRefused(t *testing.T) {
	for _, raw := range []string{`1.5`, `1e30`, `true`, `{}`, `[]`, `9223372036854775808`, `"a`, `"a"b`, ``, `nul`} {
		id := jsonrpc.IntID(1)
		if err := id.UnmarshalJSON([]byte(raw)); err == nil || id != jsonrpc.IntID(1) {
			t.Errorf("UnmarshalJSON(%s): %v, id is %v, want an error and the id as it was", raw, err, id)
		}
		if got, ok := jsonrpc.ParseID([]byte(raw)); ok {
			t.Errorf("ParseID(%s) = %v, want none", raw, got)
		}
	}
}

func TestNumberAndStringAreDifferentIDs(t *testing.T) {
	if jsonrpc.IntID(42) == jsonrpc.StringID("42") || jsonrpc.IntID(0) == (jsonrpc.ID{}) ||
		jsonrpc.StringID("") == (jsonrpc.ID{}) {
		t.Error("ids of different kinds are equal")
	}
	if !(jsonrpc.ID{}).IsZero() || jsonrpc.IntID(0).IsZero() || jsonrpc.StringID("").IsZero() {
		t.Error("IsZero is not about having an id")
	}
	if n, ok := jsonrpc.IntID(42).Int(); n != 42 || !ok {
		t.Errorf("IntID(42).Int() = %d, %v", n, ok)
	}
	if _, ok := jsonrpc.StringID("42").Int(); ok {
		t.Error("StringID(42).Int() reports true")
	}
	if s, ok := jsonrpc.StringID("a").Text(); s != "a" || !ok {
		t.Errorf("StringID(a).Text() = %q, %v", s, ok)
	}
	if _, ok := jsonrpc.IntID(42).Text(); ok {
		t.Error("IntID(42).Text() reports true")
	}
}
