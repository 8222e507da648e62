package question

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/mcp"
)

func TestAnswersAreCheckedAgainstTheSchema(t *testing.T) {
	for name, tc := range map[string]struct {
		schema, text string
		want, wrong  string
	}{
		"a text":                    {`{"type":"string"}`, `a "b"`, `"a \"b\""`, ""},
		"a text too short":          {`{"type":"string","minLength":3}`, "ab", "", "at least 3"},
		"a text with a pattern":     {`{"type":"string","pattern":"^a"}`, "b", "", "regular expression"},
		"an unsupported pattern":    {`{"type":"string","pattern":"(?=a)"}`, "b", `"b"`, ""},
		"an integer":                {`{"type":"integer"}`, "12", "12", ""},
		"an integer with a point":   {`{"type":"integer"}`, "1.5", "", "want integer"},
		"a large integer":           {`{"type":"integer"}`, "12345678901234567890", "12345678901234567890", ""},
		"a number":                  {`{"type":"number"}`, "-1.5e3", "-1.5e3", ""},
		"a number that is not JSON": {`{"type":"number"}`, "0x10", "", "not a number"},
		"not a number":              {`{"type":"number"}`, "NaN", "", "not a number"},
		"above the maximum":         {`{"type":"number","maximum":2}`, "3", "", "at most 2"},
		"yes":                       {`{"type":"boolean"}`, "Y", "true", ""},
		"no":                        {`{"type":"boolean"}`, "false", "false", ""},
		"neither":                   {`{"type":"boolean"}`, "1", "", "neither"},
		"a choice":                  {`{"type":"string","enum":["a","b"]}`, "b", `"b"`, ""},
		"a choice by number":        {`{"type":"string","enum":["a","b"]}`, "2", `"b"`, ""},
		"a value before a number":   {`{"type":"string","enum":["2","1"]}`, "1", `"1"`, ""},
		"a choice by its name":      {`{"type":"string","enum":["a","b"],"enumNames":["Ay","Be"]}`, "be", `"b"`, ""},
		"a choice by its title":     {`{"type":"string","oneOf":[{"const":"a","title":"Ay"}]}`, "ay", `"a"`, ""},
		"an unknown choice":         {`{"type":"string","enum":["a","b"]}`, "3", "", "not one of the choices"},
		"several": {`{"type":"array","items":{"type":"string","enum":["a","b","c"]}}`, "c, 1", `["c","a"]`,
			""},
		"several by title": {`{"type":"array","items":{"anyOf":[{"const":"a","title":"Ay"}]}}`, "AY", `["a"]`, ""},
		"too many": {`{"type":"array","maxItems":1,"items":{"type":"string","enum":["a","b"]}}`, "a,b", "",
			"at most 1"},
		"an e-mail address":     {`{"type":"string","format":"email"}`, "a@b.c", `"a@b.c"`, ""},
		"a name and an address": {`{"type":"string","format":"email"}`, "A <a@b.c>", "", "not a valid e-mail address"},
		"a URI":                 {`{"type":"string","format":"uri"}`, "https://a/b", `"https://a/b"`, ""},
		"an invalid URI":        {`{"type":"string","format":"uri"}`, "a/b", "", "not a valid URI"},
		"a date":                {`{"type":"string","format":"date"}`, "2026-07-28", `"2026-07-28"`, ""},
		"an invalid date":       {`{"type":"string","format":"date"}`, "2026-02-30", "", "not a valid date"},
		"a time": {`{"type":"string","format":"date-time"}`, "2026-07-28T12:00:00Z", `"2026-07-28T12:00:00Z"`,
			""},
		"an invalid time": {`{"type":"string","format":"date-time"}`, "noon", "", "not a valid time"},
	} {
		t.Run(name, func(t *testing.T) {
			questions, err := Of(
				&mcp.ElicitParams{RequestedSchema: json.RawMessage(`{"type":"object","properties":{"x":` + tc.schema + `}}`)})
			if err != nil {
				t.Fatal(err)
			}
			got, err := questions[0].Answer(t.Context(), tc.text)
			if tc.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wrong) {
					t.Errorf("%q: want an error with %q, got %s, %v", tc.text, tc.wrong, got, err)
				}
			} else if err != nil || string(got) != tc.want {
				t.Errorf("%q: want %s, got %s, %v", tc.text, tc.want, got, err)
			}
		})
	}
}
