package schema

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"pgregory.net/rapid"
)

// TestVerdictsAgreeWithTheLibrary checks that our verdict equals the library's on plain decoded JSON, for every schema
// that the library accepts unchanged.
func TestVerdictsAgreeWithTheLibrary(t *testing.T) {
	cycles, valid, invalid := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		root := drawSchema(t, 3)
		root["$defs"] = map[string]any{"x": drawSchema(t, 2), "y": drawSchema(t, 2), "z": drawSchema(t, 1)}
		raw := must(json.Marshal(root))
		s, err := Compile(raw)
		if errors.Is(err, ErrCycle) {
			cycles++ // the library would never return
			return
		}
		if err != nil {
			t.Fatalf("%s: want it compiled, got %v", raw, err)
		}
		var plain jsonschema.Schema
		if err := json.Unmarshal(raw, &plain); err != nil {
			t.Fatal(err)
		}
		resolved, err := plain.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			instance := drawValue(t, 3)
			text := must(json.Marshal(instance))
			err := s.Validate(t.Context(), text)
			if errors.Is(err, ErrBudget) {
				continue
			}
			if want := resolved.Validate(instance); (err == nil) != (want == nil) {
				t.Fatalf("%s against %s: want %v, got %v", text, raw, want, err)
			}
			if err == nil {
				valid++
				continue
			}
			invalid++
			ve, ok := errors.AsType[*ValidationError](err)
			if !ok || len(ve.Problems) == 0 || s.Validate(t.Context(), text).Error() != err.Error() {
				t.Fatalf("%s against %s: want problems, the same each time, got %v", text, raw, err)
			}
		}
	})
	if !testing.Short() && (cycles == 0 || valid == 0 || invalid == 0) {
		t.Errorf("want a mix, got %d cycles, %d valid, %d invalid", cycles, valid, invalid)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

var propertyNames = rapid.SampledFrom([]string{"a", "b", "c"})

// drawSchema draws an object schema with a few keywords.
func drawSchema(t *rapid.T, depth int) map[string]any {
	s := map[string]any{}
	sub := func() any {
		if depth == 0 || rapid.IntRange(0, 5).Draw(t, "leaf") == 0 {
			return rapid.Bool().Draw(t, "boolean schema")
		}
		return drawSchema(t, depth-1)
	}
	list := func() any { return []any{sub(), sub()} }
	named := func() any { return map[string]any{propertyNames.Draw(t, "name"): sub(), "b": sub()} }
	keywords := map[string]func() any{
		"type":                  func() any { return rapid.SampledFrom(typeNames).Draw(t, "type") },
		"enum":                  func() any { return []any{drawValue(t, 1), drawValue(t, 1)} },
		"const":                 func() any { return drawValue(t, 1) },
		"minimum":               func() any { return rapid.IntRange(-1, 2).Draw(t, "minimum") },
		"maxLength":             func() any { return rapid.IntRange(0, 2).Draw(t, "maxLength") },
		"pattern":               func() any { return rapid.SampledFrom([]string{"a", "^b", "c$"}).Draw(t, "pattern") },
		"required":              func() any { return []string{propertyNames.Draw(t, "required")} },
		"properties":            named,
		"patternProperties":     func() any { return map[string]any{"a|b": sub()} },
		"additionalProperties":  sub,
		"unevaluatedProperties": sub,
		"propertyNames":         sub,
		"dependentSchemas":      named,
		"items":                 sub,
		"prefixItems":           list,
		"contains":              sub,
		"unevaluatedItems":      sub,
		"uniqueItems":           func() any { return true },
		"maxItems":              func() any { return 1 },
		"allOf":                 list,
		"anyOf":                 list,
		"oneOf":                 list,
		"not":                   sub,
		"if":                    sub,
		"then":                  sub,
		"else":                  sub,
		"$ref":                  func() any { return "#/$defs/" + rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "ref") },
	}
	names := rapid.SampledFrom([]string{
		"type", "enum", "const", "minimum", "maxLength", "pattern", "required", "properties", "properties",
		"patternProperties",
		"additionalProperties", "unevaluatedProperties", "propertyNames", "dependentSchemas", "items", "prefixItems",
		"contains",
		"unevaluatedItems", "uniqueItems", "maxItems", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "$ref", "$ref",
	})
	for range rapid.IntRange(0, 3).Draw(t, "keywords") {
		name := names.Draw(t, "keyword")
		s[name] = keywords[name]()
	}
	return s
}

func drawValue(t *rapid.T, depth int) any {
	kinds := 4
	if depth > 0 {
		kinds = 8
	}
	switch rapid.IntRange(0, kinds).Draw(t, "kind") {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "bool")
	case 2:
		return float64(rapid.IntRange(-2, 3).Draw(t, "number"))
	case 3, 4:
		return rapid.StringOfN(rapid.SampledFrom([]rune("abc")), 0, 3, -1).Draw(t, "string")
	case 5, 6:
		a := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			a = append(a, drawValue(t, depth-1))
		}
		return a
	default:
		o := map[string]any{}
		for range rapid.IntRange(0, 3).Draw(t, "properties") {
			o[propertyNames.Draw(t, "property")] = drawValue(t, depth-1)
		}
		return o
	}
}

// FuzzValidate checks that no schema and no value makes Compile or Validate panic, run long, use more memory than paid
// for, or return an incomplete error.
func FuzzValidate(f *testing.F) {
	for _, seed := range []struct{ schema, instance string }{
		{`true`, `1`},
		{`{"type":"object","properties":{"a":{"$ref":"#/$defs/b"}},"$defs":{"b":{"enum":[1,"x",null]}},` +
			`"additionalProperties":false}`, `{"a":2,"c":1}`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"const":1}],"additionalItems":false,` +
			`"dependencies":{"a":["b"],"c":false}}`, `[2,3]`},
		{`{"$id":"https://example.com/a","$dynamicAnchor":"n","$ref":"b","$defs":{"b":{"$id":"b","$dynamicAnchor":"n",` +
			`"items":{"$dynamicRef":"#n"}}}}`, `[[1]]`},
		{`{"$dynamicRef":"b#n","$defs":{"b":{"$id":"b","$dynamicAnchor":"n"},"c":{"$id":"c","$dynamicAnchor":"n"}}}`, `1`},
		{`{"anyOf":[{"properties":{"a":{"$ref":"#"}}},{"properties":{"a":{"$ref":"#"}}}],"unevaluatedProperties":false}`,
			`{"a":{"a":{"a":{"b":1}}}}`},
		{`{"prefixItems":[true],"contains":{"pattern":"^a"},"unevaluatedItems":{"oneOf":[{"minimum":1.5},` +
			`{"multipleOf":0.1}]}}`, `[1,"a",1e300,18446744073709551615]`},
		{`{"if":{"required":["a"]},"then":{"propertyNames":{"maxLength":1}},"else":{"minProperties":3},` +
			`"dependentRequired":{"b":["c"]}}`, `{"a":1,"bb":2}`},
		{`{"allOf":[{"$ref":"#/allOf/1"},{"not":{"type":["string","null"]}}],"uniqueItems":true,"default":{"a":1}}`,
			`[["ab",""],["a","b"]]`},
		{`{"properties":{"a":{"default":1,"$ref":"#/properties/b"},"b":{"properties":{"c":{"default":[2]}}}}}`, `{"b":{}}`},
		{`{"$ref":"#"}`, `1`},
		{`{"items":{"$anchor":"x","items":{"$ref":"#x"}},"contains":{"not":false}}`, `[[[]]]`},
	} {
		f.Add([]byte(seed.schema), []byte(seed.instance))
	}
	f.Fuzz(func(t *testing.T, schema, instance []byte) {
		start := time.Now()
		s, err := Compile(schema)
		if err != nil {
			ce, ok := errors.AsType[*CompileError](err)
			if !ok || ce.Reason == nil || ce.Message == "" || ce.Error() == "" {
				t.Fatalf("want a CompileError with a reason, got %#v", err)
			}
			return
		}
		err = s.Validate(t.Context(), instance)
		if ve, ok := errors.AsType[*ValidationError](err); err != nil && !errors.Is(err, ErrBudget) &&
			(!ok || len(ve.Problems) == 0) {
			t.Fatalf("want a ValidationError with problems, got %#v", err)
		}
		filled, err := s.ApplyDefaults(t.Context(), instance)
		if err == nil {
			if _, problem, _ := newMeter(t.Context(), len(filled)).decode(filled, MaxInstanceDepth, false); problem != nil &&
				s.defaults {
				t.Fatalf("want JSON with defaults, got %s: %v", filled, problem)
			}
		}
		checkWork(t, s, instance)
		if took := time.Since(start); took > patience {
			t.Fatalf("want an end within %v, took %v", patience, took)
		}
	})
}
