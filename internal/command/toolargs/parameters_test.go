package toolargs

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
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
		"txt=a":                      `unknown argument "txt" (did you mean text?); known: text, count, share, loud, tags`,
		"text=a|count=1|share=2":     `{"count":1,"share":2,"text":"a"}`,
		"where.city=Oslo":            `{"where":{"city":"Oslo"}}`,
		"tags[0]=a|tags[1]=b":        `{"tags":["a","b"]}`,
	} {
		raw, err := Read(json.RawMessage(manyTypes)).Assign(fields(typed))
		got := string(raw)
		if err != nil {
			got = err.Error()
		}
		if got != want && !(err != nil && strings.HasPrefix(got, want)) {
			t.Errorf("%s: got %s, want %s", typed, got, want)
		}
	}
}

// nested is a schema with objects, arrays of objects, and names that look like paths.
const nested = `{"type":"object","required":["lines"],
	"$defs":{"place":{"type":"object","required":["zip"],"properties":{"city":{"type":"string"},"zip":{"type":"string"},
		"at.lat":{"type":"number"}}}},
	"properties":{
		"to":{"anyOf":[{"$ref":"#/$defs/place"},{"type":"null"}]},
		"lines":{"type":"array","items":{"type":"object","properties":{
			"sku":{"type":"string"},"qty":{"type":"integer"},"tags":{"type":"array","items":{"type":"string"}},
			"from":{"$ref":"#/$defs/place"}}}},
		"note":{"type":"string"},
		"limits":{"type":"object","properties":{"a":{}},"additionalProperties":{"type":"integer"}},
		"closed":{"type":"object","additionalProperties":false},
		"to.city":{"type":"integer"},
		"any":{},
		"size":{"anyOf":[{"enum":["s","l"]},{"type":"null"}]},
		"speed":{"anyOf":[{"enum":["fast"]},{"type":"integer"}]}
	}}`

func TestNestedNamesAssignMembersAndItems(t *testing.T) {
	for typed, want := range map[string]string{
		"to.zip=0150":                     `{"to":{"zip":"0150"}}`,
		"to.zip=1|to.at.lat=59.9":         `{"to":{"at.lat":59.9,"zip":"1"}}`,
		"to.city=1":                       `{"to.city":1}`,
		"to.city=Oslo":                    `to.city: "Oslo" is not an integer`,
		"to=null":                         `{"to":null}`,
		"lines[1].qty=2|lines[0].sku=5":   `{"lines":[{"sku":"5"},{"qty":2}]}`,
		"lines[0].tags=a|lines[0].tags=b": `{"lines":[{"tags":["a","b"]}]}`,
		"lines[0].from.zip=1":             `{"lines":[{"from":{"zip":"1"}}]}`,
		`lines[0]={"qty":1}`:              `{"lines":[{"qty":1}]}`,
		"limits.b=2":                      `{"limits":{"b":2}}`,
		"limits.b=x":                      `limits.b: "x" is not an integer`,
		"any.a[0].b=2":                    `{"any":{"a":[{"b":2}]}}`,
		"size=null":                       `{"size":null}`,
		"size=m":                          `size: "m" is not one of "s", "l", null`,
		"speed=3":                         `{"speed":3}`,
		"lines[0].qty=x":                  `lines[0].qty: "x" is not an integer`,
		"lines[0].qyt=1":                  `lines[0]: unknown member "qyt" (did you mean qty?); known: sku, qty, tags, from`,
		"to.town=x":                       `to: unknown member "town"; known: zip, city, at.lat`,
		"closed.a=1":                      `closed: unknown member "a"; no members are allowed`,
		"lines[0].qty=1|lines[2].qty=1":   `lines[1] is missing; number the items from 0, without a gap`,
		"lines[999999999].qty=1":          `lines[0] is missing; number the items from 0, without a gap`,
		"note.a=1":                        `note.a: note is of type string, which has no members`,
		"note[0]=1":                       `note[0]: note is of type string, which has no items`,
		"lines.a=1":                       `lines.a: lines is of type array, which has no members`,
		"lines[x].qty=1":                  `lines[x].qty: want the number of an item in brackets, such as lines[0]`,
		"lines[0=1":                       `lines[0: want the number of an item in brackets, such as lines[0]`,
		"lines[-1]=1":                     `lines[-1]: want the number of an item in brackets, such as lines[0]`,
		"lines[0]qty=1":                   `lines[0]qty: want a period or a bracket after lines[0]`,
		`to={"zip":"1"}|to.zip=2`:         `to: given both as a whole and in parts; want one of the two`,
		"any.a=1|any[0]=1":                `any: given both with members and with items; want one of the two`,
		"line[0].qty=1":                   `unknown argument "line" (did you mean lines?); known: lines, to, note`,
		"to.cit=1":                        `to: unknown member "cit" (did you mean city?); known: zip, city, at.lat`,
		"ton.city=1":                      `unknown argument "ton.city" (did you mean to.city?); known: lines`,
		"any" + strings.Repeat("[0]", 2000) + "=1": `{"any":` + strings.Repeat("[", 2000) + "1" +
			strings.Repeat("]", 2000) + "}",
	} {
		raw, err := Read(json.RawMessage(nested)).Assign(fields(typed))
		got := string(raw)
		if err != nil {
			got = err.Error()
		}
		if got != want && !(err != nil && strings.HasPrefix(got, want)) {
			t.Errorf("%.80s: got %.200s, want %s", typed, got, want)
		}
	}
}

func TestContentOfAFileGetsTheTypeOfTheSchema(t *testing.T) {
	schema := json.RawMessage(`{"properties":{"text":{"type":"string"},"count":{"type":"integer"},
		"data":{"type":"string","contentEncoding":"base64"},"to":{"type":"object"},
		"files":{"type":"array","items":{"type":"string","contentEncoding":"base64"}},
		"counts":{"type":"array","items":{"type":"integer"}}}}`)
	for _, tc := range []struct{ name, content, want string }{
		{"text", " a\n", `{"text":" a\n"}`},
		{"text", "\xff", "text: the content of f is not UTF-8 text, and the schema does not ask for base64"},
		{"count", "5\n", `{"count":5}`},
		{"data", "\xff\x00", `{"data":"/wA="}`},
		{"files", "\xff\x00", `{"files":["/wA="]}`},
		{"counts", "[1,2]\n", `{"counts":[1,2]}`},
		{"to", " {\"a\":1}\n", `{"to":{"a":1}}`},
		{"to", "{\n\"a\":x}", "to: f: not a JSON object: line 2, column 5: invalid character 'x' at start of value\n"},
		{"count", strings.Repeat("x", 1<<20), `count: "` + strings.Repeat("x", 100) + `…" is not an integer`},
	} {
		raw, err := Read(schema).Assign([]Field{{tc.name, tc.content, "f"}})
		got := string(raw)
		if err != nil {
			got = err.Error()
		}
		if got != tc.want && !(err != nil && strings.HasPrefix(got, tc.want)) {
			t.Errorf("%s from %.20q: got %s, want %s", tc.name, tc.content, got, tc.want)
		}
	}
}

// fields splits NAME=VALUE arguments at |.
func fields(typed string) (all []Field) {
	for part := range strings.SplitSeq(typed, "|") {
		name, value, _ := strings.Cut(part, "=")
		all = append(all, Field{Name: name, Value: value})
	}
	return all
}

func TestMembersHaveTheOrderOfTheSchema(t *testing.T) {
	ps := Read(json.RawMessage(nested))
	if got, want := strings.Join(ps.names(), " "), "lines to note limits closed to.city any size speed"; got != want {
		t.Errorf("arguments: got %s, want %s", got, want)
	}
	item := ps.All[0].Item()
	if got, want := strings.Join(names(item.Members()), " "), "sku qty tags from"; got != want {
		t.Errorf("members of an item: got %s, want %s", got, want)
	}
	for _, place := range []*Parameter{ps.All[1], item.Members()[3]} { // by a reference, and also with null
		members := place.Members()
		if got := strings.Join(names(members), " "); got != "zip city at.lat" || !members[0].Required || members[1].Required {
			t.Errorf("members of %s: got %s, want zip first, and only zip required", place.Name, got)
		}
	}
}

func TestUnnamedArgumentsFollowAdditionalProperties(t *testing.T) {
	const none = `unknown argument "x"; no arguments are allowed`
	for schema, want := range map[string]string{
		`{}`:                            none,
		`{"properties":{"a":{}}}`:       `unknown argument "x"; known: a`,
		`{"additionalProperties":true}`: `{"x":1}`,
		`{"additionalProperties":{"type":"string"}}`:                                   `{"x":"1"}`,
		`{"additionalProperties":false}`:                                               none,
		`{"properties":{"x":true}}`:                                                    `{"x":1}`,
		`{"properties":{"x":{"type":7,"minimum":"no"}}}`:                               `{"x":1}`,
		`{"properties":{"x":{"type":"frob"}}}`:                                         `{"x":1}`,
		`{"$defs":{"l":{"$ref":"#/$defs/l"}},"properties":{"x":{"$ref":"#/$defs/l"}}}`: `{"x":1}`,
		`{"$ref":"#/$defs/a","$defs":{"a":{"properties":{"x":{"type":"string"}}}}}`:    `{"x":"1"}`,
		`{"oneOf":[{"properties":{"x":{}}},{"properties":{"y":{}}}]}`:                  `{"x":1}`,
		`{"allOf":[{"properties":{"x":{}}}]}`:                                          `{"x":1}`,
		`{"anyOf":[{"required":["x"]}],"properties":{"y":{}}}`:                         `unknown argument "x"; known: y`,
		`{"properties":7}`: none,
		`{"properties":{"x":{"$ref":"#/nowhere/at/all"}}}`: `{"x":1}`,
	} {
		raw, err := Read(json.RawMessage(schema)).Assign(fields("x=1"))
		got := string(raw)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", schema, got, want)
		}
	}
}

// TestHostileSchemaIsReadQuickly reads schemas with references and alternatives that multiply, which the budgets of a
// document bound.
func TestHostileSchemaIsReadQuickly(t *testing.T) {
	branches := strings.Repeat(`{"$ref":"#/$defs/a"},`, 99) + `{"$ref":"#/$defs/a"}`
	var references, definitions, wide []string
	for i := range 10_000 {
		references = append(references, fmt.Sprintf(`"a%d":{"$ref":"#/$defs/a%[1]d/x"}`, i))
		definitions = append(definitions, fmt.Sprintf(`"a%d":{"x":{"type":"object"}}`, i))
		wide = append(wide, fmt.Sprintf(`"a%d":{"$ref":"#/$defs/wide"}`, i))
	}
	deep := strings.Repeat(`{"type":"object","properties":{"x":`, 2000) + "{}" + strings.Repeat("}}", 2000)
	for name, schema := range map[string]string{
		"branches": `{"$defs":{"a":{"anyOf":[` + branches + `]}},"required":["x","y"],"properties":{"x":{"$ref":"#/$defs/a"},
			"y":{"type":"array","minItems":10,"items":{"$ref":"#/properties/y"}}}}`,
		"references": `{"$defs":{` + strings.Join(definitions, ",") + `},
			"properties":{` + strings.Join(references, ",") + `}}`,
		"wide": `{"$defs":{"wide":{"type":"object","properties":{` + strings.Join(wide, ",") + `}}},
			"properties":{"x":{"$ref":"#/$defs/wide"}}}`,
		"deep":        `{"required":["x"],"properties":{"x":` + deep + `}}`,
		"many values": `{"properties":{"x":{"enum":[` + strings.Repeat("1,", 100_000) + `1]}}}`,
		"long types":  `{"properties":{"x":{"type":[` + strings.Repeat(`"a",`, 100_000) + `"b"]}}}`,
	} {
		begun := time.Now()
		ps := Read(json.RawMessage(schema))
		if len(ps.All) == 0 {
			t.Errorf("%s: got no arguments, want those of the schema", name)
		}
		found := 0
		for level := ps.All; len(level) > 0; {
			var next []*Parameter
			for _, p := range level {
				found++
				next = append(next, p.Members()...)
				next = append(next, p.Item().Members()...)
				_ = p.Limits()
			}
			level = next
		}
		if most := 3 * 10_000; found > most {
			t.Errorf("%s: got %d members, want at most %d", name, found, most)
		}
		_, _ = Read(json.RawMessage(schema)).Example(t.Context(), nil)
		_, err := ps.Assign([]Field{{Name: "x", Value: strings.Repeat("x", 1<<20)}})
		if err != nil && len(err.Error()) > 200_000 {
			t.Errorf("%s: got an error of %d bytes, want less than 200,000", name, len(err.Error()))
		}
		if took := time.Since(begun); took > 20*time.Second {
			t.Errorf("%s: took %v, want less than 20s", name, took)
		}
	}
}
