package jsonscan_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

// transcript iterates over the object or array at the beginning of text and returns a log of the members or elements.
func transcript(text string) string {
	var b strings.Builder
	frame := []byte(text)
	if strings.HasPrefix(strings.TrimLeft(text, " \n"), "[") {
		a := jsonscan.ArrayAt(frame, 0)
		for a.Next() {
			fmt.Fprintf(&b, "%d:%s ", a.At(), a.Raw())
		}
		fmt.Fprint(&b, "end ", a.End(), " ", a.Err())
		return b.String()
	}
	o := jsonscan.ObjectAt(frame, 0)
	for o.Next() {
		fmt.Fprintf(&b, "%d:%s=%d:%s ", o.KeyAt(), o.Key(), o.At(), o.Raw())
	}
	fmt.Fprint(&b, "end ", o.End(), " ", o.Err())
	return b.String()
}

func TestWalksVisitEveryMemberAndElement(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{`{}`, "end 2 <nil>"}, {` { } x`, "end 4 <nil>"}, {`[]`, "end 2 <nil>"}, {" \n[ ] x", "end 5 <nil>"},
		{`{"a":1}`, "1:a=5:1 end 7 <nil>"}, {`{ "a" : [1] , "b":{"c":2} } `, "2:a=8:[1] 14:b=18:{\"c\":2} end 27 <nil>"},
		{`{"\u0061\n":null,"":""}`, "1:a\n=12:null 17:=20:\"\" end 23 <nil>"},
		{`[1, "x" ,{}]`, "1:1 4:\"x\" 9:{} end 12 <nil>"},

		{`{`, "end 1 unexpected end of JSON at offset 1"}, {`{,`, "end 1 invalid character ',' at offset 1"},
		{`{1`, "end 1 invalid character '1' at offset 1"},
		{`{"a"1`, "end 4 invalid character '1' at offset 4"}, {`{"a":1,}`, "1:a=5:1 end 7 invalid character '}' at offset 7"},
		{`{"a":1]`, "1:a=5:1 end 6 invalid character ']' at offset 6"},
		{`{"a":x`, "1:a=5: end 5 invalid character 'x' at offset 5"},
		{`{"a":1 "b"`, "1:a=5:1 end 7 invalid character '\"' at offset 7"},
		{`{"a\q":1}`, "end 1 invalid character 'q' at offset 4"},
		{`[,1]`, "end 1 invalid character ',' at offset 1"}, {`[1,,`, "1:1 3: end 3 invalid character ',' at offset 3"},
		{`[1`, "1:1 end 2 unexpected end of JSON at offset 2"},
		{`[1}`, "1:1 end 2 invalid character '}' at offset 2"}, {`[1,]`, "1:1 3: end 3 invalid character ']' at offset 3"},
		{`12`, "end 0 no object at offset 0"}, {``, "end 0 unexpected end of JSON at offset 0"},
		{`x`, "end 0 invalid character 'x' at offset 0"},
	} {
		if diff := cmp.Diff(tt.want, transcript(tt.text)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", tt.text, diff)
		}
	}
}

func TestArrayAtRefusesOtherValues(t *testing.T) {
	a := jsonscan.ArrayAt([]byte(`{"a":1}`), 0)
	if a.Next() {
		t.Error("Next on an object is true")
	}
	if mistyped, ok := errors.AsType[*jsonscan.TypeError](a.Err()); !ok || mistyped.Want != "array" {
		t.Errorf("Err() = %v, want a *TypeError for an array", a.Err())
	}
}

func TestUnreadValuesAreValidated(t *testing.T) {
	o := jsonscan.ObjectAt([]byte(`{"a":{"b":nul},"c":1}`), 0)
	n := 0
	for o.Next() {
		n++
	}
	if n != 1 || o.Err() == nil || o.Err().Error() != "invalid character '}' at offset 13" {
		t.Errorf("walk over a broken value: %d members, error %v, want 1 and invalid character '}' at offset 13", n, o.Err())
	}
	if o.Next() {
		t.Error("Next after an error is true")
	}
}

func TestTypedValuesAreReadAndChecked(t *testing.T) {
	text := []byte(`{"s":"a\u0062","i":-42,"f":2.5e-1,"yes":true,"no":false,"null":null,"raw":[1],"taken":{"x":1},` +
		`"unread":[{}]}`)
	got := map[string]any{}
	o := jsonscan.ObjectAt(text, 0)
	for o.Next() {
		name := string(o.Key())
		switch name {
		case "s":
			got[name] = o.Text()
		case "i":
			got[name] = o.Int()
		case "f":
			got[name] = o.Float()
		case "yes", "no":
			got[name] = o.Bool()
		case "null":
			got[name] = o.Null()
		case "raw":
			got[name+"?"] = o.Null()
			got[name] = string(o.Raw())
		case "taken":
			o.Take(jsonscan.Value(text, o.At()))
		}
	}
	want := map[string]any{"s": "ab", "i": int64(-42), "f": 0.25, "yes": true, "no": false, "null": true, "raw?": false,
		"raw": "[1]"}
	if diff := cmp.Diff(want, got); diff != "" || o.Err() != nil || o.End() != len(text) {
		t.Errorf("error %v, end %d, values (-want +got)\n%s", o.Err(), o.End(), diff)
	}
}

func TestWrongTypesEndTheWalk(t *testing.T) {
	for _, tt := range []struct {
		name, value, want string
		read              func(*jsonscan.Object)
	}{
		{"text", `12`, "no string at offset 5", func(o *jsonscan.Object) { o.Text() }},
		{"text", `"\x"`, "invalid character 'x' at offset 7", func(o *jsonscan.Object) { o.Text() }},
		{"integer", `1.5`, "no integer at offset 5", func(o *jsonscan.Object) { o.Int() }},
		{"integer", `"1"`, "no integer at offset 5", func(o *jsonscan.Object) { o.Int() }},
		{"integer", `-`, "invalid character ',' at offset 6", func(o *jsonscan.Object) { o.Int() }},
		{"number", `"1"`, "no number at offset 5", func(o *jsonscan.Object) { o.Float() }},
		{"number", `1e999`, "no number at offset 5", func(o *jsonscan.Object) { o.Float() }},
		{"number", `1.`, "invalid character ',' at offset 7", func(o *jsonscan.Object) { o.Float() }},
		{"boolean", `null`, "no boolean at offset 5", func(o *jsonscan.Object) { o.Bool() }},
		{"boolean", `trux`, "invalid character 'x' at offset 8", func(o *jsonscan.Object) { o.Bool() }},
		{"null", `nux`, "invalid character 'x' at offset 7", func(o *jsonscan.Object) { o.Null() }},
		{"taken", `1`, "the decoder's own", func(o *jsonscan.Object) { o.Take(6, errors.New("the decoder's own")) }},
		{"failed", `1`, "first", func(o *jsonscan.Object) { o.Fail(errors.New("first")); o.Fail(errors.New("second")) }},
	} {
		o := jsonscan.ObjectAt([]byte(`{"a":`+tt.value+`,"b":1}`), 0)
		n := 0
		for o.Next() {
			n++
			tt.read(&o)
		}
		if n != 1 || o.Err() == nil || o.Err().Error() != tt.want {
			t.Errorf("%s from %s: %d members, error %v, want 1 and %q", tt.name, tt.value, n, o.Err(), tt.want)
		}
	}
}

func TestAppendingToRawKeepsTheText(t *testing.T) {
	text := []byte(`{"a":1,"b":2}`)
	o := jsonscan.ObjectAt(text, 0)
	o.Next()
	_ = append(o.Raw(), "999"...)
	if string(text) != `{"a":1,"b":2}` {
		t.Errorf("appending to Raw changed the text to %s", text)
	}
}

func TestWalkDoesNotChangeTheText(t *testing.T) {
	text := []byte(`{"\u0061":"\u0062","\u0063":{"\u0064":1}}`)
	before := bytes.Clone(text)
	var keys []string
	o := jsonscan.ObjectAt(text, 0)
	for o.Next() {
		keys = append(keys, string(o.Key()))
		o.Raw()
	}
	if diff := cmp.Diff([]string{"a", "c"}, keys); diff != "" {
		t.Errorf("keys (-want +got)\n%s", diff)
	}
	if !bytes.Equal(before, text) {
		t.Errorf("text is %s now, want %s", text, before)
	}
}

func TestSeenDetectsRepetitions(t *testing.T) {
	var s jsonscan.Seen
	for n := range uint(64) {
		if s.Again(n) {
			t.Errorf("name %d was met before its first meeting", n)
		}
		if !s.Again(n) {
			t.Errorf("name %d was not met before its second meeting", n)
		}
	}
}

func TestResumeContinuesAWalk(t *testing.T) {
	text := []byte(`{"a":1 , "b":2}x`)
	var o jsonscan.Object
	o.Resume(text, len(`{"a":1`))
	if !o.Next() || string(o.Key()) != "b" || o.Int() != 2 || o.Next() || o.Err() != nil || o.End() != len(text)-1 {
		t.Errorf("stopped at %q of %s, offset %d, %v; want b to be 2 and the object to end with its bracket", o.Key(), text,
			o.End(), o.Err())
	}
}
