package mcp

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestObjectKeepsUnknownMembersByteForByte(t *testing.T) {
	before := Object("{ \"a\" : 1.00,\"b\":\"\\u00e9\",\n\"c\":[ 1 ] }")
	with, err := before.With("b", true)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"a":1.00,"b":true,"c":[ 1 ]}`; string(with) != want {
		t.Errorf("With an old name gives %s, want %s", with, want)
	}
	with, err = before.With("d", json.RawMessage("{ }"))
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"a":1.00,"b":"\u00e9","c":[ 1 ],"d":{ }}`; string(with) != want {
		t.Errorf("With a new name gives %s, want %s", with, want)
	}
	if got, want := string(before.Without("a")), `{"b":"\u00e9","c":[ 1 ]}`; got != want {
		t.Errorf("Without gives %s, want %s", got, want)
	}
	if got := before.Without("z"); &got[0] != &before[0] {
		t.Error("Without a name that is not there makes a copy, want the Object itself")
	}
}

func TestObjectReturnsStoredMembers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.MapOf(rapid.String(), rapid.Int()).Draw(t, "members")
		var o Object
		for name, n := range want {
			var err error
			if o, err = o.With(name, -1); err != nil {
				t.Fatal(err)
			}
			if o, err = o.With(name, n); err != nil {
				t.Fatal(err)
			}
		}
		got := map[string]int{}
		for name := range o.All() {
			var n int
			if found, err := o.Decode(name, &n); err != nil || !found {
				t.Fatalf("Decode(%q) = %v, %v, want the member", name, found, err)
			}
			got[name] = n
		}
		if !maps.Equal(got, want) {
			t.Fatalf("got %v out of %s, want %v", got, o, want)
		}
		for name := range want {
			if _, found := o.Without(name).Lookup(name); found {
				t.Fatalf("%q is still there without it", name)
			}
		}
	})
}

func TestObjectDistinguishesAbsentFromEmpty(t *testing.T) {
	for _, c := range []struct {
		text string
		want Object
		ok   bool
	}{
		{`null`, nil, true},
		{`{}`, Object("{}"), true},
		{` {"a":1} `, Object(`{"a":1}`), true},
		{`[]`, nil, false},
		{`"{}"`, nil, false},
		{`1`, nil, false},
	} {
		var got Object
		err := json.Unmarshal([]byte(c.text), &got)
		if (err == nil) != c.ok {
			t.Errorf("Unmarshal(%s): %v, want success: %v", c.text, err, c.ok)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("Unmarshal(%s) (-want +got):\n%s", c.text, diff)
		}
	}
	if text, err := json.Marshal(Object{}); err != nil || string(text) != "{}" {
		t.Errorf("an empty Object is written %s, %v, want {}", text, err)
	}
	if text, err := json.Marshal(Object(`{"a":1}}`)); err == nil {
		t.Errorf("an Object that is not one is written %s, want an error", text)
	}
}

func TestObjectDecode(t *testing.T) {
	o := Object(`{"n":1,"null":null,"text":"a","client":{"name":"c","version":"1"}}`)
	var client Implementation
	if found, err := o.Decode("client", &client); err != nil || !found || client.Name != "c" {
		t.Errorf("Decode of a member = %v, %v, %+v, want it decoded", found, err, client)
	}
	n := 7
	if found, err := o.Decode("null", &n); err != nil || found || n != 7 {
		t.Errorf("Decode of null = %v, %v, %d, want nothing to happen", found, err, n)
	}
	if found, err := o.Decode("none", &n); err != nil || found || n != 7 {
		t.Errorf("Decode of a missing member = %v, %v, %d, want nothing to happen", found, err, n)
	}
	if _, err := o.Decode("text", &n); err == nil || err.Error() != "text is not an integer" {
		t.Errorf("Decode of a wrong type: %v, want text is not an integer", err)
	}
	if found, err := Object(nil).Decode("n", &n); err != nil || found {
		t.Errorf("Decode in an absent Object = %v, %v, want nothing to happen", found, err)
	}
	if _, err := o.With("f", func() {}); err == nil {
		t.Error("With a value that has no JSON succeeds, want an error")
	}
	if got, err := Object(`{"a":1}}`).With("b", 2); err == nil {
		t.Errorf("With on invalid JSON gives %s, want an error", got)
	}
	if got, err := Object(`{"a":1,"b":2,"a":3}`).With("a", 4); err != nil || string(got) != `{"a":4,"b":2}` {
		t.Errorf("With a name that occurs twice gives %s, %v, want one member left", got, err)
	}
}
