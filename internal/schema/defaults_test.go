package schema

import (
	"errors"
	"strings"
	"testing"
)

func TestApplyDefaults(t *testing.T) {
	for _, c := range []struct{ name, schema, instance, want string }{
		{"nothing to fill", `{"properties":{"a":true}}`, ` {"b" : 1.0} `, ` {"b" : 1.0} `},
		{"absent", `{"properties":{"a":{"default":"x"},"b":{"default":null}}}`, `{}`, `{"a":"x","b":null}`},
		{"present", `{"properties":{"a":{"default":"x"}}}`, `{"a":null}`, `{"a":null}`},
		{"required too", `{"properties":{"a":{"default":1}},"required":["a"]}`, `{}`, `{"a":1}`},
		{"numbers keep their text", `{"properties":{"a":{"default":9007199254740993}}}`, `{"c":1.50,"d":123456789012345678901234567890,"e":1e400}`,
			`{"a":9007199254740993,"c":1.50,"d":123456789012345678901234567890,"e":1e400}`},
		{"below", `{"properties":{"a":{"properties":{"b":{"default":[1]}}}}}`, `{"a":{}}`, `{"a":{"b":[1]}}`},
		{"no object made for it", `{"properties":{"a":{"properties":{"b":{"default":[1]}}}}}`, `{}`, `{}`},
		{"in a default", `{"properties":{"a":{"default":{},"properties":{"b":{"default":{"c":[1]}}}}}}`, `{}`, `{"a":{"b":{"c":[1]}}}`},
		{"by reference", `{"properties":{"a":{"$ref":"#/$defs/d"}},"$defs":{"d":{"$ref":"#/$defs/e"},"e":{"default":7}}}`, `{}`, `{"a":7}`},
		{"nearest first", `{"properties":{"a":{"$ref":"#/$defs/d","default":8}},"$defs":{"d":{"default":7}}}`, `{}`, `{"a":8}`},
		{"through a reference and allOf", `{"$ref":"#/$defs/o","allOf":[{"properties":{"b":{"default":2}}}],"$defs":{"o":{"properties":{"a":{"default":1}}}}}`, `{}`, `{"a":1,"b":2}`},
		{"not by anyOf", `{"anyOf":[{"properties":{"a":{"default":1}}}]}`, `{}`, `{}`},
		{"not an object", `{"properties":{"a":{"default":1}}}`, `[{}]`, `[{}]`},
		{"in recursion", `{"properties":{"n":{"$ref":"#"},"a":{"default":1}}}`, `{"n":{"n":{}}}`, `{"a":1,"n":{"a":1,"n":{"a":1}}}`},
	} {
		s := mustCompile(t, c.schema)
		for range 2 { // the second time finds the schema unchanged
			got, err := s.ApplyDefaults([]byte(c.instance))
			if err != nil || string(got) != c.want {
				t.Errorf("%s: want %s, got %s, %v", c.name, c.want, got, err)
			}
		}
	}
}

// TestApplyDefaultsDoesNotShareThem: two schemas of the same property fill in
// one default, which must not end up in the other.
func TestApplyDefaultsDoesNotShareThem(t *testing.T) {
	s := mustCompile(t, `{"allOf":[{"properties":{"a":{"default":{}}}},{"properties":{"a":{"properties":{"b":{"default":1}}}}}],"const":{"a":{}}}`)
	for range 2 {
		got, err := s.ApplyDefaults([]byte(`{}`))
		if err != nil || string(got) != `{"a":{"b":1}}` {
			t.Errorf(`want {"a":{"b":1}}, got %s, %v`, got, err)
		}
	}
	if v := s.root.edges[0].to.edges[0].to.raw["default"]; len(v.(object)) != 0 {
		t.Errorf("want the default unchanged, got %v", v)
	}
}

func TestApplyDefaultsRefuses(t *testing.T) {
	s := mustCompile(t, `{"properties":{"a":{"default":1,"anyOf":[{"$ref":"#"},{"$ref":"#"}]}}}`)
	_, err := s.ApplyDefaults([]byte(`{"a":`))
	if _, ok := errors.AsType[*ValidationError](err); !ok {
		t.Errorf("want a ValidationError for half a text, got %v", err)
	}
	deep := strings.Repeat(`{"a":`, 60) + `1` + strings.Repeat(`}`, 60)
	if _, err := s.ApplyDefaults([]byte(deep)); !errors.Is(err, ErrBudget) {
		t.Errorf("want ErrBudget, got %v", err)
	}
}
