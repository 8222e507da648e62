package mcpserver

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/internal/schema"
)

func TestShapesOfSchemas(t *testing.T) {
	for text, known := range map[string]bool{
		`{"type":"object","additionalProperties":false}`:                                                        true,
		`{"title":"t","description":"d","type":["string","null"]}`:                                              true,
		`{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],"additionalProperties":false}`: true,
		`{"type":"array","items":{"type":"number"}}`:                                                            true,
		`{"type":"object"}`: false, // any property
		`{"type":"object","properties":{"a":{"minimum":1}},"additionalProperties":false}`:                            false,
		`{"type":"object","properties":{},"required":["b"],"additionalProperties":false}`:                            false,
		`{"type":"object","additionalProperties":{"type":"string"}}`:                                                 false,
		`{"type":"string","enum":["a"]}`:                                                                             false,
		`{"type":"array","items":{"$ref":"#"}}`:                                                                      false,
		`true`:                                                                                                       false,
		strings.Repeat(`{"type":"array","items":`, 20) + `{"type":"string"}` + strings.Repeat(`}`, 20):               false,
		`{"type":"object","properties":{` + manyProperties(64) + `},"additionalProperties":false}`:                   true,
		`{"type":"object","properties":{` + manyProperties(65) + `},"additionalProperties":false}`:                   false,
		`{"type":"object","properties":{"a":{"type":"string","format":"date-time"}},"additionalProperties":false}`:   false,
		`{"type":"object","properties":{"a":{"type":"string","default":"x"}},"additionalProperties":false}`:          false,
		`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","additionalProperties":false}`:         false,
		`{"type":"object","properties":{"a":{"type":"string"}},"patternProperties":{},"additionalProperties":false}`: false,
		`{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false,"minProperties":1}`:      false,
		`{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false,"dependentRequired":{}}`: false,
	} {
		if _, err := schema.Compile(json.RawMessage(text)); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if s := shapeOf(json.RawMessage(text)); (s != nil) != known {
			t.Errorf("%s has a shape: %v, want %v", text, s != nil, known)
		}
	}
}

func manyProperties(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(`"p%d":{"type":"string"}`, i)
	}
	return strings.Join(all, ",")
}

type shaped struct {
	S string   `json:"s"`
	I int      `json:"i,omitzero"`
	F float64  `json:"f,omitzero"`
	B *bool    `json:"b,omitzero"`
	L []string `json:"l,omitzero"`
	O struct {
		N []float64 `json:"n"`
	} `json:"o,omitzero"`
	P []struct {
		X *int `json:"x"`
	} `json:"p,omitzero"`
}

// TestAShapeRecognizesNoValueThatItsSchemaRefuses draws values that match the schema or nearly do.
func TestAShapeRecognizesNoValueThatItsSchemaRefuses(t *testing.T) {
	raw, err := schema.InferInput(reflect.TypeFor[shaped]())
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := schema.Compile(raw)
	if err != nil {
		t.Fatal(err)
	}
	s := shapeOf(raw)
	if s == nil {
		t.Fatalf("%s has no shape, want one: it is made from a type", raw)
	}
	recognized := 0
	rapid.Check(t, func(t *rapid.T) {
		value := drawValue(t, compiledMembers)
		matches, err := s.matches([]byte(value)), compiled.Validate(t.Context(), []byte(value))
		if matches && err != nil {
			t.Fatalf("%s is recognized, want refused: %v", value, err)
		}
		if matches {
			recognized++
		}
	})
	if !testing.Short() && recognized == 0 {
		t.Error("no value was recognized, want some")
	}
}

// compiledMembers are values for the members of shaped: right ones mostly.
var compiledMembers = map[string][]string{
	"s": {`"a"`, `"a"`, `"\u0061"`, `"\ud800"`, `"\n"`, `null`, `1`, "\"\xff\""},
	"i": {`1`, `-5`, `0`, `1.0`, `1e2`, `9223372036854775808`, `-0`, `1.5`, `"1"`, `null`},
	"f": {`1`, `1.5`, `1e300`, `1e400`, `-0`, `-1e-5`, `"1"`, `01`},
	"b": {`true`, `false`, `null`, `0`},
	"l": {`[]`, `["a","b"]`, `null`, `["a",1]`, `["a",]`, `{}`, ` [ "a" ] `},
	"o": {`{"n":[1,2.5]}`, `{"n":null}`, `{}`, `{"n":[1],"m":1}`, `{"n":[1],"n":[1]}`, `{"\u006e":[]}`, `null`},
	"p": {`[{"x":1},{"x":null}]`, `[{"x":1},{}]`, `[[]]`, `[{"x":1}`, `[{"y":1}]`},
	"z": {`1`},
}

func drawValue(t *rapid.T, members map[string][]string) string {
	names := []string{"s", "s", "s"}[:rapid.IntRange(0, 2).Draw(t, "s")]
	for _, name := range []string{"i", "f", "b", "l", "o", "p"} {
		if rapid.Bool().Draw(t, name) {
			names = append(names, name)
		}
	}
	if rapid.IntRange(0, 9).Draw(t, "z") == 0 {
		names = append(names, "z")
	}
	names = rapid.Permutation(names).Draw(t, "order")
	for i, name := range names {
		choices := members[name]
		at := 0
		if rapid.IntRange(0, 3).Draw(t, "wrong") == 0 {
			at = rapid.IntRange(0, len(choices)-1).Draw(t, "choice")
		}
		names[i] = `"` + name + `":` + choices[at]
	}
	return rapid.SampledFrom([]string{"", "", "", " "}).Draw(t, "space") + "{" + strings.Join(names, ",") + "}"
}
