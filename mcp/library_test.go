package mcp

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

// verbatim is a user's type that writes its own JSON.
type verbatim string

func (v verbatim) MarshalJSON() ([]byte, error) {
	if v == "" {
		return nil, errors.New("empty")
	}
	return []byte(v), nil
}

func nested(levels int) json.RawMessage {
	return json.RawMessage(strings.Repeat("[", levels) + strings.Repeat("]", levels))
}

func TestInvalidRawJSONIsNotSent(t *testing.T) {
	for _, c := range []struct {
		name string
		raw  json.RawMessage
		want string // part of the error; empty for no error
	}{
		{"invalid UTF-8", json.RawMessage("\"\xff\""), "invalid UTF-8"},
		{"invalid UTF-8 in a name", json.RawMessage("{\"\xff\":1}"), "invalid UTF-8"},
		{"a lone surrogate", json.RawMessage(`"\ud800"`), ""},
		{"the maximum depth", nested(jsonscan.MaxDepth - 1), ""},
		{"one level too many", nested(jsonscan.MaxDepth), jsonscan.TooDeep},
		{"many brackets in a text", json.RawMessage(`"` + strings.Repeat("{[", jsonscan.MaxDepth) + `"`), ""},
		{"many texts in a row", json.RawMessage("[" + strings.Repeat(`{"a":[]},`, jsonscan.MaxDepth) + "1]"), ""},
		{"one level of objects too many",
			json.RawMessage(strings.Repeat(`{"a":`, jsonscan.MaxDepth) + "1" + strings.Repeat("}", jsonscan.MaxDepth)),
			jsonscan.TooDeep},
		{"one level too many, objects in lists", json.RawMessage(strings.Repeat(`[1,{"a":`, jsonscan.MaxDepth/2) + "{}" +
			strings.Repeat("}]", jsonscan.MaxDepth/2)), jsonscan.TooDeep},
		{"a large text", json.RawMessage(`"` + strings.Repeat("x", 2*maxPooledValue) + `"`), ""},
		{"a large invalid text", json.RawMessage(`"` + strings.Repeat("x", 2*maxPooledValue) + "\xff\""),
			"invalid UTF-8"},
	} {
		for _, p := range []struct {
			member string
			params CallToolParams
		}{
			{"arguments", CallToolParams{Arguments: map[string]any{"a": c.raw}}},
			{"arguments", CallToolParams{Arguments: map[string]any{"a": verbatim(c.raw)}}},
			{"inputResponses", CallToolParams{InputRound: InputRound{InputResponses: InputResponses{"a": c.raw}}}},
		} {
			got, err := AppendParams([]byte("before "), &p.params)
			want := `before {"name":"","` + p.member + `":{"a":` + string(c.raw) + `}}`
			switch {
			case c.want == "" && (err != nil || string(got) != want):
				t.Errorf("%s: %.100s, %v\nwant %.100s", c.name, got, err, want)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || string(got) != "before "):
				t.Errorf("%s: %.100s, %v\nwant the error %s", c.name, got, err, c.want)
			}
		}
	}
}

// The library must remove the space between tokens, because the count of levels relies on that.
func TestSpacesDoNotHideExcessiveNesting(t *testing.T) {
	deep := strings.Repeat("{ \n\"a\" : ", jsonscan.MaxDepth) + "1" + strings.Repeat(" }", jsonscan.MaxDepth)
	for _, v := range []any{
		map[string]any{"a": json.RawMessage(deep)}, struct{ A verbatim }{verbatim(deep)},
		struct{ A json.RawMessage }{json.RawMessage(deep)}, struct{ A any }{jsontext.Value(deep)},
	} {
		if got, err := AppendParams(nil, &CallToolParams{Arguments: v}); err == nil ||
			!strings.Contains(err.Error(), jsonscan.TooDeep) {
			t.Errorf("%T: %.60s, %v\nwant the error %s", v, got, err, jsonscan.TooDeep)
		}
	}
}

func TestFailedEncoderIsNotReused(t *testing.T) {
	for range 100 {
		if got, err := AppendParams(nil, map[string]any{"a": []any{1, verbatim("")}}); err == nil {
			t.Fatalf("%s, want an error", got)
		}
		if got, err := AppendParams(nil, map[string]any{"a": []any{1, verbatim("2")}}); err != nil ||
			string(got) != `{"a":[1,2]}` {
			t.Fatalf("%s, %v, want it encoded as ever", got, err)
		}
	}
}
