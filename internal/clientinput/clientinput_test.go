package clientinput

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/internal/schema"
	"github.com/mcpotel/mcpotel/mcp"
)

// says checks that the text of err contains want, or that err is nil if want is empty.
func says(t *testing.T, what string, err error, want string) {
	t.Helper()
	if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
		t.Errorf("%s: got %v, want %q", what, err, want)
	}
}

func TestFormsAllowOnlyKeywordsOfTheSpecification(t *testing.T) {
	field := func(members string) string { return `{"type":"object","properties":{"a":{` + members + `}}}` }
	for form, want := range map[string]string{
		`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{},"required":[]}`:        "",
		field(`"type":"string","title":"t","description":"d","default":"x","minLength":1,"maxLength":2,"format":"email"`): "",
		field(`"type":"string","format":"uri"`):                                                      "",
		field(`"type":"string","format":"date"`):                                                     "",
		field(`"type":"string","format":"date-time"`):                                                "",
		field(`"type":"string","enum":["x","y"],"enumNames":["X","Y"],"default":"x"`):                "",
		field(`"type":"string","oneOf":[{"const":"x","title":"X"}],"default":"x"`):                   "",
		field(`"type":"number","minimum":0,"maximum":1,"default":0.5,"title":"t","description":"d"`): "",
		field(`"type":"integer","minimum":0,"maximum":1,"default":1`):                                "",
		field(`"type":"boolean","default":true,"title":"t","description":"d"`):                       "",
		field(`"type":"array","items":{"type":"string","enum":["x"]},"minItems":0,"maxItems":1`):     "",
		field(`"type":"array","items":{"anyOf":[{"const":"x","title":"X"}]},"default":["x"]`):        "",
		`{"type":"object","properties":{},"title":"t"}`:                                              "keyword title",

		`{"type":"object","properties":{},"additionalProperties":false}`: "keyword additionalProperties",
		field(`"type":"string","format":"password"`):                     `properties.a: format is "password"`,
		field(`"type":"string","pattern":"x"`):                           "keyword pattern",

		field(`"type":"string","enum":["x"],"minLength":1`):                               "keyword minLength",
		field(`"type":"number","multipleOf":2`):                                           "keyword multipleOf",
		field(`"type":"boolean","const":true`):                                            "keyword const",
		field(`"type":"array","items":{"type":"string","enum":["x"]},"uniqueItems":true`): "keyword uniqueItems",
		field(`"type":"string","x-secret":true`):                                          "keyword x-secret",
	} {
		if _, err := schema.CompileForm([]byte(form)); err != nil && want == "" {
			t.Errorf("%s: %v", form, err)
		}
		says(t, form, CheckForm([]byte(form)), want)
	}
}

func TestOnlySafeURLsAreShown(t *testing.T) {
	for text, want := range map[string]string{
		"https://example.com/x?y":      "",
		"http://localhost:8080/":       "",
		"http://127.0.0.1/":            "",
		"http://[::1]:1/":              "",
		"http://example.com/":          "http for another machine",
		"javascript:alert(1)":          `scheme "javascript"`,
		"ftp://example.com/":           `scheme "ftp"`,
		"/relative":                    `scheme ""`,
		"https:///x":                   "no host",
		"https://example.com@evil.com": "user name",
	} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		says(t, text, CheckVisit(u), want)
	}
	says(t, "a short one", CheckVisitSize(&mcp.ElicitParams{Message: "m", URL: "u"}), "")
	says(t, "a long one", CheckVisitSize(&mcp.ElicitParams{Message: strings.Repeat("m", MaxVisit), URL: "u"}),
		"65536 bytes")
}

func TestCheckMessageRefusesInvalidAnswers(t *testing.T) {
	use := func(id, name string) *mcp.ToolUseContent {
		return &mcp.ToolUseContent{ID: id, Name: name, Input: json.RawMessage(`{}`)}
	}
	tools := &mcp.CreateMessageParams{Tools: []*mcp.Tool{{Name: "t"}, nil}}
	none := &mcp.CreateMessageParams{Tools: tools.Tools, ToolChoice: &mcp.ToolChoice{Mode: mcp.ToolChoiceNone}}
	for i, test := range []struct {
		p       *mcp.CreateMessageParams
		role    mcp.Role
		model   string
		content mcp.SamplingContent
		want    string
	}{
		{tools, "assistant", "m", mcp.SamplingContent{mcp.Text("x"), use("1", "t"), use("2", "t")}, ""},
		{&mcp.CreateMessageParams{}, "assistant", "m", mcp.SamplingContent{mcp.Text("x")}, ""},
		{tools, "user", "m", mcp.SamplingContent{mcp.Text("x")}, `the role is "user"`},
		{tools, "assistant", "", mcp.SamplingContent{mcp.Text("x")}, "the model has no name"},
		{tools, "assistant", "m", nil, "the content is empty"},
		{tools, "assistant", "m", mcp.SamplingContent{nil}, "nil block"},
		{tools, "assistant", "m", mcp.SamplingContent{&mcp.ToolResultContent{ToolUseID: "1"}}, "only the server may send"},
		{none, "assistant", "m", mcp.SamplingContent{use("1", "t")}, "but toolChoice is none"},
		{tools, "assistant", "m", mcp.SamplingContent{use("1", "rm")}, `uses "rm", which is not a tool`},
		{tools, "assistant", "m", mcp.SamplingContent{use("1", "t"), use("1", "t")}, `has the id "1"`},
		{tools, "assistant", "m", mcp.SamplingContent{use("", "t")}, `has the id ""`},
	} {
		says(t, fmt.Sprint(i), CheckMessage(
			&mcp.CreateMessageResult{Role: test.role, Model: test.model, Content: test.content}, test.p), test.want)
	}
}

func TestUsesToolsDetectsToolContent(t *testing.T) {
	say := func(c ...mcp.Content) []*mcp.SamplingMessage {
		return []*mcp.SamplingMessage{{Role: "user", Content: c}, nil}
	}
	for i, test := range []struct {
		p    *mcp.CreateMessageParams
		want bool
	}{
		{&mcp.CreateMessageParams{Messages: say(mcp.Text("x"))}, false},
		{&mcp.CreateMessageParams{Tools: []*mcp.Tool{}}, true},
		{&mcp.CreateMessageParams{ToolChoice: &mcp.ToolChoice{}}, true},
		{&mcp.CreateMessageParams{Messages: say(mcp.Text("x"), &mcp.ToolUseContent{})}, true},
		{&mcp.CreateMessageParams{Messages: say(&mcp.ToolResultContent{})}, true},
	} {
		if got := UsesTools(test.p); got != test.want {
			t.Errorf("%d: got %v, want %v", i, got, test.want)
		}
	}
}
