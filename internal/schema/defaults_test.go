package schema

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/internal/testsupport/heap"
)

func TestApplyDefaults(t *testing.T) {
	for _, c := range []struct{ name, schema, instance, want string }{
		{"nothing to fill", `{"properties":{"a":true}}`, ` {"b" : 1.0} `, ` {"b" : 1.0} `},
		{"absent", `{"properties":{"a":{"default":"x"},"b":{"default":null}}}`, `{}`, `{"a":"x","b":null}`},
		{"present", `{"properties":{"a":{"default":"x"}}}`, `{"a":null}`, `{"a":null}`},
		{"required too", `{"properties":{"a":{"default":1}},"required":["a"]}`, `{}`, `{"a":1}`},
		{"numbers keep their text", `{"properties":{"a":{"default":9007199254740993}}}`,
			`{"c":1.50,"d":123456789012345678901234567890,"e":1e400}`,
			`{"a":9007199254740993,"c":1.50,"d":123456789012345678901234567890,"e":1e400}`},
		{"below", `{"properties":{"a":{"properties":{"b":{"default":[1]}}}}}`, `{"a":{}}`, `{"a":{"b":[1]}}`},
		{"no object made for it", `{"properties":{"a":{"properties":{"b":{"default":[1]}}}}}`, `{}`, `{}`},
		{"not in a default", `{"properties":{"a":{"default":{},"properties":{"b":{"default":{"c":[1]}}}}}}`, `{}`,
			`{"a":{}}`},
		{"nor in one by reference", `{"properties":{"a":{"type":"string","$ref":"#","default":{}}}}`, `{}`, `{"a":{}}`},
		{"by reference", `{"properties":{"a":{"$ref":"#/$defs/d"}},"$defs":{"d":{"$ref":"#/$defs/e"},"e":{"default":7}}}`,
			`{}`, `{"a":7}`},
		{"nearest first", `{"properties":{"a":{"$ref":"#/$defs/d","default":8}},"$defs":{"d":{"default":7}}}`, `{}`,
			`{"a":8}`},
		{"through a reference and allOf",
			`{"$ref":"#/$defs/o","allOf":[{"properties":{"b":{"default":2}}}],"$defs":{"o":{"properties":{"a":{"default":1}}}}}`,
			`{}`, `{"a":1,"b":2}`},
		{"not by anyOf", `{"anyOf":[{"properties":{"a":{"default":1}}}]}`, `{}`, `{}`},
		{"not an object", `{"properties":{"a":{"default":1}}}`, `[{}]`, `[{}]`},
		{"in recursion", `{"properties":{"n":{"$ref":"#"},"a":{"default":1}}}`, `{"n":{"n":{}}}`,
			`{"a":1,"n":{"a":1,"n":{"a":1}}}`},
	} {
		s := mustCompile(t, c.schema)
		for range 2 { // the second run checks that the schema is unchanged
			got, err := s.ApplyDefaults(t.Context(), []byte(c.instance))
			if err != nil || string(got) != c.want {
				t.Errorf("%s: want %s, got %s, %v", c.name, c.want, got, err)
			}
		}
	}
}

// TestApplyDefaultsDoesNotFillInsertedDefaults checks that two schemas of the same property insert one default, and
// that the second schema does not descend into it.
func TestApplyDefaultsDoesNotFillInsertedDefaults(t *testing.T) {
	s := mustCompile(t, `{"allOf":[{"properties":{"a":{"default":{}}}},`+
		`{"properties":{"a":{"properties":{"b":{"default":1}}}}}],"const":{"a":{}}}`)
	for range 2 {
		got, err := s.ApplyDefaults(t.Context(), []byte(`{}`))
		if err != nil || string(got) != `{"a":{}}` {
			t.Errorf(`want {"a":{}}, got %s, %v`, got, err)
		}
		if got, err = s.ApplyDefaults(t.Context(), []byte(`{"a":{}}`)); err != nil || string(got) != `{"a":{"b":1}}` {
			t.Errorf(`want {"a":{"b":1}}, got %s, %v`, got, err)
		}
	}
}

// TestDefaultsAreBounded checks the bounds on inserted defaults for a small schema and a small value.
func TestDefaultsAreBounded(t *testing.T) {
	var tree strings.Builder
	tree.WriteString(`{"properties":{"l":{"$ref":"#/$defs/0"},"r":{"$ref":"#/$defs/0"}},"$defs":{`)
	for i := range 40 {
		tree.WriteString(fmt.Sprintf(
			`"%d":{"default":{},"properties":{"l":{"$ref":"#/$defs/%d"},"r":{"$ref":"#/$defs/%[2]d"}}},`, i, i+1))
	}
	tree.WriteString(`"40":{"default":1}}}`)
	for _, c := range []struct {
		name, schema, instance string
		want                   error
	}{
		{"two a level, 40 levels deep", tree.String(), `{}`, nil},
		{"a cycle through a default", `{"type":"object","properties":{"a":{"type":"string","$ref":"#","default":{}}}}`, `{}`,
			nil},
		{"a large one in each of many objects",
			`{"additionalProperties":true,"properties":{` + numbered(1000, `"p%d":{"$ref":"#/$defs/a"}`) +
				`},"$defs":{"a":{"properties":{"x":{"default":"` + strings.Repeat("d", 1<<19) + `"}}}}}`,
			`{` + numbered(1000, `"p%d":{}`) + `}`, ErrDefaults},
		{"many small ones in each of many objects", `{"properties":{` + numbered(1000, `"p%d":{"$ref":"#/$defs/a"}`) +
			`},"$defs":{"a":{"properties":{` + numbered(100, `"x%d":{"default":1}`) + `}}}}`,
			`{` + numbered(1000, `"p%d":{}`) + `}`, ErrDefaults},
		{"a deep one in a deep value",
			`{"properties":{"n":{"$ref":"#"},"d":{"default":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}}}`,
			strings.Repeat(`{"n":`, 50) + `{}` + strings.Repeat(`}`, 50), ErrDefaults},
		{"allOf that doubles", doubling(16, "allOf")[:len(doubling(16, "allOf"))-1] + `,"default":0}`, `{}`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := mustCompile(t, c.schema)
			var got []byte
			var err error
			spent := heap.Allocated(func() { got, err = s.ApplyDefaults(t.Context(), []byte(c.instance)) })
			if !errors.Is(err, c.want) {
				t.Errorf("want %v, got %v", c.want, err)
			}
			if limit := len(c.instance) + 2*MaxDefaultBytes; len(got) > limit {
				t.Errorf("want at most %d bytes, got %d", limit, len(got))
			}
			if spent > 16<<20 {
				t.Errorf("want at most 16 MiB allocated, got %d", spent)
			}
		})
	}
}

// numbered returns n members with this format.
func numbered(n int, format string) string {
	return strings.TrimSuffix(strings.TrimPrefix(distinct(n, format), "["), ",0]")
}

func TestApplyDefaultsReportsErrors(t *testing.T) {
	s := mustCompile(t, `{"properties":{"a":{"default":1,"anyOf":[{"$ref":"#"},{"$ref":"#"}]}}}`)
	_, err := s.ApplyDefaults(t.Context(), []byte(`{"a":`))
	if _, ok := errors.AsType[*ValidationError](err); !ok {
		t.Errorf("want a ValidationError for half a text, got %v", err)
	}
	s = mustCompile(t, `{"default":1,`+doubling(18, "allOf")[1:])
	if _, err := s.ApplyDefaults(t.Context(), []byte(`{}`)); !errors.Is(err, ErrBudget) {
		t.Errorf("want ErrBudget, got %v", err)
	}
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(errors.ErrUnsupported)
	if _, err := s.ApplyDefaults(ended, []byte(`{}`)); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("want the cause of the context's end, got %v", err)
	}
}
