package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

func TestSamplingRequestsAreCheckedBeforeSending(t *testing.T) {
	use := func(id string) mcp.Content {
		return &mcp.ToolUseContent{ID: id, Name: "t", Input: json.RawMessage(`{}`)}
	}
	result := func(id string) mcp.Content { return &mcp.ToolResultContent{ToolUseID: id} }
	message := func(role mcp.Role, c ...mcp.Content) *mcp.SamplingMessage {
		return &mcp.SamplingMessage{Role: role, Content: c}
	}
	for _, tt := range []struct {
		name, want string
		p          *mcp.CreateMessageParams
	}{
		{"nil params", "no messages", nil},
		{"no messages", "no messages", &mcp.CreateMessageParams{MaxTokens: 1}},
		{"nil message", "messages[0] is null", &mcp.CreateMessageParams{Messages: []*mcp.SamplingMessage{nil}, MaxTokens: 1}},
		{"no limit", "maxTokens is 0",
			&mcp.CreateMessageParams{Messages: []*mcp.SamplingMessage{message("user", mcp.Text("x"))}}},
		{"a use without a result", `missing in request: uses ["a"]`,
			&mcp.CreateMessageParams{MaxTokens: 1, Messages: []*mcp.SamplingMessage{message("assistant", use("a"))}}},
		{"one result for two uses", `uses ["b" "a"], results ["b"]`,
			&mcp.CreateMessageParams{MaxTokens: 1, Messages: []*mcp.SamplingMessage{
				message("assistant", use("b"), use("a")), message("user", result("b"))}}},
		{"a result without a use", `uses [], results ["a"]`,
			&mcp.CreateMessageParams{MaxTokens: 1, Messages: []*mcp.SamplingMessage{message("user", result("a"))}}},
		{"a result with other content", "tool results mixed with other content",
			&mcp.CreateMessageParams{MaxTokens: 1, Messages: []*mcp.SamplingMessage{
				message("assistant", use("a")), message("user", result("a"), mcp.Text("x"))}}},
		{"an empty role", `messages[0].role is ""`,
			&mcp.CreateMessageParams{MaxTokens: 1, Messages: []*mcp.SamplingMessage{message("", mcp.Text("x"))}}},
		{"a tool use by the user", "only the assistant uses tools",
			&mcp.CreateMessageParams{MaxTokens: 1, Messages: []*mcp.SamplingMessage{
				message("user", use("a")), message("user", result("a"))}}},
		{"tool results by the assistant", "only the user has results",
			&mcp.CreateMessageParams{MaxTokens: 1, Messages: []*mcp.SamplingMessage{
				message("assistant", use("a")), message("assistant", result("a"))}}},
		{"no content", "messages[0].content is empty",
			&mcp.CreateMessageParams{MaxTokens: 1, Messages: []*mcp.SamplingMessage{message("user")}}},
		{"a nil block", "messages[0].content is empty",
			&mcp.CreateMessageParams{MaxTokens: 1, Messages: []*mcp.SamplingMessage{message("user", nil)}}},
		{"an unknown tool choice", `toolChoice.mode is "any"`,
			&mcp.CreateMessageParams{MaxTokens: 1, ToolChoice: &mcp.ToolChoice{Mode: "any"},
				Messages: []*mcp.SamplingMessage{message("user", mcp.Text("x"))}}},
		{"a priority above one", "modelPreferences.costPriority is 2", &mcp.CreateMessageParams{MaxTokens: 1,
			ModelPreferences: &mcp.ModelPreferences{CostPriority: new(2.0)}, Messages: []*mcp.SamplingMessage{message("user",
				mcp.Text("x"))}}},
		{"valid params", "", &mcp.CreateMessageParams{MaxTokens: 1, Messages: []*mcp.SamplingMessage{
			message("assistant", use("b"), use("a")), message("user", result("a"), result("b"))}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var failed error
				w := openedAble(t, withTool(t, mcpserver.Options{}, "sample",
					func(ctx context.Context, _ *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
						_, failed = mcpserver.RequestFrom(ctx).CreateMessage(ctx, tt.p)
						return nil, failed
					}), "2025-11-25")
				w.send(callOf(7, "sample", "{}"))
				out := w.reply(t)
				if tt.want == "" && out.Method != "sampling/createMessage" {
					t.Errorf("the server sent %+v, %v, want the request", out, failed)
				}
				if tt.want != "" && (failed == nil || !strings.Contains(failed.Error(), tt.want)) {
					t.Errorf("asking failed with %v, want %q", failed, tt.want)
				}
				if err := w.finish(); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

// TestServerRequestsMatchSchemaOfRevision validates the params of server requests against the schema of the revision.
func TestServerRequestsMatchSchemaOfRevision(t *testing.T) {
	form := json.RawMessage(`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{` +
		`"plan":{"type":"string","oneOf":[{"const":"a","title":"A"},{"const":"b","title":"B"}],"default":"a"},` +
		`"ok":{"type":"boolean","default":true}},"required":["plan"]}`)
	elicit := mcpserver.AskElicit("", &mcp.ElicitParams{
		Meta: mcp.Meta(`{"x":1}`), Mode: mcp.ElicitForm, Message: "m", RequestedSchema: form, Task: &mcp.TaskMetadata{},
	}, nil)
	byURL := mcpserver.AskElicit("", &mcp.ElicitParams{Mode: mcp.ElicitURL, Message: "m", URL: "https://example.com/x",
		ElicitationID: "e1"}, nil)
	p := prompt("x")
	p.IncludeContext, p.Task = mcp.IncludeAllServers, &mcp.TaskMetadata{}
	p.Meta, p.Messages[0].Meta = mcp.Meta(`{"x":1}`), mcp.Meta(`{"y":2}`)
	sample := mcpserver.AskCreateMessage("", p, nil)
	two := prompt("x")
	two.Messages[0].Content = append(two.Messages[0].Content, mcp.Text("y"))
	audio := prompt("x")
	audio.Messages[0].Content[0] = &mcp.AudioContent{Data: "AA==", MIMEType: "audio/wav"}
	dated := prompt("x")
	dated.Messages[0].Content[0] = &mcp.TextContent{Text: "x", Meta: mcp.Meta(`{"y":2}`),
		Annotations: &mcp.Annotations{LastModified: "2026-01-02T03:04:05Z"}}
	several := mcpserver.AskElicit("", &mcp.ElicitParams{Message: "m", RequestedSchema: json.RawMessage(
		`{"type":"object","properties":{"l":{"type":"array","items":{"type":"string","enum":["a"]}}}}`)}, nil)
	for _, tt := range []struct {
		name, version string
		ask           *mcpserver.Ask
		want          string // params; empty if the client cannot be asked
	}{
		{"form", "2025-11-25", elicit,
			`{"_meta":{"x":1},"mode":"form","message":"m","requestedSchema":` + string(form) + `}`},
		{"form", "2025-06-18", elicit, `{"_meta":{"x":1},"message":"m","requestedSchema":{"type":"object","properties":{` +
			`"plan":{"type":"string","enum":["a","b"],"enumNames":["A","B"]},"ok":{"type":"boolean","default":true}},` +
			`"required":["plan"]}}`},
		{"form", "2025-03-26", elicit, ""},
		{"form", "2026-07-28", elicit, `{"mode":"form","message":"m","requestedSchema":` + string(form) + `}`},
		{"several", "2025-06-18", several, ""},
		{"URL", "2025-11-25", byURL, `{"mode":"url","message":"m","url":"https://example.com/x","elicitationId":"e1"}`},
		{"URL", "2025-06-18", byURL, ""},
		{"URL", "2026-07-28", byURL, `{"mode":"url","message":"m","url":"https://example.com/x"}`},
		{"sample", "2024-11-05", sample, `{"_meta":{"x":1},"messages":[{"role":"user","content":{"type":"text",` +
			`"text":"x"}}],"includeContext":"allServers","maxTokens":10}`},
		{"sample", "2025-11-25", sample, `{"_meta":{"x":1},"messages":[{"_meta":{"y":2},"role":"user",` +
			`"content":{"type":"text","text":"x"}}],"maxTokens":10}`},
		{"sample", "2026-07-28", sample,
			`{"messages":[{"_meta":{"y":2},"role":"user","content":{"type":"text","text":"x"}}],"maxTokens":10}`},
		{"two blocks", "2025-06-18", mcpserver.AskCreateMessage("", two, nil), ""},
		{"two blocks", "2025-11-25", mcpserver.AskCreateMessage("", two, nil),
			`{"messages":[{"role":"user","content":[{"type":"text","text":"x"},{"type":"text","text":"y"}]}],"maxTokens":10}`},
		{"audio", "2024-11-05", mcpserver.AskCreateMessage("", audio, nil), ""},
		{"a date", "2025-03-26", mcpserver.AskCreateMessage("", dated, nil),
			`{"messages":[{"role":"user","content":{"type":"text","text":"x","annotations":{}}}],"maxTokens":10}`},
		{"a date", "2025-06-18", mcpserver.AskCreateMessage("", dated, nil),
			`{"messages":[{"role":"user","content":{"type":"text","text":"x",` +
				`"annotations":{"lastModified":"2026-01-02T03:04:05Z"},"_meta":{"y":2}}}],"maxTokens":10}`},
	} {
		t.Run(tt.name+"/"+tt.version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var failed error
				s := withTool(t, mcpserver.Options{}, "ask",
					func(ctx context.Context, _ *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
						failed = mcpserver.RequestFrom(ctx).AskAll(ctx, tt.ask)
						return nil, failed
					})
				w := serve(t, t.Context(), s)
				if tt.version == "2026-07-28" {
					w.send(asked(7, "tools/call", ableMetas, `"name":"ask"`))
				} else {
					w.send(initializeAbleAs(tt.version), initialized)
					w.taken()
					w.send(callOf(7, "ask", "{}"))
				}
				var got json.RawMessage
				for _, frame := range w.taken() {
					got = paramsIn(t, frame)
				}
				if tt.want == "" && !errors.Is(failed, mcpserver.ErrUnsupported) {
					t.Errorf("asking failed with %v, want %v", failed, mcpserver.ErrUnsupported)
				}
				if string(got) != tt.want {
					t.Errorf("the client is asked\n%s\nwant\n%s", got, tt.want)
				}
				if err := w.finish(); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

// paramsIn returns the params in a frame. The frame is a request to a client, or a result that contains one request.
func paramsIn(t *testing.T, frame string) json.RawMessage {
	t.Helper()
	var m struct {
		Params json.RawMessage
		Result struct{ InputRequests mcp.InputRequests }
	}
	if err := json.Unmarshal([]byte(frame), &m); err != nil {
		t.Fatal(err)
	}
	for _, r := range m.Result.InputRequests {
		return r.Params
	}
	return m.Params
}

func TestElicitationsAreCheckedBeforeSending(t *testing.T) {
	form := json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`)
	for want, p := range map[string]*mcp.ElicitParams{
		"no message":               {Message: " ", RequestedSchema: form},
		`the scheme "javascript"`:  {Mode: mcp.ElicitURL, Message: "m", URL: "javascript:alert(1)"},
		"http for another machine": {Mode: mcp.ElicitURL, Message: "m", URL: "http://example.com/"},
		`the scheme ""`:            {Mode: mcp.ElicitURL, Message: "m", URL: "/relative"},
		"a user name":              {Mode: mcp.ElicitURL, Message: "m", URL: "https://example.com@evil.example/"},
		"more than 65536 bytes": {Mode: mcp.ElicitURL, Message: strings.Repeat("m", 64<<10),
			URL: "https://example.com/"},
		`unknown mode "telepathy"`: {Mode: "telepathy", Message: "m"},
		"requestedSchema: missing": {Message: "m"},
	} {
		t.Run(want, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var failed error
				w := openedAble(t, withTool(t, mcpserver.Options{}, "ask",
					func(ctx context.Context, _ *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
						_, failed = mcpserver.RequestFrom(ctx).Elicit(ctx, p)
						return nil, failed
					}), "2025-11-25")
				w.send(callOf(7, "ask", "{}"))
				if out := w.reply(t); out.Method != "" || failed == nil || !strings.Contains(failed.Error(), want) {
					t.Errorf("the server sent %q, asking failed with %v, want %q", out.Method, failed, want)
				}
				if err := w.finish(); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

func TestSamplingResponseIsChecked(t *testing.T) {
	for want, answer := range map[string]string{
		"":                   `{"role":"assistant","model":"m","content":{"type":"text","text":"x"}}`,
		`the role is "user"`: `{"role":"user","model":"m","content":{"type":"text","text":"x"}}`,
		"model is missing":   `{"role":"assistant","model":"","content":{"type":"text","text":"x"}}`,
		"which is not a tool of the": `{"role":"assistant","model":"m","content":[{"type":"tool_use","id":"1","name":"rm",` +
			`"input":{}}]}`,
		"the content is empty": `{"role":"assistant","model":"m","content":[]}`,
	} {
		t.Run(want, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var failed error
				w := openedAble(t, withTool(t, mcpserver.Options{}, "ask",
					func(ctx context.Context, _ *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
						_, failed = mcpserver.RequestFrom(ctx).CreateMessage(ctx, &mcp.CreateMessageParams{
							MaxTokens: 1, Messages: []*mcp.SamplingMessage{{Role: "user", Content: mcp.SamplingContent{mcp.Text("x")}}},
						})
						return nil, failed
					}), "2025-11-25")
				w.send(callOf(7, "ask", "{}"))
				if out := w.reply(t); out.Method != mcp.MethodCreateMessage {
					t.Fatalf("the server sent %+v, want a request", out)
				}
				w.send(`{"jsonrpc":"2.0","id":1,"result":` + answer + `}`)
				w.reply(t)
				if (failed == nil) != (want == "") || failed != nil && !strings.Contains(failed.Error(), want) {
					t.Errorf("asking ended with %v, want %q", failed, want)
				}
				if err := w.finish(); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}
