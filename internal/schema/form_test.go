package schema

import (
	"encoding/json"
	"errors"
	"testing"
)

// field returns a form with one field, a.
func field(schema string) string { return `{"type":"object","properties":{"a":` + schema + `}}` }

func TestFormsAreFlat(t *testing.T) {
	for _, form := range []string{
		`{"type":"object","properties":{}}`,
		`{"type":"object"}`,
		`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"a":{"type":"string"}},` +
			`"required":["a"]}`,
		`{"$schema":"http://json-schema.org/draft-07/schema#","title":"T","type":"object",` +
			`"properties":{"a":{"type":"string"}},"additionalProperties":false}`,
		field(`{"type":"string","title":"T","description":"D","minLength":1,"maxLength":9,"format":"email",` +
			`"default":"a@b.c"}`),
		field(`{"type":"number","minimum":0,"maximum":1.5,"default":0.5}`),
		field(`{"type":"number","default":1}`),
		field(`{"type":"integer","minimum":0,"maximum":10,"default":5}`),
		field(`{"type":"boolean","default":false}`),
		field(`{"type":"string","enum":["r","g"],"default":"r"}`),
		field(`{"type":"string","enum":["r","g"],"enumNames":["Red","Green"]}`),
		field(`{"type":"string","oneOf":[{"const":"r","title":"Red"},{"const":"g","title":"Green"}],"default":"g"}`),
		field(`{"type":"array","minItems":1,"maxItems":2,"items":{"type":"string","enum":["a","b"]},"default":["a"]}`),
		field(`{"type":"array","items":{"anyOf":[{"const":"x","title":"X"},{"const":"y","title":"Y"}]},"default":[]}`),
		// Keywords that assert nothing are ignored, and further keywords that restrict a primitive are applied.
		field(`{"type":"string","$comment":"c","examples":["e"],"x-order":1,"readOnly":true,"format":"color",` +
			`"pattern":"^a"}`),
		field(`{"type":"integer","exclusiveMinimum":0,"exclusiveMaximum":9,"multipleOf":2}`),
		// The union that pydantic generates for an optional field.
		field(`{"anyOf":[{"type":"string","maxLength":9},{"type":"null"}],"default":null,"title":"T"}`),
		field(`{"anyOf":[{"type":"null"},{"type":"integer"}],"default":3}`),
	} {
		if _, err := CompileForm(json.RawMessage(form)); err != nil {
			t.Errorf("%s: want a form, got %v", form, err)
		}
	}
	for _, c := range []struct{ form, path string }{
		{field(`{"type":"string","$ref":"#","default":{}}`), "/properties/a/$ref"},
		{field(`{"$ref":"#"}`), "/properties/a/type"},
		{`true`, "/type"},
		{`{"properties":{}}`, "/type"},
		{`{"type":"string"}`, "/type"},
		{`{"type":["object"]}`, "/type"},
		{`{"type":"object","$ref":"#/$defs/a","$defs":{"a":true}}`, "/$defs"},
		{`{"type":"object","allOf":[{"properties":{"a":{"default":1}}}]}`, "/allOf"},
		{`{"type":"object","patternProperties":{"^a":{"type":"string"}}}`, "/patternProperties"},
		{`{"type":"object","additionalProperties":{"type":"string"}}`, "/additionalProperties"},
		{`{"type":"object","if":true,"then":{"required":["a"]}}`, "/if"},
		{`{"type":"object","default":{}}`, "/default"},
		{`{"type":"object","$dynamicRef":"#a","$dynamicAnchor":"a","properties":{}}`, ""},
		{field(`true`), "/properties/a/type"},
		{field(`{}`), "/properties/a/type"},
		{field(`{"type":"object"}`), "/properties/a/type"},
		{field(`{"type":"null"}`), "/properties/a/type"},
		{field(`{"anyOf":[{"type":"object"},{"type":"null"}]}`), "/properties/a/anyOf/0/type"},
		{field(`{"anyOf":[{"type":"null"},{"type":"null"}]}`), "/properties/a/anyOf/1/type"},
		{field(`{"anyOf":[{"type":"string"},{"type":"null"}],"default":{}}`), "/properties/a/default"},
		{field(`{"anyOf":[{"type":"string"},{"type":"integer"}]}`), "/properties/a/type"},
		{field(`{"anyOf":[{"anyOf":[{"type":"string"},{"type":"null"}]},{"type":"null"}]}`), "/properties/a/anyOf/0/type"},
		{field(`{"type":["string","null"]}`), "/properties/a/type"},
		{field(`{"type":"string","anyOf":[{"const":"a"}]}`), "/properties/a/anyOf"},
		{field(`{"type":"string","properties":{"b":{"type":"string"}}}`), "/properties/a/properties"},
		{field(`{"type":"string","not":{"const":"a"}}`), "/properties/a/not"},
		{field(`{"type":"string","minimum":1}`), "/properties/a/minimum"},
		{field(`{"type":"string","enum":["a",1]}`), "/properties/a/enum"},
		{field(`{"type":"string","oneOf":[{"const":"a"},{"pattern":"b"}]}`), "/properties/a/oneOf/1"},
		{field(`{"type":"string","oneOf":[{"const":{"a":1}}]}`), "/properties/a/oneOf/0"},
		{field(`{"type":"string","oneOf":[{"const":"a","allOf":[true]}]}`), "/properties/a/oneOf/0/allOf"},
		{field(`{"type":"string","default":{}}`), "/properties/a/default"},
		{field(`{"type":"string","default":null}`), "/properties/a/default"},
		{field(`{"type":"integer","default":1.5}`), "/properties/a/default"},
		{field(`{"type":"array","items":{"type":"string"}}`), "/properties/a/items"},
		{field(`{"type":"array"}`), "/properties/a/items"},
		{field(`{"type":"array","items":{"type":"object","enum":[{}]}}`), "/properties/a/items/type"},
		{field(`{"type":"array","items":{"enum":["a"],"allOf":[true]}}`), "/properties/a/items/allOf"},
		{field(`{"type":"array","items":{"anyOf":[{"type":"string"}]}}`), "/properties/a/items/anyOf/0"},
		{field(`{"type":"array","items":{"enum":["a"]},"contains":true}`), "/properties/a/contains"},
		{field(`{"type":"array","items":{"enum":["a"]},"default":["a",1]}`), "/properties/a/default"},
		{field(`{"type":"array","items":{"enum":["a"]},"default":[["a"]]}`), "/properties/a/default"},
	} {
		_, err := CompileForm(json.RawMessage(c.form))
		refused, ok := errors.AsType[*CompileError](err)
		if !ok || c.path != "" && (!errors.Is(err, ErrForm) || refused.Path != c.path) {
			t.Errorf("%s: want ErrForm at %s, got %v", c.form, c.path, err)
		}
	}
}
