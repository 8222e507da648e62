package toolargs

import (
	_ "embed"
	"encoding/json"
	"strings"
	"testing"
)

// manyTypes is a schema with an argument of each type that the command line supports. The tests of the command use it
// too.
//
//go:embed testdata/manytypes.json
var manyTypes string

func TestArgumentsGetTheTypesOfTheSchema(t *testing.T) {
	for typed, want := range map[string]string{
		"text=5":                     `{"text":"5"}`,
		"text=":                      `{"text":""}`,
		"text=a=b":                   `{"text":"a=b"}`,
		`text={"a":1}`:               `{"text":"{\"a\":1}"}`,
		"count=5":                    `{"count":5}`,
		"count=12345678901234567890": `{"count":12345678901234567890}`,
		"count=5.5":                  `count: "5.5" is not an integer`,
		"count=five":                 `count: "five" is not an integer`,
		"count=0x10":                 `count: "0x10" is not an integer`,
		"share=-1.5e3":               `{"share":-1.5e3}`,
		"share=NaN":                  `share: "NaN" is not a number`,
		"loud=true":                  `{"loud":true}`,
		"loud=no":                    `{"loud":false}`,
		"loud=1":                     `loud: "1" is not true or false`,
		"tags=a":                     `{"tags":["a"]}`,
		"tags=a|tags=b":              `{"tags":["a","b"]}`,
		`tags=["a","b"]`:             `{"tags":["a","b"]}`,
		"tags=[]":                    `{"tags":[]}`,
		"tags=[a":                    `{"tags":["[a"]}`,
		"counts=1|counts=2":          `{"counts":[1,2]}`,
		"counts=1|counts=x":          `counts: "x" is not an integer`,
		`where={"city":"Oslo"}`:      `{"where":{"city":"Oslo"}}`,
		"where=Oslo":                 `where: "Oslo" is not an object as JSON`,
		"size=l":                     `{"size":"l"}`,
		"size=xl":                    `size: "xl" is not one of "s", "l"`,
		"up=x":                       `up: "x" is not an integer`,
		"maybe=null":                 `{"maybe":null}`,
		"maybe=x":                    `{"maybe":"x"}`,
		"either=5":                   `{"either":5}`,
		"either=five":                `{"either":"five"}`,
		"level=2":                    `{"level":2}`,
		"level=3":                    `level: "3" is not one of 1, 2`,
		"any=5":                      `{"any":5}`,
		"any=x":                      `{"any":"x"}`,
		"several=a|several=b":        `{"several":["a","b"]}`,
		"several=a":                  `{"several":["a"]}`,
		"several=null":               `{"several":null}`,
		"text=a|text=b":              "text: given 2 times, want one value",
		"txt=a":                      `unknown argument "txt" (did you mean text?); known: text, any, count, counts, either`,
		"text=a|count=1|share=2":     `{"count":1,"share":2,"text":"a"}`,
	} {
		var fields []Field
		for part := range strings.SplitSeq(typed, "|") {
			name, value, _ := strings.Cut(part, "=")
			fields = append(fields, Field{name, value})
		}
		raw, err := Read(json.RawMessage(manyTypes)).Assign(fields)
		got := string(raw)
		if err != nil {
			got = err.Error()
		}
		if got != want && !(err != nil && strings.HasPrefix(got, want)) {
			t.Errorf("%s: got %s, want %s", typed, got, want)
		}
	}
}

func TestUnnamedArgumentsFollowAdditionalProperties(t *testing.T) {
	for schema, want := range map[string]string{
		`{}`:                            `unknown argument "x"; no arguments are allowed`,
		`{"properties":{"a":{}}}`:       `unknown argument "x"; known: a`,
		`{"additionalProperties":true}`: `{"x":1}`,
		`{"additionalProperties":{"type":"string"}}`:                                   `{"x":"1"}`,
		`{"additionalProperties":false}`:                                               `unknown argument "x"; no arguments are allowed`,
		`{"properties":{"x":true}}`:                                                    `{"x":1}`,
		`{"properties":{"x":{"type":7,"minimum":"no"}}}`:                               `{"x":1}`,
		`{"properties":{"x":{"type":"frob"}}}`:                                         `{"x":1}`,
		`{"$defs":{"l":{"$ref":"#/$defs/l"}},"properties":{"x":{"$ref":"#/$defs/l"}}}`: `{"x":1}`,
		`{"properties":7}`:                                                             `unknown argument "x"; no arguments are allowed`,
		`{"properties":{"x":{"$ref":"#/nowhere/at/all"}}}`:                             `{"x":1}`,
	} {
		raw, err := Read(json.RawMessage(schema)).Assign([]Field{{"x", "1"}})
		got := string(raw)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", schema, got, want)
		}
	}
}

// TestHostileSchemaIsReadQuickly reads schemas with references and alternatives that multiply.
func TestHostileSchemaIsReadQuickly(t *testing.T) {
	branches := strings.Repeat(`{"$ref":"#/$defs/a"},`, 99) + `{"$ref":"#/$defs/a"}`
	ps := Read(json.RawMessage(`{"$defs":{"a":{"anyOf":[` + branches + `]}},"required":["x","y"],
		"properties":{"x":{"$ref":"#/$defs/a"},"y":{"type":"array","minItems":10,"items":{"$ref":"#/properties/y"}}}}`))
	if got := ps.names(); len(got) != 2 {
		t.Errorf("got %v, want two arguments", got)
	}
	if words, _ := ps.Example(t.Context(), nil); len(words) == 0 {
		t.Error("got no example, want one")
	}
}
