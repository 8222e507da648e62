package schema

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestTagsSetKeywords(t *testing.T) {
	for _, tt := range []struct {
		v    any // a struct with the field A
		want string
	}{
		{struct {
			A string `json:"a" keywords:"enum=metric|imperial,default=metric" jsonschema:"units"`
		}{}, `{"type":"string","description":"units","default":"metric","enum":["metric","imperial"]}`},
		{struct {
			A int `json:"a" keywords:"minimum=1,maximum=10,multipleOf=2"`
		}{}, `{"type":"integer","multipleOf":2,"minimum":1,"maximum":10}`},
		{struct {
			A uint8 `json:"a" keywords:"maximum=9"`
		}{}, `{"type":"integer","minimum":0,"maximum":9}`},
		{struct {
			A float64 `json:"a" keywords:"exclusiveMinimum=0,exclusiveMaximum=1.5,default=0.5"`
		}{}, `{"type":"number","default":0.5,"exclusiveMinimum":0,"exclusiveMaximum":1.5}`},
		{struct {
			A int `json:"a" keywords:"enum=1|2|3"`
		}{}, `{"type":"integer","enum":[1,2,3]}`},
		{struct {
			A string `json:"a" keywords:"minLength=1,maxLength=3,pattern='^[a-z]{1,3}$',format=email"`
		}{}, `{"type":"string","minLength":1,"maxLength":3,"pattern":"^[a-z]{1,3}$","format":"email"}`},
		{struct {
			A string `json:"a" keywords:"default='it''s, well, ''fine'''"`
		}{}, `{"type":"string","default":"it's, well, 'fine'"}`},
		{struct {
			A string `json:"a" keywords:"default="`
		}{}, `{"type":"string","default":""}`},
		{struct {
			A bool `json:"a" keywords:"default=true"`
		}{}, `{"type":"boolean","default":true}`},
		{struct {
			A *string `json:"a" keywords:"enum=x|y"`
		}{}, `{"type":["null","string"],"enum":["x","y",null]}`},
		{struct {
			A []string `json:"a" keywords:"enum=x|y,minItems=1,maxItems=2,uniqueItems,default=x|y"`
		}{}, `{"type":"array","items":{"type":"string","enum":["x","y"]},"default":["x","y"],` +
			`"minItems":1,"maxItems":2,"uniqueItems":true}`},
		{struct {
			A []int `json:"a" keywords:"minimum=1,default=[]"`
		}{}, `{"type":"array","items":{"type":"integer","minimum":1},"default":[]}`},
		{struct {
			A map[string]int `json:"a" keywords:"default='{\"x\":1,\"y\":2}'"`
		}{}, `{"type":"object","default":{"x":1,"y":2},"additionalProperties":{"type":"integer"}}`},
		{struct {
			A any `json:"a" keywords:"default=7"`
		}{}, `{"default":7}`},
		{struct {
			A time.Duration `json:"a"`
		}{}, `{"type":"integer","description":"in nanoseconds"}`},
		{struct {
			A *time.Duration `json:"a" jsonschema:"at most, in ns" keywords:"minimum=0"`
		}{}, `{"type":["null","integer"],"description":"at most, in ns","minimum":0}`},
		{struct {
			A []struct {
				B string `keywords:"enum=x"`
			} `json:"a"`
		}{}, `{"type":"array","items":{"type":"object","properties":{"B":{"type":"string","enum":["x"]}},` +
			`"required":["B"],"additionalProperties":false}}`},
		{struct {
			A map[string][]string `json:"a"`
		}{}, `{"type":"object","additionalProperties":{"type":"array","items":{"type":"string"}}}`},
	} {
		required := `"required":["a"],`
		if strings.Contains(tt.want, "default") {
			required = ""
		}
		want := `{"type":"object","properties":{"a":` + tt.want + `},` + required + `"additionalProperties":false}`
		got, err := InferInput(reflect.TypeOf(tt.v))
		if err != nil || string(got) != want {
			t.Errorf("%T:\nwant %s\n got %s, %v", tt.v, want, got, err)
		}
	}
}

func TestTagsOfEmbeddedFieldsSetKeywords(t *testing.T) {
	type page struct {
		Limit int    `json:"limit" keywords:"minimum=1"`
		Kind  string `json:"kind" keywords:"enum=never"`
	}
	got, err := InferInput(reflect.TypeFor[struct {
		page
		Kind string `json:"kind" keywords:"enum=this"`
	}]())
	const want = `{"type":"object","properties":{"limit":{"type":"integer","minimum":1},` +
		`"kind":{"type":"string","enum":["this"]}},"required":["limit","kind"],"additionalProperties":false}`
	if err != nil || string(got) != want {
		t.Errorf("\nwant %s\n got %s, %v", want, got, err)
	}
}

func TestInvalidTagsAreRefused(t *testing.T) {
	for _, tt := range []struct {
		v    any
		want []string // substrings of the error
	}{
		{struct {
			A string `keywords:"minlength=1"`
		}{}, []string{"unknown keyword minlength", "minLength", `.A: tag keywords:"minlength=1"`}},
		{struct {
			A string `keywords:"required"`
		}{}, []string{"unknown keyword required"}},
		{struct {
			A string `keywords:"minimum=1"`
		}{}, []string{"minimum is for type integer or number, not for string"}},
		{struct {
			A []string `keywords:"minimum=1"`
		}{}, []string{"minimum is for type integer or number, not for string"}},
		{struct {
			A bool `keywords:"enum=true"`
		}{}, []string{"enum is for", "not for boolean"}},
		{struct {
			A any `keywords:"format=email"`
		}{}, []string{"not for any JSON"}},
		{struct {
			A int `keywords:"minimum=one"`
		}{}, []string{"minimum", `"one"`}},
		{struct {
			A string `keywords:"maxLength=-1"`
		}{}, []string{"maxLength", `"-1"`}},
		{struct {
			A int `keywords:"default=many"`
		}{}, []string{`"many" is not of type integer`}},
		{struct {
			A int `keywords:"default=1.5"`
		}{}, []string{"1.5"}},
		{struct {
			A int `keywords:"default=5,maximum=3"`
		}{}, []string{"5"}},
		{struct {
			A string `keywords:"enum=a|b,default=c"`
		}{}, []string{`"c"`}},
		{struct {
			A []int `keywords:"default=1|x"`
		}{}, []string{`"x" is not of type integer`}},
		{struct {
			A []int `keywords:"enum=1|2,default=1|3"`
		}{}, []string{"[1,3]"}},
		{struct {
			A string `keywords:"pattern='['"`
		}{}, []string{"pattern"}},
		{struct {
			A string `keywords:"pattern='a"`
		}{}, []string{"a quotation mark is missing"}},
		{struct {
			A string `keywords:"pattern='a'b"`
		}{}, []string{`"b" after the closing quotation mark`}},
		{struct {
			A []string `keywords:"uniqueItems=perhaps"`
		}{}, []string{"uniqueItems", "perhaps"}},
	} {
		got, err := InferInput(reflect.TypeOf(tt.v))
		if err == nil {
			t.Errorf("%T: want an error, got %s", tt.v, got)
			continue
		}
		for _, want := range tt.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%T: want %q in the error, got: %v", tt.v, want, err)
			}
		}
	}
}
