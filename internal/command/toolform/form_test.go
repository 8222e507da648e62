package toolform

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/internal/command/toolargs"
)

// sketch describes fields in one line each, below their object or array.
func sketch(fields []*Field, indent string) string {
	var b strings.Builder
	for _, f := range fields {
		fmt.Fprintf(&b, "%s%s %s", indent, f.Path, f.Kind)
		for _, c := range f.Choices {
			mark := ""
			if c.Selected {
				mark = "*"
			}
			fmt.Fprintf(&b, " %s=%s%s", c.Value, c.Text, mark)
		}
		for _, note := range []struct {
			on   bool
			text string
		}{
			{f.Required, "required"}, {f.Value != "", fmt.Sprintf("%q", f.Value)}, {f.Default != "", "default " + f.Default},
			{f.Limits != "", "(" + f.Limits + ")"}, {f.Error != "", "error: " + f.Error}, {f.CanAdd, "+"}, {f.CanRemove, "-"},
		} {
			if note.on {
				b.WriteString(" " + note.text)
			}
		}
		b.WriteString("\n" + sketch(f.Fields, indent+"  "))
	}
	return b.String()
}

func TestSchemasBecomeFields(t *testing.T) {
	const boolean, anObject = "/x boolean =* true=true false=false", `"type":"object","properties":`
	for schema, want := range map[string]string{
		`{"type":"string","title":"The x","description":"what","minLength":1}`: "/x text (at least 1 characters)\n",
		`{"type":"string","maxLength":201}`:                                    "/x area (at most 201 characters)\n",
		`{"type":"string","contentMediaType":"text/html"}`:                     "/x area\n",
		`{"type":["string","null"],"default":null}`:                            "/x text\n",
		`{"type":["string","integer"]}`:                                        "/x text\n",
		`{"type":"integer","default":3,"minimum":1}`:                           "/x number default 3 (at least 1)\n",
		`{"type":"integer","minimum":1,"maximum":9007199254740991}`:            "/x number (at least 1)\n",
		`{"type":"integer","maximum":1000000000}`:                              "/x number (at most 1000000000)\n",
		`{"anyOf":[{"type":"number","maximum":9},{"type":"null"}]}`:            "/x number (at most 9)\n",
		`{"type":"boolean","default":true}`:                                    boolean + " default true\n",
		`{"type":["boolean","null"]}`:                                          boolean + " null=null\n",
		`{"enum":["s",5,"5"]}`:                                                 "/x choice =* \"s\"=s 5=5 \"5\"=5\n",
		`{"const":"s"}`:                                                        "/x choice =* \"s\"=s\n",
		`{"anyOf":[{"enum":["s"]},{"type":"null"}]}`:                           "/x choice =* \"s\"=s null=null\n",
		`{"type":"array","items":{"type":"string"},"maxItems":3}`:              "/x list (at most 3 items, items: string)\n",
		`{"type":"array","items":{"enum":["a"]}}`:                              "/x list a=a (each one of \"a\")\n",
		`{"type":"array","items":{"anyOf":[{"const":"a","title":"Ay"}]}}`:      "/x list a=Ay (a) (each one of \"a\")\n",
		`{"enum":["a","b"],"enumNames":["Ay"]}`:                                "/x choice =* \"a\"=Ay (a) \"b\"=b\n",
		`{"oneOf":[{"const":"a","title":"Ay"},{"const":"b"}]}`:                 "/x choice =* \"a\"=Ay (a) \"b\"=b\n",
		`{"enum":["a"],"enumNames":7}`:                                         "/x choice =* \"a\"=a\n",
		`{"type":"array"}`:                                                     "/x json\n",
		`{"type":"array","items":{"type":"array"}}`:                            "/x json (items: array)\n",
		`{}`:                           "/x json\n",
		`{"type":"object"}`:            "/x json\n",
		`{"type":["object","string"]}`: "/x json\n",
		`{"type":"object","properties":{"a":{}},"additionalProperties":true}`:                         "/x json\n",
		`{"anyOf":[{"type":"object","properties":{"a":{}}},{"type":"object","properties":{"b":{}}}]}`: "/x json\n",
		`{"type":"object","required":["b"],"properties":{"a":{"type":"string"},"b":{"type":"boolean"}}}`: "/x object\n" +
			"  /x/b boolean =* true=true false=false required\n  /x/a text\n",
		`{"type":"array","items":{` + anObject + `{"a":{"type":"string"}}}}`:            "/x array (items: object) +\n",
		`{"type":"array","items":{` + anObject + `{"a":{}},"additionalProperties":{}}}`: "/x json (items: object)\n",
	} {
		form := Of(json.RawMessage(`{"properties":{"x":` + schema + `}}`))
		if got := sketch(form.Fields(nil, nil), ""); got != want || !form.Complete() {
			t.Errorf("%s:\ngot  %swant %s", schema, got, want)
		}
	}
}

func TestRequiredArgumentsHaveFieldsAtOnce(t *testing.T) {
	form := Of(json.RawMessage(order))
	want := `/lines array required (at least 1 items, items: object) +
  /lines/0 object required
    /lines/0/sku text required
    /lines/0/qty number default 1
/size choice "s"=s* "l"=l required default s
/to object
  /to/zip text required
  /to/fast boolean =* true=true false=false required
/note text
/content area
`
	if diff := cmp.Diff(want, sketch(form.Fields(nil, nil), "")); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
}

// order is a schema with nested objects and an array of objects.
const order = `{"type":"object","required":["lines","size"],"properties":{
	"to":{"type":"object","required":["zip","fast"],"properties":{"zip":{"type":"string"},"fast":{"type":"boolean"}}},
	"lines":{"type":"array","minItems":1,"items":{"type":"object","required":["sku"],
		"properties":{"sku":{"type":"string"},"qty":{"type":"integer","default":1}}}},
	"size":{"enum":["s","l"],"default":"s"},"note":{"type":"string"},"content":{"type":"string"}}}`

func TestSubmittedValuesBecomeArguments(t *testing.T) {
	const none = `{"lines":[],"size":"l"`
	for query, want := range map[string]string{
		`/size="l"&/lines%23=1&/lines/0/sku=a`:                `{"lines":[{"sku":"a"}],"size":"l"}`,
		`/size=l&/lines%23=1&/lines/0/sku=a&/lines/0/qty= 2 `: `{"lines":[{"sku":"a","qty":2}],"size":"l"}`,
		`/size=l&/lines%23=0&/content=a%0D%0Ab&/note=`:        `{"lines":[],"size":"l","content":"a\nb"}`,
		`/size=l&/lines%23=2&/lines/1/sku=b`:                  `{"lines":[{"sku":""},{"sku":"b"}],"size":"l"}`,
		`/size=l&/lines%23=0&/to/fast=true`:                   `{"lines":[],"size":"l","to":{"zip":"","fast":true}}`,
		`/size=l&/lines%23=0&/to/zip=1`:                       `/to/fast: a value is required`,
		`/lines%23=1&/lines/0/qty=x`: `/lines/0/qty: "x" is not an integer; ` +
			`/size: a value is required`,
		`/size=m&/lines%23=0`:                                       `/size: this is not one of the choices`,
		`/size=l&/lines%23=x`:                                       `{"lines":[],"size":"l"}`,
		`/size=l&/lines%23=-1&/unknown=1`:                           `{"lines":[],"size":"l"}`,
		`/size=l&/lines%23=0&/note=` + strings.Repeat("x", 1<<20):   none + `,"note":"` + strings.Repeat("x", 1<<20) + `"}`,
		`/size=l&/lines%23=0&/note=%22%3C&/content=%F0%9F%98%80%FF`: none + `,"note":"\"\u003c","content":"😀\ufffd"}`,
	} {
		if got := built(Of(json.RawMessage(order)), query); got != want {
			t.Errorf("%.100s:\ngot  %.200s\nwant %.200s", query, got, want)
		}
	}
}

func TestValuesGetTheTypesOfTheSchema(t *testing.T) {
	for _, tc := range []struct{ schema, text, want string }{
		{`{"type":"number"}`, "1.50", `{"x":1.50}`},
		{`{"type":"number"}`, "", `/x: a value is required`},
		{`{"type":["number","null"]}`, "null", `{"x":null}`},
		{`{"type":"string"}`, "", `{"x":""}`},
		{`{"type":"array","items":{"type":"integer"}}`, "1\r\n\r\n 2\r\n", `{"x":[1,2]}`},
		{`{"type":"array","items":{"type":"integer"}}`, "1\nx", `/x: item 2: "x" is not an integer`},
		{`{"type":"array","items":{"type":"string"}}`, "", `{"x":[]}`},
		{`{}`, `{"a": [1, 2]}`, `{"x":{"a":[1,2]}}`},
		{`{}`, `5`, `{"x":5}`},
		{`{}`, `"5"`, `{"x":"5"}`},
		{`{}`, `a b`, `{"x":"a b"}`},
		{`{}`, `{"a":}`, `/x: not valid JSON: invalid character '}' looking for beginning of value`},
		{`{"type":["string","array"]}`, "[1]", `{"x":[1]}`},
		{`{"type":["string","array"]}`, "[note", `{"x":"[note"}`},
		{`{"type":"object"}`, "[1]", `/x: "[1]" is not an object as JSON`},
		{`{"type":"object"}`, `"a"`, `/x: "\"a\"" is not an object as JSON`},
		{`{"type":"object"}`, "", `/x: a value is required`},
	} {
		form := Of(json.RawMessage(`{"required":["x"],"properties":{"x":` + tc.schema + `}}`))
		if got := built(form, url.Values{"/x": {tc.text}}.Encode()); got != tc.want {
			t.Errorf("%s with %q: got %s, want %s", tc.schema, tc.text, got, tc.want)
		}
	}
}

// built returns the arguments, or the errors by path.
func built(form *Form, query string) string {
	v, err := url.ParseQuery(query)
	if err != nil {
		return err.Error()
	}
	raw, errs := form.Arguments(v)
	var lines []string
	for _, path := range slices.Sorted(maps.Keys(errs)) {
		lines = append(lines, path+": "+errs[path].Error())
	}
	return string(raw) + strings.Join(lines, "; ")
}

func TestOtherArgumentsAreJSON(t *testing.T) {
	form := Of(json.RawMessage(`{"properties":{"a":{"type":"string"}},"additionalProperties":true}`))
	if got, want := sketch(form.Fields(url.Values{"#": {"{"}}, nil), ""), "/a text\n# json \"{\"\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	unlisted := Of(json.RawMessage(`{"oneOf":[{"properties":{"a":{}}},{"properties":{"b":{}}}]}`))
	if got, want := sketch(unlisted.Fields(nil, nil), ""), "# json\n"; got != want {
		t.Errorf("alternatives: got %s, want %s", got, want)
	}
	for text, want := range map[string]string{
		``: `{"a":"x"}`, `{}`: `{"a":"x"}`, ` { "b": 1 } `: `{"a":"x","b":1}`,
		`{"a":1}`: `#: the argument "a" has a field of its own`,
		`[1]`:     "#: the arguments: not a JSON object, but an array: [1]\n^",
	} {
		if got := built(form, url.Values{"/a": {"x"}, "#": {text}}.Encode()); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
	v, err := form.Values(json.RawMessage(`{"b":{"c":1},"a":"x"}`))
	if want := (url.Values{"/a": {"x"}, "#": {"{\n  \"b\": {\n    \"c\": 1\n  }\n}"}}); err != nil || !cmp.Equal(v, want) {
		t.Errorf("got %q, %v, want %q", v, err, want)
	}
}

func TestValuesRejectsArgumentsThatTheFormCannotShow(t *testing.T) {
	for arguments, want := range map[string]string{
		`[]`:                      "not a JSON object, but an array",
		`{"x":1}`:                 `unknown argument "x"`,
		`{"to":null}`:             "/to is not an object",
		`{"to":{"x":1}}`:          `/to has an unknown member "x"`,
		`{"lines":{}}`:            "/lines is not an array",
		`{"lines":[null]}`:        "/lines/0 is not an object",
		`{"lines":[{"qty":"2"}]}`: "/lines/0/qty has a value that the field cannot show",
		`{"size":"m"}`:            "/size is not one of the choices",
		`{"note":"a\rb"}`:         "/note has a value that the field cannot show",
		`{"lines":[{}` + strings.Repeat(`,{}`, 100) + `]}`: "/lines has more than 100 items",
	} {
		if v, err := Of(json.RawMessage(order)).Values(json.RawMessage(arguments)); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, %v, want an error with %q", arguments, v, err, want)
		}
	}
	tags := Of(json.RawMessage(`{"properties":{"tags":{"type":"array","items":{"type":"string"}}}}`))
	for _, arguments := range []string{`{"tags":[""]}`, `{"tags":["a\nb"]}`, `{"tags":[1]}`} {
		if v, err := tags.Values(json.RawMessage(arguments)); err == nil {
			t.Errorf("%s: got %v, want an error", arguments, v)
		}
	}
	for _, none := range []string{"", "null", "{}"} {
		if v, err := tags.Values(json.RawMessage(none)); err != nil || len(v) > 0 {
			t.Errorf("%q: got %v, %v, want no values", none, v, err)
		}
	}
}

func TestItemsAreAddedAndRemoved(t *testing.T) {
	form := Of(json.RawMessage(`{"required":["a"],"properties":{"a":{"type":"array","maxItems":3,"minItems":1,"items":{
		"type":"object","properties":{"x":{"type":"string"},"b":{"type":"array","items":{"type":"object","properties":{
		"y":{"type":"string"}}}}}}},"c":{"type":"object","properties":{"d":{"type":"array","items":{"type":"object",
		"properties":{"y":{"type":"string"}}}}}}}}`))
	v := url.Values{"/a/0/x": {"zero"}}
	form.Add(v, "/a")
	form.Add(v, "/a")
	form.Add(v, "/a")
	form.Add(v, "/a/1/b")
	form.Add(v, "/a/2/b")
	form.Add(v, "/a/2/b")
	form.Add(v, "/c/d")
	v.Set("/a/1/x", "one")
	v.Set("/a/1/b/0/y", "one y")
	v.Set("/a/2/b/1/y", "two y")
	for _, none := range []string{"", "/", "/a/0", "/x", "/a/0/x", "/c", "#", "/a/"} {
		form.Add(v, none)
	}
	for _, none := range []string{"", "/", "/a", "/a/3", "/a/-1", "/a/x", "/c/0", "/a/0/x", "/a/0/b/0", "#"} {
		form.Remove(v, none)
	}
	want := url.Values{"/a#": {"3"}, "/a/0/x": {"zero"}, "/a/1/x": {"one"}, "/a/1/b#": {"1"}, "/a/1/b/0/y": {"one y"},
		"/a/2/b#": {"2"}, "/a/2/b/1/y": {"two y"}, "/c/d#": {"1"}}
	if diff := cmp.Diff(want, v); diff != "" {
		t.Errorf("after adding (-want +got):\n%s", diff)
	}
	form.Remove(v, "/a/0")
	form.Remove(v, "/a/1/b/0")
	form.Remove(v, "/c/d/0")
	want = url.Values{"/a#": {"2"}, "/a/0/x": {"one"}, "/a/0/b#": {"1"}, "/a/0/b/0/y": {"one y"},
		"/a/1/b#": {"1"}, "/a/1/b/0/y": {"two y"}, "/c/d#": {"0"}}
	if diff := cmp.Diff(want, v); diff != "" {
		t.Errorf("after removing (-want +got):\n%s", diff)
	}
	fields := form.Fields(v, map[string]error{"/a/1/b/0/y": errors.New("wrong\x1b")})
	drawn := `/a array required (at least 1 items, at most 3 items, items: object) +
  /a/0 object required -
    /a/0/x text "one"
    /a/0/b array (items: object) +
      /a/0/b/0 object required -
        /a/0/b/0/y text "one y"
  /a/1 object required -
    /a/1/x text
    /a/1/b array (items: object) +
      /a/1/b/0 object required -
        /a/1/b/0/y text "two y" error: wrong` + "\ufffd" + `
/c object
  /c/d array (items: object) +
`
	if diff := cmp.Diff(drawn, sketch(fields, "")); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	form.Remove(v, "/a/0")
	if last := form.Fields(v, nil)[0]; !last.CanAdd || len(last.Fields) != 1 || last.Fields[0].CanRemove {
		t.Errorf("one item of at least one: got %+v, want no removal", last)
	}
}

func TestFieldsShowValuesThatTheirInputWouldChange(t *testing.T) {
	form := Of(json.RawMessage(`{"properties":{"n":{"type":["number","null"]},"s":{"type":"string"}}}`))
	fields := form.Fields(url.Values{"/n": {"null"}, "/s": {"a\r\nb"}}, nil)
	if got, want := sketch(fields, ""), "/n text \"null\"\n/s area \"a\\nb\"\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestArgumentsAndValuesAreInverse generates schemas and valid arguments. Exceptions, which the generator avoids, are
// optional values without text, and texts that the documentation of Values excludes.
func TestArgumentsAndValuesAreInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		schema, value := anObject(t, 0)
		arguments := encoded(value)
		form := Of(encoded(schema))
		v, err := form.Values(arguments)
		if err != nil {
			t.Fatalf("values of %s for %s: %v", arguments, encoded(schema), err)
		}
		submitted := url.Values{}
		submit(form.Fields(v, nil), submitted)
		for name, v := range map[string]url.Values{"values": v, "fields": submitted} {
			got, errs := form.Arguments(v)
			if len(errs) > 0 || !toolargs.SameJSON(got, arguments) {
				t.Fatalf("arguments from %s: got %s, %v, want %s for %s", name, got, errs, arguments, encoded(schema))
			}
		}
	})
}

// submit adds the values of fields in the form in which a browser submits them.
func submit(fields []*Field, v url.Values) {
	for _, f := range fields {
		switch f.Kind {
		case KindObject, KindArray:
			if f.Kind == KindArray {
				v.Set(f.Path+"#", strconv.Itoa(len(f.Fields)))
			}
			submit(f.Fields, v)
		case KindChoice, KindBoolean:
			v.Set(f.Path, f.Choices[0].Value)
			for _, c := range f.Choices {
				if c.Selected {
					v.Set(f.Path, c.Value)
				}
			}
		default:
			v.Set(f.Path, strings.ReplaceAll(f.Value, "\n", "\r\n"))
		}
	}
}

func encoded(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

var (
	aText   = rapid.StringMatching(`[^\r]+`).Filter(func(s string) bool { return s != "null" })
	aLine   = rapid.StringMatching(`[^\r\n]+`)
	aName   = rapid.SampledFrom([]string{"a", "b", "content", "d/e", "f~1", "g.h", "é", "", "0"})
	aNumber = rapid.Float64Range(-1e9, 1e9)
)

// anObject returns a schema of an object that lists its members, and a valid value.
func anObject(t *rapid.T, depth int) (schema, value map[string]any) {
	properties, required, value := map[string]any{}, []string{}, map[string]any{}
	for _, name := range rapid.SliceOfNDistinct(aName, 1, 4, rapid.ID).Draw(t, "names") {
		member, v := aValue(t, depth+1)
		properties[name] = member
		switch {
		case rapid.Bool().Draw(t, "required"):
			required = append(required, name)
			value[name] = v
		case !empty(v) && rapid.Bool().Draw(t, "given"):
			value[name] = v
		}
	}
	return map[string]any{"type": "object", "properties": properties, "required": required}, value
}

// empty reports whether an optional value has no text.
func empty(v any) bool {
	switch v := v.(type) {
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		for _, m := range v {
			if !empty(m) {
				return false
			}
		}
		return true
	}
	return false
}

// aValue returns a schema and a valid value.
func aValue(t *rapid.T, depth int) (schema map[string]any, value any) {
	kinds := []string{"string", "nullable", "integer", "number", "boolean", "enum", "strings", "numbers", "any", "open"}
	if depth < 7 {
		kinds = append(kinds, "object", "objects", "objects")
	}
	switch rapid.SampledFrom(kinds).Draw(t, "kind") {
	case "string":
		return map[string]any{"type": "string"}, rapid.OneOf(aText, rapid.Just("")).Draw(t, "text")
	case "nullable":
		schema = map[string]any{"anyOf": []any{map[string]any{"type": "string"}, map[string]any{"type": "null"}}}
		if rapid.Bool().Draw(t, "null") {
			return schema, nil
		}
		return schema, aText.Draw(t, "text")
	case "integer":
		return map[string]any{"type": "integer"}, rapid.Int32().Draw(t, "integer")
	case "number":
		return map[string]any{"type": []string{"null", "number"}}, aNumber.Draw(t, "number")
	case "boolean":
		return map[string]any{"type": "boolean"}, rapid.Bool().Draw(t, "boolean")
	case "enum":
		values := []any{"", "a", "5", 5, true, nil, map[string]any{"a": 1}}
		return map[string]any{"enum": values}, rapid.SampledFrom(values).Draw(t, "choice")
	case "strings":
		return map[string]any{"type": "array", "items": map[string]any{"type": "string"}},
			some(rapid.SliceOfN(aLine, 0, 3).Draw(t, "lines"))
	case "numbers":
		return map[string]any{"type": "array", "items": map[string]any{"type": "number"}},
			some(rapid.SliceOfN(aNumber, 0, 3).Draw(t, "numbers"))
	case "any":
		_, value = aValue(t, depth+1)
		if empty(value) {
			value = 1
		}
		return map[string]any{}, value
	case "open":
		_, value := anObject(t, depth+1)
		return map[string]any{"type": "object", "additionalProperties": true}, value
	case "object":
		return anObjectValue(t, depth)
	}
	schema, first := anObject(t, depth)
	items := []any{first, first}[:rapid.IntRange(0, max(1, 2-depth)).Draw(t, "items")]
	return map[string]any{"type": "array", "items": schema}, items
}

func anObjectValue(t *rapid.T, depth int) (map[string]any, any) {
	schema, value := anObject(t, depth)
	return schema, value
}

func some[T any](items []T) []any {
	all := []any{}
	for _, item := range items {
		all = append(all, item)
	}
	return all
}

// TestHostileSchemasAreBounded builds forms for schemas that are large, deep or recursive. Without bounds, the work or
// the number of fields would be exponential.
func TestHostileSchemasAreBounded(t *testing.T) {
	var wide, tree []string
	for i := range 10_000 {
		wide = append(wide, fmt.Sprintf(`"a%d":{"type":"string","enum":["x","y"]}`, i))
	}
	for i := range 50 {
		tree = append(tree, fmt.Sprintf(`"a%d":{"$ref":"#/$defs/tree"}`, i))
	}
	long := strings.Repeat("x", 1<<20)
	const array = `{"type":"array","items":{"type":"object","properties":{"a":{}}}}`
	deep := strings.Repeat(`{"type":"object","properties":{"x":`, 4000) + "{}" + strings.Repeat("}}", 4000)
	chains := strings.Repeat(`{"type":"array","items":{"type":"object","properties":{"x":`, 1000) + "{}" +
		strings.Repeat("}}}", 1000)
	for name, tc := range map[string]struct {
		schema   string
		complete bool
		fields   int // at most
	}{
		"wide":        {`{"properties":{` + strings.Join(wide, ",") + `}}`, false, 1},
		"wide object": {`{"properties":{"x":{"type":"object","properties":{` + strings.Join(wide, ",") + `}}}}`, true, 1},
		"tree": {`{"$defs":{"tree":{"type":"object","properties":{` + strings.Join(tree, ",") + `}}},
			"properties":{"x":{"$ref":"#/$defs/tree"}}}`, true, 200},
		"recursive": {`{"$defs":{"x":{"$ref":"#/$defs/x"}},"properties":{"x":{"$ref":"#/$defs/x"}}}`, true, 1},
		"deep":      {`{"properties":{"x":` + deep + `}}`, true, 5},
		"arrays":    {`{"properties":{"x":` + chains + `}}`, true, 2000},
		"long texts": {`{"$defs":{"x":{"type":"string","description":"` + long + `","title":"` + long +
			`","default":"` + long + `","pattern":"` + long + `"}},"properties":{` +
			strings.ReplaceAll(strings.Join(tree, ","), "tree", "x") + `}}`, true, 50},
		"long choices": {`{"properties":{"x":{"enum":["` + long + `",1]}}}`, true, 1},
		"many choices": {`{"properties":{"x":{"enum":[` + strings.Repeat("1,", 100_000) + `1]}}}`, true, 1},
		"a number":     {`{"properties":{"x":` + array + `,"x#":{}}}`, false, 1},
		"no schema":    {`[1`, true, 0},
	} {
		begun := time.Now()
		form := Of(json.RawMessage(tc.schema))
		if form.Complete() != tc.complete {
			t.Errorf("%s: complete: got %v, want %v", name, form.Complete(), tc.complete)
		}
		v := url.Values{}
		v.Set("/x#", "1000000")
		for i := range 100 {
			v.Set(fmt.Sprintf("/x/%d/x#", i), "1000000")
		}
		form.Add(v, "/x/0/x")
		v.Set("/x", long)
		v.Set("#", `{"x":"`+long+`"}`)
		fields := form.Fields(v, nil)
		count, size := 0, 0
		for level := fields; len(level) > 0; {
			var next []*Field
			for _, f := range level {
				count++
				size += len(f.Label) + len(f.Description) + len(f.Default) + len(f.Limits)
				for _, c := range f.Choices {
					size += len(c.Text)
				}
				next = append(next, f.Fields...)
			}
			level = next
		}
		if count > tc.fields+1 || size > 1<<20 {
			t.Errorf("%s: got %d fields with %d bytes, want at most %d with 1 MiB", name, count, size, tc.fields)
		}
		_, _ = form.Arguments(v)
		_, _ = form.Values(json.RawMessage(`{"x":"` + long + `"}`))
		if took := time.Since(begun); took > 20*time.Second {
			t.Errorf("%s: took %v, want less than 20s", name, took)
		}
	}
}

func TestListOfChoicesShowsItsItems(t *testing.T) {
	f := Of(json.RawMessage(`{"properties":{"x":{"type":"array","items":{"enum":["a","b","c"]}}}}`))
	for arguments, want := range map[string]string{
		`{"x":["a","c"]}`: "a* b c*", `{"x":["c","a"]}`: "", `{"x":["a","a"]}`: "", `{"x":["z"]}`: "", `{}`: "a b c",
	} {
		v, err := f.Values(json.RawMessage(arguments))
		if err != nil {
			if want != "" {
				t.Errorf("%s: %v", arguments, err)
			}
			continue
		}
		field := f.Fields(v, nil)[0]
		var got []string
		for _, c := range field.Choices {
			mark := ""
			if c.Selected {
				mark = "*"
			}
			got = append(got, c.Value+mark)
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s: want the choices %q, got %q", arguments, want, text)
		}
		if back, wrong := f.Arguments(v); string(back) != arguments || len(wrong) > 0 {
			t.Errorf("want %s again, got %s, %v", arguments, back, wrong)
		}
	}
}
