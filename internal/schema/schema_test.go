package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
)

func TestVerdicts(t *testing.T) {
	const draft07 = `"$schema":"http://json-schema.org/draft-07/schema#"`
	for _, c := range []struct {
		name, schema   string
		valid, invalid []string
	}{
		{"true", `true`, []string{`1`, `null`, `{}`}, nil},
		{"false", `false`, nil, []string{`1`, `null`, `{}`}},
		{"prefixItems", `{"prefixItems":[{"type":"string"},{"type":"integer"}],"items":false}`,
			[]string{`[]`, `["a"]`, `["a",1]`}, []string{`[1]`, `["a",1,2]`}},
		{"$defs and $anchor", `{"$ref":"#pos","$defs":{"p":{"$anchor":"pos","exclusiveMinimum":0}}}`,
			[]string{`1`, `0.1`}, []string{`0`, `-1`}},
		{"$id of a definition", `{"$id":"https://example.com/a/root.json","$ref":"part.json#/$defs/x",` +
			`"$defs":{"p":{"$id":"part.json","$defs":{"x":{"type":"string"}}}}}`,
			[]string{`"a"`}, []string{`1`}},
		{"$id that is relative", `{"$id":"root.json","$ref":"root.json#/$defs/x","$defs":{"x":{"type":"string"}}}`,
			[]string{`"a"`}, []string{`1`}},
		{"$id that is empty", `{"$id":"","properties":{"a":{"$id":"","$ref":"#/$defs/x"}},"$defs":{"x":{"type":"string"}}}`,
			[]string{`{"a":"a"}`}, []string{`{"a":1}`}},
		{"if then else", `{"if":{"properties":{"k":{"const":"a"}},"required":["k"]},"then":{"required":["x"]},` +
			`"else":{"required":["y"]}}`,
			[]string{`{"k":"a","x":1}`, `{"y":1}`, `1`}, []string{`{"k":"a","y":1}`, `{"x":1}`}},
		{"then without if", `{"then":false}`, []string{`1`}, nil},
		{"dependentRequired", `{"dependentRequired":{"card":["cvc"]}}`,
			[]string{`{}`, `{"cvc":1}`, `{"card":1,"cvc":1}`}, []string{`{"card":1}`}},
		{"dependentSchemas", `{"dependentSchemas":{"a":{"minProperties":2}}}`,
			[]string{`{}`, `{"a":1,"b":1}`}, []string{`{"a":1}`}},
		{"unevaluatedProperties", `{"allOf":[{"properties":{"a":true}}],"properties":{"b":true},` +
			`"unevaluatedProperties":false}`,
			[]string{`{}`, `{"a":1,"b":1}`}, []string{`{"c":1}`}},
		{"unevaluatedItems", `{"prefixItems":[true],"anyOf":[{"prefixItems":[true,{"const":2}]},true],` +
			`"unevaluatedItems":false}`,
			[]string{`[1]`, `[1,2]`}, []string{`[1,3]`}},
		{"dynamic reference, one target",
			`{"$dynamicAnchor":"node","type":"object","properties":{"next":{"$dynamicRef":"#node"}}}`,
			[]string{`{"next":{"next":{}}}`}, []string{`{"next":{"next":1}}`}},
		{"dynamic reference, many targets",
			`{"$id":"https://example.com/strict","$dynamicAnchor":"node","$ref":"tree","unevaluatedProperties":false,
			"$defs":{"tree":{"$id":"tree","$dynamicAnchor":"node","type":"object","properties":{"v":true,"sub":{"items":{"$dynamicRef":"#node"}}}}}}`,
			[]string{`{"sub":[{"v":1}]}`}, []string{`{"sub":[{"w":1}]}`, `{"w":1}`}},
		{"contains", `{"contains":{"type":"integer"},"minContains":2,"maxContains":3}`,
			[]string{`[1,2]`, `["a",1,2,3]`}, []string{`[1]`, `[1,2,3,4]`}},
		{"patternProperties", `{"patternProperties":{"^x-":{"type":"string"}},"additionalProperties":{"type":"integer"}}`,
			[]string{`{"x-a":"b","c":1}`}, []string{`{"x-a":1}`, `{"c":"d"}`}},
		{"propertyNames", `{"propertyNames":{"pattern":"^[a-z]+$"}}`, []string{`{"a":1}`}, []string{`{"A":1}`}},
		{"format asserts nothing", `{"format":"email","contentEncoding":"base64","contentSchema":false}`, []string{`"?"`},
			nil},
		{"unknown keywords assert nothing", `{"x-mcp-header":"A","Type":"string","REQUIRED":["a"],"nullable":false}`,
			[]string{`1`, `{}`}, nil},
		{"lengths are of code points", `{"minLength":1,"maxLength":1}`, []string{`"💩"`, `"\ud83d\ude00"`, `"\ud83d"`},
			[]string{`""`, `"ab"`}},
		{"a length written as a float", `{"maxLength":2.0}`, []string{`"ab"`}, []string{`"abc"`}},
		{"a length nobody reaches", `{"maxLength":9007199254740991}`, []string{`"ab"`}, nil},
		{"$defs beside definitions",
			`{"anyOf":[{"$ref":"#/$defs/a"},{"$ref":"#/definitions/a"}],"$defs":{"a":{"const":1}},` +
				`"definitions":{"a":{"const":2}}}`,
			[]string{`1`, `2`}, []string{`3`}},
		{"a reference to a property", `{"properties":{"a":{"type":"string"},"b":{"$ref":"#/properties/a"}}}`,
			[]string{`{"b":"x"}`}, []string{`{"b":1}`}},
		{"a reference with escapes", `{"$ref":"#/$defs/a~1b%25c~0d","$defs":{"a/b%c~d":{"type":"string"}}}`, []string{`"x"`},
			[]string{`1`}},
		{"a reference beside others", `{"$ref":"#/$defs/s","maxLength":1,"$defs":{"s":{"type":"string"}}}`, []string{`"x"`},
			[]string{`1`, `"xy"`}},
		{"recursion into the value", `{"type":"object","properties":{"sub":{"type":"array","items":{"$ref":"#"}}}}`,
			[]string{`{"sub":[{"sub":[]}]}`}, []string{`{"sub":[{"sub":[1]}]}`}},

		{"items as an array, draft-07", `{` + draft07 + `,"items":[{"type":"string"}],"additionalItems":{"type":"integer"}}`,
			[]string{`["a",1]`}, []string{`[1]`, `["a","b"]`}},
		{"additionalItems alone, draft-07", `{` + draft07 + `,"items":{"type":"integer"},"additionalItems":false}`,
			[]string{`[1,2]`}, []string{`["a"]`}},
		{"dependencies, draft-07", `{` + draft07 + `,"dependencies":{"a":["b"],"c":{"required":["d"]}}}`,
			[]string{`{}`, `{"a":1,"b":1}`, `{"c":1,"d":1}`}, []string{`{"a":1}`, `{"c":1}`}},
		{"a reference alone, draft-07",
			`{` + draft07 + `,"$ref":"#/definitions/s","maxLength":1,"definitions":{"s":{"type":"string"}}}`,
			[]string{`"x"`, `"xy"`}, []string{`1`}},
		{"$id as an anchor, draft-07", `{` + draft07 + `,"$ref":"#s","definitions":{"s":{"$id":"#s","type":"string"}}}`,
			[]string{`"x"`}, []string{`1`}},
		{"keywords of 2020-12, draft-07",
			`{` + draft07 + `,"prefixItems":[false],"unevaluatedProperties":false,"dependentRequired":{"a":["b"]},` +
				`"minContains":0,"contains":{"const":1}}`,
			[]string{`[1]`, `{"a":1}`}, []string{`[2]`}},
		{"keywords of draft-07, 2020-12", `{"dependencies":{"a":["b"]},"additionalItems":false}`, []string{`{"a":1}`, `[1]`},
			nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := mustCompile(t, c.schema)
			for _, v := range c.valid {
				if err := s.Validate(t.Context(), []byte(v)); err != nil {
					t.Errorf("want %s valid, got %v", v, err)
				}
			}
			for _, v := range c.invalid {
				err := s.Validate(t.Context(), []byte(v))
				if _, ok := errors.AsType[*ValidationError](err); !ok {
					t.Errorf("want a ValidationError for %s, got %v", v, err)
				}
				checkProblems(t, s, []byte(v), err)
			}
		})
	}
}

func TestNumbersKeepTheirValue(t *testing.T) {
	for _, c := range []struct {
		schema, instance string
		valid            bool
	}{
		{`{"type":"integer"}`, `9007199254740993`, true},
		{`{"type":"integer"}`, `18446744073709551615`, true},
		{`{"type":"integer"}`, `123456789012345678901234567890`, true},
		{`{"type":"integer"}`, `1.0`, true},
		{`{"type":"integer"}`, `1e3`, true},
		{`{"type":"integer"}`, `-0`, true},
		{`{"type":"integer"}`, `1.5`, false},
		{`{"type":"number"}`, `1e300`, true},
		{`{"const":9007199254740993}`, `9007199254740993`, true},
		{`{"const":9007199254740993}`, `9007199254740992`, false},
		{`{"enum":[18446744073709551615]}`, `18446744073709551615`, true},
		{`{"enum":[18446744073709551615]}`, `18446744073709551614`, false},
		{`{"enum":[{"a":[9007199254740993]}]}`, `{"a":[9007199254740993]}`, true},
		{`{"const":1}`, `1.0`, true},
		{`{"maximum":9007199254740991}`, `9007199254740992`, false},
		{`{"minimum":-9223372036854775808}`, `-9223372036854775808`, true},
		{`{"maximum":18446744073709551615}`, `1`, true},
		{`{"uniqueItems":true}`, `[9007199254740992,9007199254740993]`, true},
		{`{"uniqueItems":true}`, `[1,1.0]`, false},
	} {
		err := mustCompile(t, c.schema).Validate(t.Context(), []byte(c.instance))
		if got := err == nil; got != c.valid {
			t.Errorf("%s against %s: want valid %v, got %v", c.instance, c.schema, c.valid, err)
		}
	}
}

func TestDialects(t *testing.T) {
	for _, c := range []struct {
		uri  string
		want Dialect // 0: rejected
	}{
		{"https://json-schema.org/draft/2020-12/schema", Draft202012},
		{"https://json-schema.org/draft/2020-12/schema#", Draft202012},
		{"http://json-schema.org/draft/2020-12/schema", Draft202012},
		{"http://json-schema.org/draft-07/schema#", Draft07},
		{"http://json-schema.org/draft-07/schema", Draft07},
		{"https://json-schema.org/draft-07/schema#", Draft07},
		{"https://json-schema.org/draft-07/schema", Draft07},
		{"https://json-schema.org/draft/2019-09/schema", 0},
		{"http://json-schema.org/draft-04/schema#", 0},
		{"https://example.com/my-meta-schema", 0},
		{"", 0},
	} {
		s, err := Compile(fmt.Appendf(nil, `{"$schema":%q,"type":"object"}`, c.uri))
		if c.want == 0 {
			if !errors.Is(err, ErrDialect) {
				t.Errorf("%q: want ErrDialect, got %v", c.uri, err)
			}
			continue
		}
		if err != nil || s.Dialect() != c.want {
			t.Errorf("%q: want dialect %d, got %v, %v", c.uri, c.want, s, err)
		}
	}
	if s := mustCompile(t, `{}`); s.Dialect() != Draft202012 {
		t.Errorf("want 2020-12 without $schema, got %d", s.Dialect())
	}
}

func TestCompileRefusesInvalidSchemas(t *testing.T) {
	const draft07 = `"$schema":"http://json-schema.org/draft-07/schema#"`
	for _, c := range []struct {
		schema string
		reason error
		path   string
	}{
		{``, ErrInvalid, ""},
		{`{`, ErrInvalid, ""},
		{`null`, ErrInvalid, ""},
		{`[]`, ErrInvalid, ""},
		{`{"a":1,"a":2}`, ErrInvalid, "/a"},
		{`{} {}`, ErrInvalid, ""},
		{"{\"title\":\"\xff\"}", ErrInvalid, ""},
		{`{"type":"text"}`, ErrInvalid, "/type"},
		{`{"type":1}`, ErrInvalid, "/type"},
		{`{"type":[]}`, ErrInvalid, "/type"},
		{`{"type":["string",1]}`, ErrInvalid, "/type/1"},
		{`{"enum":"a"}`, ErrInvalid, "/enum"},
		{`{"minimum":"1"}`, ErrInvalid, "/minimum"},
		{`{"exclusiveMinimum":true}`, ErrInvalid, "/exclusiveMinimum"},
		{`{"multipleOf":0}`, ErrInvalid, "/multipleOf"},
		{`{"multipleOf":"2"}`, ErrInvalid, "/multipleOf"},
		{`{"minLength":-1}`, ErrInvalid, "/minLength"},
		{`{"minLength":1.5}`, ErrInvalid, "/minLength"},
		{`{"minLength":"1"}`, ErrInvalid, "/minLength"},
		{`{"uniqueItems":1}`, ErrInvalid, "/uniqueItems"},
		{`{"required":true}`, ErrInvalid, "/required"},
		{`{"required":[1]}`, ErrInvalid, "/required/0"},
		{`{"properties":[]}`, ErrInvalid, "/properties"},
		{`{"properties":{"a":null}}`, ErrInvalid, "/properties/a"},
		{`{"properties":{"a/b":{"type":"x"}}}`, ErrInvalid, "/properties/a~1b/type"},
		{`{"items":[{}]}`, ErrInvalid, "/items"},
		{`{"items":null}`, ErrInvalid, "/items"},
		{`{"anyOf":[]}`, ErrInvalid, "/anyOf"},
		{`{"anyOf":{}}`, ErrInvalid, "/anyOf"},
		{`{"allOf":[1]}`, ErrInvalid, "/allOf/0"},
		{`{"not":"a"}`, ErrInvalid, "/not"},
		{`{"$defs":1}`, ErrInvalid, "/$defs"},
		{`{"$defs":{"a":1}}`, ErrInvalid, "/$defs/a"},
		{`{"contentSchema":1}`, ErrInvalid, "/contentSchema"},
		{`{"dependentRequired":{"a":{}}}`, ErrInvalid, "/dependentRequired/a"},
		{`{"dependentRequired":1}`, ErrInvalid, "/dependentRequired"},
		{`{` + draft07 + `,"dependencies":{"a":1}}`, ErrInvalid, "/dependencies/a"},
		{`{` + draft07 + `,"items":[]}`, ErrInvalid, "/items"},
		{`{"patternProperties":1}`, ErrInvalid, "/patternProperties"},
		{`{"pattern":1}`, ErrInvalid, "/pattern"},
		{`{"$id":1}`, ErrInvalid, "/$id"},
		{`{"$id":"%zz"}`, ErrInvalid, "/$id"},
		{`{"$id":"https://example.com/a#b"}`, ErrInvalid, "/$id"},
		{`{"$defs":{"a":{"$id":"x"},"b":{"$id":"x"}}}`, ErrInvalid, "/$defs/b/$id"},
		{`{"$anchor":1}`, ErrInvalid, "/$anchor"},
		{`{"$anchor":"a","$defs":{"b":{"$anchor":"a"}}}`, ErrInvalid, "/$defs/b/$anchor"},

		{`{"$schema":1}`, ErrDialect, "/$schema"},
		{`{"$schema":null}`, ErrDialect, "/$schema"},
		{`{"not":{` + draft07 + `}}`, ErrDialect, "/not/$schema"},

		{`{"$ref":1}`, ErrInvalid, "/$ref"},
		{`{"$ref":"#/$defs/a"}`, ErrRef, "/$ref"},
		{`{"$ref":"#a"}`, ErrRef, "/$ref"},
		{`{"$ref":"#/properties","properties":{}}`, ErrRef, "/$ref"},
		{`{"$ref":"#/x/a","x":{"a":true}}`, ErrRef, "/$ref"},
		{`{"$ref":"%zz"}`, ErrRef, "/$ref"},
		{`{"items":{"$ref":"https://example.com/a.json"}}`, ErrRef, "/items/$ref"},
		{`{"$ref":"file:///etc/passwd"}`, ErrRef, "/$ref"},
		{`{"$ref":"other.json#/a"}`, ErrRef, "/$ref"},
		{`{"$id":"https://example.com/a","$ref":"b"}`, ErrRef, "/$ref"},
		{`{"$dynamicRef":"#a"}`, ErrRef, "/$dynamicRef"},
		{`{"$ref":"https://json-schema.org/draft/2020-12/schema"}`, ErrRef, "/$ref"},

		{`{"pattern":"(?=a)"}`, ErrPattern, "/pattern"},
		{`{"pattern":"(a)\\1"}`, ErrPattern, "/pattern"},
		{`{"pattern":"["}`, ErrPattern, "/pattern"},
		{`{"pattern":"a{1001}"}`, ErrPattern, "/pattern"},
		{`{"patternProperties":{"(?!a)":true}}`, ErrPattern, "/patternProperties/(?!a)"},
	} {
		_, err := Compile(json.RawMessage(c.schema))
		ce, ok := errors.AsType[*CompileError](err)
		if !ok || !errors.Is(err, c.reason) || ce.Path != c.path {
			t.Errorf("%s: want %v at %q, got %v", c.schema, c.reason, c.path, err)
		}
	}
}

func TestCompileErrorNamesPlaceAndReason(t *testing.T) {
	_, err := Compile(json.RawMessage(`{"properties":{"a":{"type":"text"}}}`))
	const want = `invalid schema at /properties/a/type: "text" is not a type`
	if err == nil || err.Error() != want {
		t.Errorf("want %q, got %v", want, err)
	}
	_, err = Compile(json.RawMessage(`7`))
	const root = `invalid schema: a schema is an object or a boolean, not 7`
	if err == nil || err.Error() != root {
		t.Errorf("want %q, got %v", root, err)
	}
}

func TestCompileKeepsTheSchema(t *testing.T) {
	raw := []byte(`{ "x-a": 1.50, "$defs":{"b":{"$anchor":"c"}}, "type": "object" }`)
	want := string(raw)
	s := mustCompile(t, want)
	clear(raw)
	if got := string(s.Raw()); got != want {
		t.Errorf("want the schema byte for byte, %s, got %s", want, got)
	}
	if !s.IsObject() {
		t.Error(`want IsObject for "type": "object", got false`)
	}
	for _, other := range []string{`true`, `{}`, `{"type":["object"]}`, `{"type":"array"}`,
		`{"$ref":"#/$defs/a","$defs":{"a":{"type":"object"}}}`} {
		if mustCompile(t, other).IsObject() {
			t.Errorf("want no IsObject for %s", other)
		}
	}
}

// TestSchemaIsSafeForConcurrentUse is for the race detector. It includes failures and their explanations.
func TestSchemaIsSafeForConcurrentUse(t *testing.T) {
	s, valid := order(t)
	invalid := []byte(strings.Replace(string(valid), `"count":3`, `"count":"3"`, 1))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if err := s.Validate(t.Context(), valid); err != nil {
					t.Errorf("want valid, got %v", err)
				}
				if err := s.Validate(t.Context(), invalid); err == nil ||
					err.Error() != "/lines/0/count: got string, want integer" {
					t.Errorf("want the count to be at fault, got %v", err)
				}
			}
		})
	}
	wg.Wait()
}
