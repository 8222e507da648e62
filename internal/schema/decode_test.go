package schema

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDecodeIsExact(t *testing.T) {
	for _, c := range []struct {
		in   string
		want any
	}{
		{`null`, nil},
		{` true `, true},
		{`"a\u0000\n"`, "a\x00\n"},
		{`"\ud800"`, "\ufffd"},
		{`-0`, int64(0)},
		{`9223372036854775807`, int64(9223372036854775807)},
		{`-9223372036854775808`, int64(-9223372036854775808)},
		{`18446744073709551615`, uint64(18446744073709551615)},
		{`18446744073709551616`, 18446744073709551616.0},
		{`1e2`, 100.0},
		{`1.0`, 1.0},
		{`[]`, []any{}},
		{`{}`, map[string]any{}},
		{`[{"a":[1,"b"]},2]`, []any{map[string]any{"a": []any{int64(1), "b"}}, int64(2)}},
	} {
		got, problem, _ := newMeter(t.Context(), len(c.in)).decode([]byte(c.in), MaxInstanceDepth, false)
		if problem != nil {
			t.Errorf("%s: want a value, got %v", c.in, problem)
		} else if diff := cmp.Diff(c.want, plain(got)); diff != "" {
			t.Errorf("%s: want, got:\n%s", c.in, diff)
		}
	}
}

func TestValidateRefusesInvalidOrMultipleValues(t *testing.T) {
	s := mustCompile(t, `true`)
	for _, c := range []struct{ in, want string }{
		{``, "not JSON: empty"},
		{`{"a":1} {}`, "more than one value"},
		{`{"a":1}]`, "not JSON: invalid character ']' at start of value"},
		{`{"a":[1,{"b":}]}`, "/a/1/b: not JSON: missing value after object name"},
		{`{"a":{"x":1,"x":2}}`, "/a/x: not JSON: duplicate object member name"},
		{`{"a":[1e400]}`, "/a/0: number out of range"},
		{`[1,2`, "not JSON: unexpected EOF"},
		{`["a` + "\xff" + `"]`, "not JSON: invalid UTF-8"},
		{`{"a":NaN}`, "/a: not JSON: invalid character 'N' at start of value"},
		{`'a'`, `not JSON: invalid character '\'' at start of value`},
		{strings.Repeat("[", MaxInstanceDepth) + strings.Repeat("]", MaxInstanceDepth), ""},
		{strings.Repeat("[", MaxInstanceDepth+1), strings.Repeat("/0", MaxInstanceDepth) + ": nested too deep"},
		{strings.Repeat(`{"a":`, MaxInstanceDepth+1), strings.Repeat("/a", MaxInstanceDepth) + ": nested too deep"},
		{`{"` + strings.Repeat("n", 1000) + `":{"a":1,"a":1}}`,
			"/" + strings.Repeat("n", maxShown) + "…/a: not JSON: duplicate object member name"},
	} {
		got := ""
		if err := s.Validate(t.Context(), []byte(c.in)); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%.40s: want %q, got %q", c.in, c.want, got)
		}
	}
}

// FuzzDecode checks that decode agrees with encoding/json on every accepted text.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{`{"a":[1,2.5,"x",null,true,{}]}`, `[1e5,-0,"\ud800\u00e9"]`, `"\uD83D\uDE00"`, ` [ ] `,
		`{"a":1,"a":2}`, `1 2`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, problem, _ := newMeter(t.Context(), len(data)).decode(data, MaxInstanceDepth, false)
		if problem != nil {
			if empty := problem.Message == "not JSON: empty"; empty != (len(bytes.Trim(data, " \t\r\n")) == 0) {
				t.Fatalf("%q: want it decoded, or said what is wrong, got %v", data, problem)
			}
			return
		}
		var want any
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatalf("%q: decoded to %v, want the error %v", data, plain(got), err)
		}
		if got := floats(plain(got)); !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: want %#v, got %#v", data, want, got)
		}
	})
}

// plain returns a value as a Go value.
func plain(v value) any {
	switch v.kind() {
	case '{':
		m := map[string]any{}
		for _, name := range v.sorted() {
			m[string(name.bytes())] = plain(name.next())
		}
		return m
	case '[':
		a := []any{}
		for _, item := range v.items() {
			a = append(a, plain(item))
		}
		return a
	case '"':
		return string(v.bytes())
	case 't', 'f':
		return v.kind() == 't'
	}
	return v.number()
}

// floats converts numbers to the float64 that encoding/json returns.
func floats(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, e := range v {
			v[name] = floats(e)
		}
	case []any:
		for i, e := range v {
			v[i] = floats(e)
		}
	}
	if f, ok := float(v); ok {
		return f
	}
	return v
}

// TestResultIsValidatedWithoutDecoding checks that the memory for a tool's result does not grow with its values.
func TestResultIsValidatedWithoutDecoding(t *testing.T) {
	s := mustCompile(t, `{"type":"array","items":{"type":"object","properties":{
		"id":{"type":"integer"},"name":{"type":"string"},"at":{"$ref":"#/$defs/at"}},"required":["id"]},
		"$defs":{"at":{"type":"object","properties":{"x":{"type":["number","null"]}}}}}`)
	list := func(n int) []byte {
		return []byte("[" + strings.Repeat(`{"id":123456,"name":"some name","at":{"x":1.5,"y":[true]}},`, n) + `{"id":1}]`)
	}
	cost := func(instance []byte) float64 {
		return testing.AllocsPerRun(20, func() {
			if err := s.Validate(t.Context(), instance); err != nil {
				t.Fatal(err)
			}
		})
	}
	if few, many := cost(list(10)), cost(list(1000)); many > few {
		t.Errorf("want no allocation for a value, got %v for 10 items, %v for 1000", few, many)
	}
}
