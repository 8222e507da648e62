package mirror

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/internal/jsonscan/jsontest"
)

// marked returns the schema of a property with a mark, by its type and name.
func marked(kind, name string) string {
	return fmt.Sprintf(`{"type":%q,"x-mcp-header":%q}`, kind, name)
}

// with returns an input schema with these members in its properties.
func with(properties string) string {
	return `{"type":"object","properties":{` + properties + `}}`
}

func TestMarkedPropertiesBecomeParams(t *testing.T) {
	for name, test := range map[string]struct {
		schema string
		want   []Param
	}{
		"none":    {`{"type":"object"}`, nil},
		"boolean": {`true`, nil},
		"the specification's example": {
			`{"type":"object","properties":{
				"region":{"type":"string","description":"The region","x-mcp-header":"Region"},
				"query":{"type":"string","description":"The SQL query"}},"required":["region","query"]}`,
			[]Param{{"Mcp-Param-Region", []string{"region"}, "string"}},
		},
		"every type, in the order of the schema": {
			with(`"c":` + marked("string", "C") + `,"a":` + marked("integer", "A") + `,"b":` + marked("boolean", "B")),
			[]Param{
				{"Mcp-Param-C", []string{"c"}, "string"},
				{"Mcp-Param-A", []string{"a"}, "integer"},
				{"Mcp-Param-B", []string{"b"}, "boolean"},
			},
		},
		"nested": {
			with(`"a":{"properties":{"b":{"type":"object","properties":{"c":` + marked("string", "Deep") + `}}}}`),
			[]Param{{"Mcp-Param-Deep", []string{"a", "b", "c"}, "string"}},
		},
		"a name like a standard header's": {
			with(`"m":` + marked("string", "Method")), []Param{{"Mcp-Param-Method", []string{"m"}, "string"}},
		},
		"every character of a token": {
			with(`"m":` + marked("string", "a!#$%&'*+-.^_`|~Z09")),
			[]Param{{"Mcp-Param-A!#$%&'*+-.^_`|~z09", []string{"m"}, "string"}},
		},
		"a property called x-mcp-header": {with(`"x-mcp-header":{"type":"number"}`), nil},
		"a property called x-mcp-header, marked": {
			with(`"x-mcp-header":` + marked("string", "X")), []Param{{"Mcp-Param-X", []string{"x-mcp-header"}, "string"}},
		},
		"a property called properties": {
			with(`"properties":{"properties":{"properties":` + marked("string", "P") + `}}`),
			[]Param{{"Mcp-Param-P", []string{"properties", "properties"}, "string"}},
		},
		"escaped keywords and names": {
			`{"propert\u0069es":{"r\u00e9gion":{"x\u002dmcp-header":"R\u0065gion","t\u0079pe":"\u0073tring"}}}`,
			[]Param{{"Mcp-Param-Region", []string{"région"}, "string"}},
		},
		"data that looks like a mark": {
			with(`"a":{"enum":[{"x-mcp-header":""}],"const":{"x-mcp-header":1},"default":{"x-mcp-header":"a b"},
				"examples":[{"properties":{"b":{"x-mcp-header":"é"}}}],"x-other":{"x-mcp-header":null}},"b":` + marked("string", "B")),
			[]Param{{"Mcp-Param-B", []string{"b"}, "string"}},
		},
		"keywords with values they must not have": {
			`{"properties":[{"x-mcp-header":1}],"$defs":"x-mcp-header","items":null,"allOf":1,` +
				`"dependencies":{"a":["x-mcp-header"]}}`, nil,
		},
		"names twice where nothing is marked": {with(`"a":{},"a":{"title":"x-mcp-header"}`), nil},
		"names twice where nothing may be marked": {
			`{"$defs":{"d":{"type":"string","type":"integer"}},"properties":{"a":` + marked("string", "A") + `}}`,
			[]Param{{"Mcp-Param-A", []string{"a"}, "string"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Params([]byte(test.schema))
			if err != nil {
				t.Fatalf("Params: got error %v, want none", err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("Params differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestInvalidMarksMakeTheSchemaInvalid(t *testing.T) {
	region := marked("string", "Region")
	const place, kind, token = "must consist of properties", "the type of a mirrored property", "only have letters, digits"
	for name, test := range map[string]struct{ schema, place, rule string }{
		"empty name":             {with(`"a":` + marked("string", "")), "/properties/a", "not be empty"},
		"space in the name":      {with(`"a":` + marked("string", "My Region")), "/properties/a", token},
		"colon in the name":      {with(`"a":` + marked("string", "Region:Primary")), "/properties/a", token},
		"name not ASCII":         {with(`"a":` + marked("string", "Région")), "/properties/a", token},
		"tab in the name":        {with(`"a":{"type":"string","x-mcp-header":"Region\t1"}`), "/properties/a", token},
		"line break in the name": {with(`"a":{"type":"string","x-mcp-header":"A\r\nEvil: 1"}`), "/properties/a", token},
		"NUL in the name":        {with(`"a":{"type":"string","x-mcp-header":"A\u0000"}`), "/properties/a", token},
		"name too long": {with(`"a":` + marked("string", strings.Repeat("a", MaxName+1))), "/properties/a",
			"at most 256 bytes"},
		"name is a number":  {with(`"a":{"type":"string","x-mcp-header":1}`), "/properties/a", "must be a string"},
		"name is null":      {with(`"a":{"type":"string","x-mcp-header":null}`), "/properties/a", "must be a string"},
		"name is an object": {with(`"a":{"type":"string","x-mcp-header":{"type":"string"}}`), "/properties/a", "a string"},

		"name used twice": {with(`"a":` + region + `,"b":` + region), "/properties/b", "same header name"},
		"name used twice, in another case": {with(`"a":` + region + `,"b":` + marked("string", "REGION")), "/properties/b",
			"same header name"},
		"name used twice, at other depths": {with(`"a":` + region + `,"b":` + with(`"c":`+region)),
			"/properties/b/properties/c", "same header name"},

		"number":         {with(`"a":` + marked("number", "A")), "/properties/a", kind},
		"array":          {with(`"a":` + marked("array", "A")), "/properties/a", kind},
		"object":         {with(`"a":` + marked("object", "A")), "/properties/a", kind},
		"null":           {with(`"a":` + marked("null", "A")), "/properties/a", kind},
		"no type":        {with(`"a":{"x-mcp-header":"A","enum":["x"]}`), "/properties/a", kind},
		"nullable":       {with(`"a":{"x-mcp-header":"A","type":["string","null"]}`), "/properties/a", kind},
		"a list of one":  {with(`"a":{"x-mcp-header":"A","type":["string"]}`), "/properties/a", kind},
		"type by $ref":   {with(`"a":{"x-mcp-header":"A","$ref":"#/$defs/s"}`), "/properties/a", kind},
		"type elsewhere": {with(`"a":{"x-mcp-header":"A","allOf":[{"type":"string"}]}`), "/properties/a", kind},

		"on the root":      {`{"type":"object","x-mcp-header":"A"}`, "", place},
		"items":            {with(`"l":{"items":` + region + `}`), "/properties/l/items", place},
		"items, a list":    {with(`"l":{"items":[{},` + region + `]}`), "/properties/l/items/1", place},
		"prefixItems":      {with(`"l":{"prefixItems":[` + region + `]}`), "/properties/l/prefixItems/0", place},
		"additionalItems":  {with(`"l":{"additionalItems":` + region + `}`), "/properties/l/additionalItems", place},
		"unevaluatedItems": {with(`"l":{"unevaluatedItems":` + region + `}`), "/properties/l/unevaluatedItems", place},
		"contains":         {with(`"l":{"contains":` + region + `}`), "/properties/l/contains", place},
		"items, then properties": {with(`"l":{"items":` + with(`"a":`+region) + `}`), "/properties/l/items/properties/a",
			place},
		"oneOf": {`{"oneOf":[` + with(`"a":`+region) + `]}`, "/oneOf/0/properties/a", place},
		"anyOf": {`{"anyOf":[{},` + with(`"a":`+region) + `]}`, "/anyOf/1/properties/a", place},
		"allOf": {`{"allOf":[` + with(`"a":`+region) + `]}`, "/allOf/0/properties/a", place},
		"not":   {`{"not":` + with(`"a":`+region) + `}`, "/not/properties/a", place},
		"if":    {`{"if":` + with(`"a":`+region) + `}`, "/if/properties/a", place},
		"then":  {`{"then":` + with(`"a":`+region) + `}`, "/then/properties/a", place},
		"else":  {`{"else":` + with(`"a":`+region) + `}`, "/else/properties/a", place},
		"$defs": {`{"$ref":"#/$defs/x","$defs":{"x":` + with(`"a":`+region) + `}}`, "/$defs/x/properties/a",
			place},
		"definitions": {`{"definitions":{"x":` + region + `}}`, "/definitions/x", place},
		"dependentSchemas": {`{"dependentSchemas":{"x":` + with(`"a":`+region) + `}}`,
			"/dependentSchemas/x/properties/a", place},
		"dependencies": {`{"dependencies":{"x":` + with(`"a":`+region) + `}}`, "/dependencies/x/properties/a",
			place},
		"patternProperties":     {`{"patternProperties":{"^a":` + region + `}}`, "/patternProperties/^a", place},
		"additionalProperties":  {`{"additionalProperties":` + region + `}`, "/additionalProperties", place},
		"unevaluatedProperties": {`{"unevaluatedProperties":` + region + `}`, "/unevaluatedProperties", place},
		"propertyNames":         {`{"propertyNames":` + region + `}`, "/propertyNames", place},
		"contentSchema":         {with(`"a":{"contentSchema":` + region + `}`), "/properties/a/contentSchema", place},
		"keyword, odd value":    {`{"allOf":` + region + `}`, "/allOf", place},
		"names to escape":       {with(`"a/b~c":{"items":` + region + `}`), "/properties/a~1b~0c/items", place},

		"two marks on one property": {with(`"a":{"x-mcp-header":"A","type":"string","x-mcp-header":"B"}`), "/properties/a",
			"occurs twice"},
		"two types on one property": {with(`"a":{"x-mcp-header":"A","type":"string","type":"integer"}`), "/properties/a",
			"occurs twice"},
		"two properties of one name": {with(`"a":` + region + `,"a":{"type":"string"}`), "", "occurs twice"},
		"two lists of properties":    {`{"properties":{"a":` + region + `},"properties":{}}`, "", "occurs twice"},
		"one name twice, far from it": {with(`"a":` + region + `,"b":{"properties":{"c":{},"c":{}}}`), "/properties/b",
			"occurs twice"},
	} {
		t.Run(name, func(t *testing.T) {
			params, err := Params([]byte(test.schema))
			broken, ok := errors.AsType[*SchemaError](err)
			if !ok || params != nil {
				t.Fatalf("Params: got %v, error %v; want no params and a *SchemaError", params, err)
			}
			if broken.Place != test.place || !strings.Contains(broken.Error(), test.rule) {
				t.Errorf("got place %q and text %q, want place %q and a text with %q", broken.Place, broken, test.place, test.rule)
			}
		})
	}
}

func TestParamsAreLimitedInNumber(t *testing.T) {
	var b strings.Builder
	for n := range MaxParams {
		fmt.Fprintf(&b, `"p%d":%s,`, n, marked("string", fmt.Sprint("P", n)))
	}
	most := with(strings.TrimSuffix(b.String(), ","))
	if params, err := Params([]byte(most)); err != nil || len(params) != MaxParams {
		t.Errorf("schema with %d marks: got %d params, error %v; want all", MaxParams, len(params), err)
	}
	if _, err := Params([]byte(with(b.String() + `"more":` + marked("string", "More")))); err == nil {
		t.Errorf("schema with %d marks: got no error, want one", MaxParams+1)
	}
}

func TestDepthIsLimited(t *testing.T) {
	nested := func(levels int) []byte {
		return []byte(strings.Repeat(`{"properties":{"a":`, levels) + marked("string", "A") + strings.Repeat("}}", levels))
	}
	if params, err := Params(nested(500)); err != nil || len(params) != 1 || len(params[0].Path) != 500 {
		t.Errorf("mark at depth 500: got %v, error %v; want it with its path", params, err)
	}
	if _, err := Params(nested(100_000)); err == nil {
		t.Error("mark at depth 100,000: got no error, want one")
	}
}

func TestInvalidTextIsAnError(t *testing.T) {
	for _, text := range []string{`{"x-mcp-header":`, `{"x-mcp-header":1}}`, "{\"x-mcp-header\":\"\xff\"}",
		`x-mcp-header`} {
		if params, err := Params([]byte(text)); err == nil {
			t.Errorf("Params(%q): got %v and no error, want one", text, params)
		}
	}
}

func TestSchemaErrorsAreShortAndEscaped(t *testing.T) {
	long := strings.Repeat("a", 100_000)
	_, err := Params([]byte(`{"properties":{"` + long + `\u001b[31m":{"x-mcp-header":"\n` + long + `"}}}`))
	if err == nil || len(err.Error()) > 512 || strings.ContainsAny(err.Error(), "\n\x1b") {
		t.Errorf("error text: got %.600v, want one of at most 512 bytes without control characters", err)
	}
}

// TestMarksAreFoundInAnyPlace puts one mark at a random place and checks whether it counts there.
func TestMarksAreFoundInAnyPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		schema, path, verdict := marked("string", "M"), []string{}, "param"
		for range rapid.IntRange(0, 6).Draw(t, "depth") {
			switch step := rapid.SampledFrom(
				[]string{"properties", "properties", "properties", "items", "oneOf", "$defs", "const", "x-ui"}).
				Draw(t, "step"); step {
			case "properties":
				name := rapid.SampledFrom([]string{"a", "properties", "x-mcp-header", "items", "const", "é", ""}).Draw(t, "name")
				schema = fmt.Sprintf(`{"title":"t","properties":{"other":{},%q:%s}}`, name, schema)
				path = append([]string{name}, path...)
			case "items":
				schema, verdict = `{"items":`+schema+`}`, worse(verdict, "error")
			case "oneOf":
				schema, verdict = `{"oneOf":[true,`+schema+`]}`, worse(verdict, "error")
			case "$defs":
				schema, verdict = `{"$defs":{"d":`+schema+`}}`, worse(verdict, "error")
			case "const":
				schema, verdict = `{"const":`+schema+`}`, "nothing"
			case "x-ui":
				schema, verdict = `{"x-ui":`+schema+`}`, "nothing"
			}
		}
		if len(path) == 0 {
			verdict = worse(verdict, "error")
		}
		params, err := Params([]byte(schema))
		switch {
		case verdict == "error" && err == nil:
			t.Errorf("Params(%s): got %v, want an error", schema, params)
		case verdict == "nothing" && (err != nil || params != nil):
			t.Errorf("Params(%s): got %v, error %v; want nothing", schema, params, err)
		case verdict == "param" && (err != nil || !cmp.Equal(params, []Param{{"Mcp-Param-M", path, "string"}})):
			t.Errorf("Params(%s): got %v, error %v; want the path %q", schema, params, err, path)
		}
	})
}

// worse returns the verdict on a mark inside a construct that spoils it. A mark inside data remains ignored.
func worse(verdict, by string) string {
	if verdict == "nothing" {
		return verdict
	}
	return by
}

func FuzzParams(f *testing.F) {
	for _, properties := range []string{
		`"a":` + marked("string", "A") + `,"b":` + with(`"c":`+marked("integer", "C")),
		`"a":{"items":[` + marked("boolean", "A") + `]}`, `"a":{"x-mcp-header":"\u0041","type":["string"]},"a":1`,
	} {
		f.Add([]byte(with(properties)), []byte(`{"a":"x","b":{"c":1.0}}`))
	}
	f.Fuzz(func(t *testing.T, schema, arguments []byte) {
		params, err := Params(schema)
		if err != nil {
			return
		}
		values, err := Values(params, arguments)
		if err != nil {
			return
		}
		for _, v := range values {
			if back, err := Decode(Encode(v.Value)); err != nil || back != v.Value {
				t.Errorf("Decode(Encode(%q)): got %q, error %v; want it back", v.Value, back, err)
			}
		}
	})
}

// TestAnyJSONIsAcceptedAsSchema uses valid JSON that is rarely a schema.
func TestAnyJSONIsAcceptedAsSchema(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := jsontest.Value(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "choice") })
		schema := []byte(`{"x-mcp-headers":0,"properties":` + string(value) + `,"items":` + string(value) + `,"$defs":` +
			string(value) + `}`)
		if params, err := Params(schema); err != nil || params != nil {
			t.Errorf("Params(%s): got %v, error %v; want nothing", schema, params, err)
		}
	})
}
