package schema

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"pgregory.net/rapid"
)

// TestAStreamFindsValidWhatEvaluationDoes: whatever the schema says, and for texts that are no value as well. It pays
// no more for that: a part that fails pays until it does, and a map has no order, so evaluation has many prices, and
// one of them is as high.
func TestAStreamFindsValidWhatEvaluationDoes(t *testing.T) {
	alike := func(tb rapid.TB, s *Schema, instance []byte) (valid bool) {
		evaluation, m := newMeter(t.Context(), len(instance)), newMeter(t.Context(), len(instance))
		want := s.decoded(evaluation, instance)
		got := s.streams(m, instance)
		if errors.Is(want, ErrBudget) { // a stream may come further
			return false
		}
		if m.err != nil {
			tb.Fatalf("%s against %s: want a verdict, got %v", instance, s.raw, m.err)
		}
		if got != (want == nil) && !s.scoped {
			tb.Fatalf("%s against %s: want valid %v, got %v (%v)", instance, s.raw, want == nil, got, want)
		}
		for tries := 1; got && m.left < evaluation.left; tries++ {
			if tries == 1000 {
				tb.Fatalf("%s against %s: want no more than evaluation pays, got %d steps more", instance, s.raw,
					evaluation.left-m.left)
			}
			evaluation = newMeter(t.Context(), len(instance))
			_ = s.decoded(evaluation, instance)
		}
		return got
	}
	for _, raw := range []string{
		`true`, `false`, `{}`, `{"type":"integer"}`, `{"type":["number","null"]}`, `{"type":"string","maxLength":3}`,
		`{"items":{"type":"integer"},"minItems":1,"maxItems":2}`, `{"prefixItems":[true,{"type":"string"}],"items":false}`,
		`{"properties":{"a":{"minimum":1},"é":true},"required":["a","a"],"additionalProperties":false}`,
		`{"required":["b"],"minProperties":2,"maxProperties":2}`, `{"const":{"a":1.0}}`,
		`{"enum":[1,"a",{"a":1},[1],null,true]}`,
		`{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b","title":"a"},"b":{"type":"object"}}}`,
		`{"$ref":"#/$defs/a","minProperties":2,"$defs":{"a":{"type":"object"}}}`,
		`{"$schema":"http://json-schema.org/draft-07/schema#",
			"items":[{"type":"integer"}],"additionalItems":{"type":"string"}}`,
		`{"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/a","minimum":9,"definitions":{"a":{}}}`,
	} {
		s := mustCompile(t, raw)
		for _, instance := range []string{
			``, ` `, `nul`, `null`, `true`, `1 2`, `[`, `[1,]`, `{"a"}`, `{"a":1,"a":1}`, `{"a":1,"\u0061":1}`, `{"\u0061":2}`,
			`{"\u00e9":1,"a":1}`, `{"\ud800":1}`, `"\ud800"`, "\"\xff\"", `"abcd"`, `"\u0061"`, `1`, `-0`, `1.0`, `1.5`,
			`1e2`, `1e400`,
			`18446744073709551616`, `-9223372036854775808`, `123456789012345678`, `{"a":1e400}`, `[1e400]`, `{"a":1,"b":{}}`,
			`[]`, `[1]`, `[1,2]`, `[1,"a"]`, `[1,"a",3]`, `[1.0,"a","b"]`, ` { "a" : 1.0 } `, `{"b":1,"c":2}`, `{"b":1}`,
			`[null]`,
			strings.Repeat("9", 400), `0.` + strings.Repeat("0", 400) + `1`,
			strings.Repeat("[", MaxInstanceDepth) + strings.Repeat("]", MaxInstanceDepth),
			strings.Repeat("[", MaxInstanceDepth+1) + strings.Repeat("]", MaxInstanceDepth+1),
			strings.Repeat(`{"a":`, MaxInstanceDepth+1) + "1" + strings.Repeat("}", MaxInstanceDepth+1),
		} {
			alike(t, s, []byte(instance))
		}
	}
	valid := 0
	rapid.Check(t, func(t *rapid.T) {
		root := drawSchema(t, 3)
		root["$defs"] = map[string]any{"x": drawSchema(t, 2), "y": drawSchema(t, 2), "z": drawSchema(t, 1)}
		s, err := Compile(must(json.Marshal(root)))
		if errors.Is(err, ErrCycle) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			if alike(t, s, must(json.Marshal(drawValue(t, 3)))) {
				valid++
			}
		}
	})
	if !testing.Short() && valid == 0 {
		t.Error("want values that are valid, got none")
	}
}

// streamed are the fields of rules that a stream heeds by itself.
var streamed = []string{
	"types", "prefix", "rest", "minItems", "maxItems", "properties", "named", "needed", "others", "minProperties",
	"maxProperties", "required",
}

// attached are those that mean nothing without another, which is not in streamed.
var attached = []string{"more", "minContains", "maxContains", "then", "otherwise"}

// TestAStreamKnowsEveryKeyword: it heeds it, or leaves it to evaluation.
func TestAStreamKnowsEveryKeyword(t *testing.T) {
	for f := range reflect.TypeFor[rules]().Fields() {
		var r rules
		at := reflect.NewAt(f.Type, unsafe.Add(unsafe.Pointer(&r), f.Offset)).Elem()
		switch f.Type.Kind() {
		case reflect.Pointer:
			at.Set(reflect.New(f.Type.Elem()))
		case reflect.Slice:
			at.Set(reflect.MakeSlice(f.Type, 1, 1))
		case reflect.Map:
			at.Set(reflect.MakeMap(f.Type))
			at.SetMapIndex(reflect.Zero(f.Type.Key()), reflect.Zero(f.Type.Elem()))
		case reflect.Bool:
			at.SetBool(true)
		}
		known := slices.Contains(streamed, f.Name) || slices.Contains(attached, f.Name)
		if left := r.needsWhole() || r.measure(); known == left {
			t.Errorf("%s: want it in one of the lists above, or asked for in needsWhole or measure", f.Name)
		}
	}
}

// TestAValueIsReadWithoutBeingDecoded: what a tool's result costs does not grow with its values.
func TestAValueIsReadWithoutBeingDecoded(t *testing.T) {
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
	if few, many := cost(list(10)), cost(list(1000)); many > few+1000*1.1 { // a fraction is one
		t.Errorf("want an allocation for each fraction, got %v for 10 items, %v for 1000", few, many)
	}
}
