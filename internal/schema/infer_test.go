package schema

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

type (
	place struct {
		Lat float64 `json:"lat" jsonschema:"degrees north"`
		Lon float64 `json:"lon" jsonschema:"degrees east"`
	}
	base0 struct {
		ID int64 `json:"id"`
	}
	everything struct {
		base0
		Name    string             `json:"name" jsonschema:"who it is for, <b>not</b> a nickname"`
		Note    *string            `json:"note,omitempty"`
		Count   uint8              `json:"count,omitzero"`
		Places  []place            `json:"places"`
		Pair    [2]int             `json:"pair"`
		Home    *place             `json:"home,omitempty"`
		Tags    map[string]bool    `json:"tags,omitempty"`
		Any     any                `json:"any,omitempty"`
		Said    any                `json:"said,omitempty" jsonschema:"anything"`
		Raw     json.RawMessage    `json:"raw,omitempty"`
		Text    jsontext.Value     `json:"text,omitempty"`
		Data    []byte             `json:"data,omitempty"`
		Sum     [4]byte            `json:"sum"`
		When    time.Time          `json:"when"`
		Until   time.Time          `json:"until,omitzero"`
		Addr    netip.Addr         `json:"addr"`
		Big     *big.Int           `json:"big,omitempty"`
		Attr    map[string]float32 `json:"attr,omitempty"`
		Go      rune
		Skipped chan int `json:"-"`
		_       func()
	}
)

const everythingSchema = `{"type":"object","properties":{` +
	`"id":{"type":"integer"},` +
	`"name":{"type":"string","description":"who it is for, <b>not</b> a nickname"},` +
	`"note":{"type":["null","string"]},` +
	`"count":{"type":"integer","minimum":0,"maximum":255},` +
	`"places":{"type":"array","items":{"type":"object","properties":{` +
	`"lat":{"type":"number","description":"degrees north"},"lon":{"type":"number","description":"degrees east"}},` +
	`"required":["lat","lon"],"additionalProperties":false}},` +
	`"pair":{"type":"array","items":{"type":"integer"},"minItems":2,"maxItems":2},` +
	`"home":{"type":["null","object"],"properties":{` +
	`"lat":{"type":"number","description":"degrees north"},"lon":{"type":"number","description":"degrees east"}},` +
	`"required":["lat","lon"],"additionalProperties":false},` +
	`"tags":{"type":"object","additionalProperties":{"type":"boolean"}},` +
	`"any":{},"said":{"description":"anything"},"raw":{},"text":{},` +
	`"data":{"type":"string","contentEncoding":"base64"},"sum":{"type":"string","contentEncoding":"base64"},` +
	`"when":{"type":"string","format":"date-time"},"until":{"type":"string","format":"date-time"},` +
	`"addr":{"type":"string"},"big":{"type":["null","integer"]},` +
	`"attr":{"type":"object","additionalProperties":{"type":"number"}},` +
	`"Go":{"type":"integer","minimum":-2147483648,"maximum":2147483647}},` +
	`"required":["id","name","places","pair","sum","when","addr","Go"],"additionalProperties":false}`

func TestInferInputGolden(t *testing.T) {
	for _, c := range []struct {
		t    reflect.Type
		want string
	}{
		{reflect.TypeFor[everything](), everythingSchema},
		{reflect.TypeFor[*everything](), everythingSchema},
		{reflect.TypeFor[struct{}](), `{"type":"object","additionalProperties":false}`},
		{reflect.TypeFor[any](), `{"type":"object"}`},
		{reflect.TypeFor[json.RawMessage](), `{"type":"object"}`},
		{reflect.TypeFor[jsontext.Value](), `{"type":"object"}`},
		{reflect.TypeFor[map[string]any](), `{"type":"object","additionalProperties":true}`},
		{reflect.TypeFor[map[string][]int](),
			`{"type":"object","additionalProperties":{"type":"array","items":{"type":"integer"}}}`},
	} {
		for range 3 {
			got, err := InferInput(c.t)
			if err != nil {
				t.Fatalf("%v: %v", c.t, err)
			}
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Errorf("%v: want the same bytes every time, got:\n%s", c.t, diff)
			}
		}
	}
}

func TestInferOutputGolden(t *testing.T) {
	for _, c := range []struct {
		t        reflect.Type
		want     string
		isObject bool
	}{
		{reflect.TypeFor[place](), `{"type":"object","properties":{"lat":{"type":"number","description":"degrees north"},` +
			`"lon":{"type":"number","description":"degrees east"}},"required":["lat","lon"],"additionalProperties":false}`,
			true},
		{reflect.TypeFor[*map[string]int](), `{"type":"object","additionalProperties":{"type":"integer"}}`, true},
		{reflect.TypeFor[[]string](), `{"type":"array","items":{"type":"string"}}`, false},
		{reflect.TypeFor[string](), `{"type":"string"}`, false},
		{reflect.TypeFor[time.Time](), `{"type":"string","format":"date-time"}`, false},
		{reflect.TypeFor[any](), ``, false},
		{reflect.TypeFor[json.RawMessage](), ``, false},
	} {
		got, isObject, err := InferOutput(c.t)
		if err != nil || string(got) != c.want || isObject != c.isObject {
			t.Errorf("%v:\nwant %s, %v\n got %s, %v, %v", c.t, c.want, c.isObject, got, isObject, err)
		}
	}
}

// TestInferredSchemaFitsTheType checks that the JSON that json/v2 writes for a value is valid against the schema of its
// type.
func TestInferredSchemaFitsTheType(t *testing.T) {
	note := "n"
	for _, v := range []any{
		everything{},
		everything{
			Note: &note, Places: []place{{1, 2}}, Home: new(place), Tags: map[string]bool{"a": true}, Any: []int{1}, Said: "x",
			Raw: json.RawMessage(`{"a":[1]}`), Text: jsontext.Value(`null`), Data: []byte("data"), Sum: [4]byte{1},
			When: time.Unix(0, 0), Addr: netip.MustParseAddr("2001:db8::1"), Big: new(big.Int).Lsh(big.NewInt(1), 80),
		},
		map[string]any{"a": nil},
		[]place(nil),
		[]*place{nil, {1, 2}},
		struct{ A, B *int }{A: new(1)},
	} {
		raw, _, err := InferOutput(reflect.TypeOf(v))
		if err != nil {
			t.Fatal(err)
		}
		text, err := jsonv2.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if err := mustCompile(t, string(raw)).Validate(t.Context(), text); err != nil {
			t.Errorf("%s against %s: want valid, got %v", text, raw, err)
		}
	}
}

type (
	recursive struct{ Next []*recursive }
	ownForm   struct{ A int }
	withTag   struct {
		A int `json:",string"`
	}
	withFormat struct {
		A time.Time `json:",format:unix"`
	}
	withInline struct {
		A map[string]any `json:",inline"`
	}
	withQuote struct {
		A int `json:"'a,b'"`
	}
	withNamed struct {
		place `json:"place"`
	}
	Scalar       string
	withEmbedded struct{ Scalar }
	withTime     struct{ time.Time }
	withEmptyTag struct {
		A int `json:"a" jsonschema:""`
	}
)

func (*ownForm) UnmarshalJSON([]byte) error { return nil }

func TestInferInputRefusesUnsupportedTypes(t *testing.T) {
	for _, c := range []struct {
		t    reflect.Type
		want string
	}{
		{nil, "nil type"},
		{reflect.TypeFor[string](), "want a struct or a map, not string"},
		{reflect.TypeFor[[]int](), "want a struct or a map, not []int"},
		{reflect.TypeFor[time.Time](), "want a struct or a map, not time.Time"},
		{reflect.TypeFor[ownForm](), "want a struct or a map, not schema.ownForm"},
		{reflect.TypeFor[chan int](), "chan int has no JSON Schema"},
		{reflect.TypeFor[struct{ A []func() }](), ".A[]: func() has no JSON Schema"},
		{reflect.TypeFor[struct{ A map[string]complex128 }](), ".A[]: complex128 has no JSON Schema"},
		{reflect.TypeFor[struct{ A map[int]string }](), ".A: a map with keys of type int has no JSON Schema"},
		{reflect.TypeFor[struct{ A context.Context }](), ".A: the interface context.Context has no JSON Schema"},
		{reflect.TypeFor[struct{ A fmt.Stringer }](), ".A: the interface fmt.Stringer has no JSON Schema"},
		{reflect.TypeFor[recursive](), "schema.recursive.Next[]: schema.recursive contains itself"},
		{reflect.TypeFor[withTag](), "schema.withTag.A: no schema for a field with the json option string"},
		{reflect.TypeFor[withFormat](), "schema.withFormat.A: no schema for a field with the json option format"},
		{reflect.TypeFor[withInline](), "schema.withInline.A: no schema for a field with the json option inline"},
		{reflect.TypeFor[withQuote](),
			"schema.withQuote.A: no schema for a field with a JSON name in single quotes: 'a,b'; remove the quotes"},
		{reflect.TypeFor[withNamed](), "schema.withNamed.place: no schema for an embedded field with a JSON name"},
		{reflect.TypeFor[withEmbedded](), "schema.withEmbedded.Scalar: no schema for an embedded field with a JSON name"},
		{reflect.TypeFor[withTime](), "want a struct or a map"},
		{reflect.TypeFor[withEmptyTag](), "empty jsonschema tag"},
	} {
		raw, err := InferInput(c.t)
		if err == nil || !strings.HasPrefix(err.Error(), "input schema: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: want an error with %q, got %s, %v", c.t, c.want, raw, err)
		}
	}
}

func TestInferOutputRefusesUnsupportedTypes(t *testing.T) {
	_, _, err := InferOutput(reflect.TypeFor[struct{ A chan int }]())
	const want = "output schema: struct { A chan int }.A: chan int has no JSON Schema"
	if err == nil || err.Error() != want {
		t.Errorf("want %q, got %v", want, err)
	}
}
