package schema

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestErrorsNameTheCorrection(t *testing.T) {
	const draft07 = `"$schema":"http://json-schema.org/draft-07/schema#",`
	for _, c := range []struct{ schema, instance, want string }{
		{`{"type":"string"}`, `1`, `got integer, want string`},
		{`{"type":["string","null"]}`, `1.5`, `got number, want string or null`},
		{`{"enum":["a",1,null]}`, `"b"`, `got "b", want one of "a", 1, null`},
		{`{"enum":[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]}`, `"b"`,
			`got "b", want one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 and 2 more`},
		{`{"const":{"a":[1,true]}}`, `{"a":[1,false]}`, `got {"a":[1,false]}, want {"a":[1,true]}`},
		{`{"multipleOf":5}`, `7`, `got 7, want a multiple of 5`},
		{`{"minimum":0}`, `-1`, `got -1, want at least 0`},
		{`{"maximum":1.5}`, `2`, `got 2, want at most 1.5`},
		{`{"exclusiveMinimum":0}`, `0`, `got 0, want more than 0`},
		{`{"exclusiveMaximum":0}`, `0.5`, `got 0.5, want less than 0`},
		{`{"minLength":3}`, `"é"`, `has 1 characters, want at least 3`},
		{`{"maxLength":1}`, `"abc"`, `has 3 characters, want at most 1`},
		{`{"pattern":"^a+$"}`, `"b"`, `got "b", want a match of the regular expression "^a+$"`},
		{`{"minItems":1}`, `[]`, `has 0 items, want at least 1`},
		{`{"maxItems":1}`, `[1,2]`, `has 2 items, want at most 1`},
		{`{"uniqueItems":true}`, `[1,2,1]`, `array items 2 and 0 are equal`},
		{`{"contains":{"const":1}}`, `[2]`, `no item matches the schema in contains`},
		{`{"contains":{"const":1},"minContains":2}`, `[1]`, `want at least 2 items that match the schema in contains`},
		{`{"contains":{"const":1},"maxContains":1}`, `[1,1]`, `want at most 1 items that match the schema in contains`},
		{`{"minProperties":1}`, `{}`, `has 0 properties, want at least 1`},
		{`{"maxProperties":0}`, `{"a":1}`, `has 1 properties, want at most 0`},
		{`{"required":["a","b","c"]}`, `{"b":1}`, `missing "a", "c"`},
		{`{"dependentRequired":{"b":["c"],"a":["b","c"],"z":["y"]}}`, `{"a":1,"b":2}`,
			`"a" also needs "c", "b" also needs "c"`},
		{`{` + draft07 + `"dependencies":{"a":["b"]}}`, `{"a":1}`, `"a" also needs "b"`},
		{`{"properties":{"name":{},"age":{}},"additionalProperties":false}`, `{"nmae":1,"agee":2,"age":3}`,
			`unexpected "agee", "nmae"; known: "age", "name"`},
		{`{"additionalProperties":false}`, `{"a":1}`, `unexpected "a"`},
		{`{"patternProperties":{"^x-":true},"additionalProperties":false}`, `{"a":1,"x-b":1}`, `unexpected "a"`},
		{`{"not":{"type":"string"}}`, `"a"`, `matches the schema in not, want a value that does not`},
		{`{"oneOf":[{"type":"integer"},{"minimum":0}]}`, `1`, `matches more than one of the alternatives, want exactly one`},
		{`false`, `1`, `no value is allowed here`},

		// The place of the value.
		{`{"properties":{"a":{"items":{"properties":{"b/c":{"type":"string"}}}}}}`, `{"a":[{},{"b/c":1}]}`,
			`/a/1/b~1c: got integer, want string`},
		{`{"properties":{"a":{"$ref":"#/$defs/s"}},"$defs":{"s":{"type":"string"}}}`, `{"a":1}`,
			`/a: got integer, want string`},
		{`{"prefixItems":[true,{"type":"string"}],"items":{"type":"integer"}}`, `[0,1,"a"]`,
			`/1: got integer, want string; /2: got string, want integer`},
		{`{` + draft07 + `"items":[true,{"type":"string"}],"additionalItems":{"type":"integer"}}`, `[0,"a",1,"b"]`,
			`/3: got string, want integer`},
		{`{"patternProperties":{"^x":{"type":"string"}},"additionalProperties":{"type":"integer"}}`, `{"x1":1,"y":"a","z":1}`,
			`/x1: got integer, want string; /y: got string, want integer`},
		{`{"properties":{"a":false},"patternProperties":{"^b":false},"unevaluatedProperties":false}`, `{"a":1,"b":1}`,
			`/a: this property is not allowed; /b: this property is not allowed`},
		{`{"items":false}`, `[1]`, `/0: this item is not allowed`},
		{`{"propertyNames":{"maxLength":2}}`, `{"ab":1,"abc":2}`, `property name "abc": has 3 characters, want at most 2`},
		{`{"propertyNames":false}`, `{"ab":1}`, `property name "ab": no property is allowed`},
		{`{"allOf":[{"properties":{"a":true}}],"unevaluatedProperties":false}`, `{"a":1,"b":2,"c":3}`,
			`/b: this property is not allowed; /c: this property is not allowed`},
		{`{"if":{"required":["a"]},"then":{"properties":{"a":true,"b":true},"required":["b"]},"unevaluatedProperties":false}`,
			`{"a":1,"b":2,"c":3}`, `/c: this property is not allowed`},
		{`{"allOf":[{"prefixItems":[true]}],"unevaluatedItems":{"type":"string"}}`, `[1,"a",2]`,
			`/2: got integer, want string`},
		{`{"if":{"required":["a"]},"then":{"required":["b"]},"else":{"required":["c"]}}`, `{"a":1}`, `missing "b"`},
		{`{"dependentSchemas":{"c":false,"b":{"minProperties":5},"a":{"minProperties":3},"d":{"required":["z"]}}}`,
			`{"a":1,"b":1}`, `has 2 properties, want at least 3; has 2 properties, want at least 5`},

		// Alternatives.
		{`{"anyOf":[{"type":"string"},{"type":"null"}]}`, `1`,
			`matches none of 2 alternatives; 1: got integer, want string; 2: got integer, want null`},
		{`{"anyOf":[{"type":"string"}]}`, `1`, `got integer, want string`},
		{`{"properties":{"a":{"anyOf":[{"properties":{"b":{"type":"string"}}},{"type":"null"}]}}}`, `{"a":{"b":1}}`,
			`/a/b: got integer, want string`},
		{`{"oneOf":[{"properties":{"kind":{"const":"a"},"x":{"type":"string"}}},{"properties":{"kind":{"const":"b"}}}]}`,
			`{"kind":"a","x":1}`, `/x: got integer, want string`},
		{`{"oneOf":[{"properties":{"kind":{"const":"a"}}},{"properties":{"kind":{"const":"b"}}}]}`, `{"kind":"c"}`,
			`matches none of 2 alternatives; 1: /kind: got "c", want "a"; 2: /kind: got "c", want "b"`},
		{`{"properties":{"p":{"oneOf":[{"required":["a"]},{"required":["b"]}]}}}`, `{"p":{}}`,
			`/p: matches none of 2 alternatives; 1: missing "a"; 2: missing "b"`},
		{`{"anyOf":[{"const":1},{"const":2},{"const":3},{"const":4},{"const":5}]}`, `6`,
			`matches none of 5 alternatives; 1: got 6, want 1; 2: got 6, want 2; 3: got 6, want 3; 4: got 6, want 4`},

		// A schema that is both a reference's target and the schema of a property.
		{`{"$ref":"#/properties/a","properties":{"a":{"properties":{"b":{"type":"string"}}}}}`, `{"b":1}`,
			`/b: got integer, want string`},
		{`{"$ref":"#/properties/a","properties":{"a":{"properties":{"b":{"type":"string"}}}}}`, `{"a":{"b":1}}`,
			`/a/b: got integer, want string`},
	} {
		err := mustCompile(t, c.schema).Validate(t.Context(), []byte(c.instance))
		if _, ok := errors.AsType[*ValidationError](err); !ok || err.Error() != c.want {
			t.Errorf("%s against %s:\nwant %s\n got %v", c.instance, c.schema, c.want, err)
		}
	}
}

func TestProblemPointsToTheKeyword(t *testing.T) {
	s := mustCompile(t, `{"properties":{"a":{"$ref":"#/$defs/list"}},"$defs":{"list":{"items":{"minimum":3},`+
		`"contains":false}}}`)
	err := s.Validate(t.Context(), []byte(`{"a":[4,2]}`))
	ve, ok := errors.AsType[*ValidationError](err)
	if !ok {
		t.Fatalf("want a ValidationError, got %v", err)
	}
	want := []Problem{{
		Instance: "/a/1",
		Schema:   "/$defs/list/items/minimum",
		Keyword:  "minimum",
		Message:  "got 2, want at least 3",
	}}
	if diff := cmp.Diff(want, ve.Problems); diff != "" {
		t.Errorf("want, got:\n%s", diff)
	}
}

func TestProblemsAreAtMostEight(t *testing.T) {
	err := mustCompile(t, `{"items":{"anyOf":[{"type":"string"}]}}`).
		Validate(t.Context(), []byte(`[1,2,3,4,5,6,7,8,9,10]`))
	ve, ok := errors.AsType[*ValidationError](err)
	if !ok || len(ve.Problems) != maxProblems {
		t.Errorf("want %d problems, got %v", maxProblems, err)
	}
	err = mustCompile(t, `{"additionalProperties":{"type":"string"}}`).
		Validate(t.Context(), []byte(`{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1}`))
	if ve, ok = errors.AsType[*ValidationError](err); !ok || len(ve.Problems) != maxProblems {
		t.Errorf("want %d problems, got %v", maxProblems, err)
	}
}

// TestErrorsAreTheSameEveryTime checks that problems have the order of the text.
func TestErrorsAreTheSameEveryTime(t *testing.T) {
	s := mustCompile(t, `{
		"properties": {"a":{"type":"string"},"b":{"type":"string"},"c":{"type":"string"},"d":{"type":"string"}},
		"patternProperties": {"^e":{"type":"string"},"e$":{"maximum":0}},
		"dependentSchemas": {"a":{"required":["x"]},"b":{"required":["y"]},"c":{"required":["z"]}}
	}`)
	for _, instance := range []string{`{"a":1,"b":2,"c":3,"d":4,"e":5}`, `{"a":"","b":"","c":""}`} {
		first := s.Validate(t.Context(), []byte(instance))
		for range 50 {
			if err := s.Validate(t.Context(), []byte(instance)); err == nil || err.Error() != first.Error() {
				t.Fatalf("want the same error each time, got %v and %v", first, err)
			}
		}
	}
}

// TestErrorQuotationsAreShort checks that errors quote at most 64 bytes of any value or name.
func TestErrorQuotationsAreShort(t *testing.T) {
	schemas := []string{
		`{"type":"null"}`, `{"enum":[1]}`, `{"const":1}`, `{"maxLength":1}`, `{"pattern":"^$"}`, `{"not":true}`, `false`,
		`{"anyOf":[{"type":"null"},{"const":1},{"pattern":"^$"}]}`, `{"oneOf":[{"maxLength":1}]}`,
		`{"additionalProperties":false}`, `{"unevaluatedProperties":false}`, `{"propertyNames":{"maxLength":3}}`,
		`{"additionalProperties":{"type":"null"}}`, `{"patternProperties":{"":{"const":1}}}`,
		`{"items":{"const":2}}`, `{"contains":false}`, `{"uniqueItems":true}`, `{"maxItems":0}`, `{"minProperties":9}`,
	}
	var compiled []*Schema
	for _, schema := range schemas {
		compiled = append(compiled, mustCompile(t, schema))
	}
	rapid.Check(t, func(t *rapid.T) {
		long := strings.Repeat(rapid.SampledFrom([]string{"é", "x", "\\n", "😀", "~/"}).Draw(t, "unit"),
			rapid.IntRange(70, 200).Draw(t, "count"))
		instance := fmt.Sprintf(rapid.SampledFrom(
			[]string{`"%s"`, `["%s","%[1]s"]`, `{"%s":1}`, `{"a":"%s"}`, `{"a":{"%s":"%[1]s"}}`}).Draw(t, "form"), long)
		i := rapid.IntRange(0, len(schemas)-1).Draw(t, "schema")
		err := compiled[i].Validate(t.Context(), []byte(instance))
		if err == nil {
			return
		}
		if text := strings.NewReplacer("~0", "~", "~1", "/").Replace(err.Error()); strings.Contains(text, long[:maxShown+4]) {
			t.Fatalf("%s against %s: want at most %d bytes of a value, got %s", instance, schemas[i], maxShown, err)
		}
	})
}

// TestExhaustedBudgetKeepsOneProblem checks that an exhausted budget makes problems less precise, but leaves at least
// one.
func TestExhaustedBudgetKeepsOneProblem(t *testing.T) {
	for _, c := range []struct{ schema, instance string }{
		{`{"items":{"type":"string"}}`, `[1]`},
		{`{"properties":{"a":{"type":"string"}}}`, `{"a":1}`},
		{`{"unevaluatedProperties":false}`, `{"a":1}`},
		{`{"unevaluatedItems":false}`, `[1]`},
		{`{"anyOf":[{"type":"string"}]}`, `1`},
		{`{"anyOf":[{"type":"string"},{"type":"null"}]}`, `1`},
		{`{"propertyNames":false}`, `{"a":1}`},
		{`{"dependentSchemas":{"a":false}}`, `{"a":1}`},
	} {
		s := mustCompile(t, c.schema)
		v := mustDecode(t, []byte(c.instance))
		for left := range int64(200) {
			problems := s.explain(&meter{ctx: t.Context(), left: left}, v)
			if len(problems) == 0 || left < unit && problems[0].Message != mismatch {
				t.Errorf("%s against %s with %d steps: want a problem, got %v", c.instance, c.schema, left, problems)
			}
		}
	}
}

// TestDynamicScopeIsKept checks that the target of a dynamic reference depends on the path that leads to the reference,
// even while problems are explained.
func TestDynamicScopeIsKept(t *testing.T) {
	s := mustCompile(t, `{"$id":"https://example.com/a","$ref":"list","$defs":{
		"item":{"$dynamicAnchor":"item","type":"string"},
		"list":{"$id":"list","items":{"$dynamicRef":"#item"},"$defs":{"any":{"$dynamicAnchor":"item"}}}}}`)
	const want = "/1: got integer, want string"
	if err := s.Validate(t.Context(), []byte(`["a",1]`)); err == nil || err.Error() != want {
		t.Errorf("want %q, got %v", want, err)
	}
}
