package schema

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// countdown is a context that ends after a number of checks.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return errEnded
	}
	return nil
}

// TestValidationEndsWithItsContext checks that every kind of loop checks the context at the documented interval.
func TestValidationEndsWithItsContext(t *testing.T) {
	rep := strings.Repeat
	items := distinct(100_000, "1%d")
	object := `{` + numbered(30_000, `"p%d":1`) + `}`
	for _, c := range []struct{ name, schema, instance string }{
		{"decoding", `true`, items},
		{"items", `{"items":{"type":"integer"}}`, items},
		{"contains", `{"contains":{"type":"string"}}`, items},
		{"uniqueItems", `{"uniqueItems":true}`, items},
		{"unevaluatedItems", `{"unevaluatedItems":true}`, items},
		{"enum", `{"enum":` + distinct(90_000, "%d") + `}`, `-1`},
		{"const", `{"const":` + distinct(90_000, "%d") + `}`, distinct(90_000, "%d")},
		{"properties", `{"additionalProperties":true}`, object},
		{"patternProperties", `{"patternProperties":{"^p":true,"1$":true}}`, object},
		{"propertyNames", `{"propertyNames":{"minLength":1}}`, object},
		{"unevaluatedProperties", `{"unevaluatedProperties":true}`, object},
		{"dependentRequired", `{"dependentRequired":{"a":[` + rep(`"a",`, 100_000) + `"a"]}}`, `{"a":1}`},
		{"dependentSchemas", `{"dependentSchemas":{` + numbered(9000, `"p%d":true`) + `}}`, object},
		{"allOf", doubling(14, "allOf"), `"a"`},
		{"anyOf", doubling(14, "anyOf"), `1`},
		{"oneOf", doubling(14, "oneOf"), `1`},
		{"pattern", `{"pattern":"^(a|b|ab)*c$"}`, `"` + rep("ab", 1<<16) + `"`},
	} {
		s := mustCompile(t, c.schema)
		decoded := &countdown{t.Context(), 1 << 30}
		m := newMeter(decoded, len(c.instance))
		if _, _, err := m.decode([]byte(c.instance), MaxInstanceDepth, false); err != nil {
			t.Fatal(err)
		}
		looks := 1<<30 - decoded.left
		if c.name == "decoding" {
			looks = 0
		}
		err := s.Validate(&countdown{t.Context(), looks + 2}, []byte(c.instance))
		if !errors.Is(err, errEnded) {
			t.Errorf("%s: want an end in the middle, got %.200v", c.name, err)
		}
	}
}
