package mcpclient_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

// saying returns the handler of a model that always answers with r.
func saying(r *mcp.CreateMessageResult) mcpclient.SamplingHandler {
	return func(context.Context, *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) { return r, nil }
}

func hello() *mcp.CreateMessageResult {
	return &mcp.CreateMessageResult{Content: mcp.SamplingContent{mcp.Text("hello")}, Model: "m-1",
		StopReason: mcp.StopEndTurn}
}

const (
	askModel = `{"messages":[{"role":"user","content":{"type":"text","text":"hi"}}],"maxTokens":10%s}`
	someTool = `"tools":[{"name":"add","inputSchema":{"type":"object"}}]`
)

// sampled returns the client's answer to sampling/createMessage of a legacy server of version v.
func sampled(t *testing.T, v mcp.Version, f mcpclient.Feature, params string) (answer frame) {
	t.Helper()
	bubble(t, &mcpclient.Options{Features: []mcpclient.Feature{f}}, func(t *testing.T, s *script, c *mcpclient.Client) {
		peer := s.next(t).legacy(v)
		await(t, c)
		peer.Send(`{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":` + params + `}`)
		answer = peer.Receive()
	})
	return answer
}

func TestLegacyServerGetsSamplingResult(t *testing.T) {
	var asked *mcp.CreateMessageParams
	f := mcpclient.HandleSampling(func(_ context.Context, p *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
		asked = p
		return hello(), nil
	}, nil)
	got := sampled(t, mcp.Version20251125, f, fmt.Sprintf(askModel,
		`,"modelPreferences":{"hints":[{"name":"big"},{"name":"m"}],"costPriority":0,"speedPriority":1},"systemPrompt":"be `+
			`brief","includeContext":"allServers","temperature":0.5,"task":{"ttl":1}`)) // the client has not declared tasks
	if want := `{"role":"assistant","content":{"type":"text","text":"hello"},"model":"m-1",` +
		`"stopReason":"endTurn"}`; string(got.Result) != want {
		t.Errorf("answered %s, want %s", got.Raw, want)
	}
	switch p := asked.ModelPreferences; {
	case len(p.Hints) != 2 || p.Hints[0].Name != "big" || *p.CostPriority != 0 || *p.SpeedPriority != 1 ||
		p.IntelligencePriority != nil:
		t.Errorf("the handler got the preferences %+v", p)
	case asked.SystemPrompt != "be brief" || *asked.Temperature != 0.5 || asked.MaxTokens != 10 ||
		len(asked.Messages) != 1:
		t.Errorf("the handler got %+v", asked)
	case asked.IncludeContext != "":
		t.Errorf("the handler got includeContext %s, which was not declared", asked.IncludeContext)
	}
}

func TestModernServerGetsSamplingResult(t *testing.T) {
	f := mcpclient.HandleSampling(func(_ context.Context, p *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
		if p.IncludeContext != mcp.IncludeThisServer {
			t.Errorf("the handler got includeContext %q", p.IncludeContext)
		}
		return &mcp.CreateMessageResult{Model: "m-1", Content: mcp.SamplingContent{
			mcp.Text("let me see"), &mcp.ToolUseContent{ID: "1", Name: "add", Input: json.RawMessage(`{}`)},
		}}, nil
	}, &mcpclient.SamplingOptions{Tools: true, Context: true})
	o := &mcpclient.Options{Features: []mcpclient.Feature{f}}
	ready(t, o, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		done := background(func() error { _, err := c.CallTool(t.Context(), "x", nil); return err })
		first := v.Expect(mcp.MethodCallTool)
		if want := `"sampling":{"context":{},"tools":{}}`; !strings.Contains(first.Raw, want) {
			t.Errorf("sent %s, want %s declared", first.Raw, want)
		}
		params := fmt.Sprintf(askModel, `,"includeContext":"thisServer",`+someTool)
		v.Answer(first, inputRequired(`{"k":{"method":"sampling/createMessage","params":`+params+`}}`, `"s"`))
		second := v.Expect(mcp.MethodCallTool)
		want := `"k":{"role":"assistant","content":[{"type":"text","text":"let me see"},{"type":"tool_use","id":"1",` +
			`"name":"add","input":{}}],"model":"m-1","stopReason":"toolUse"}`
		if !strings.Contains(second.Raw, want) {
			t.Errorf("sent %s, want it with %s", second.Raw, want)
		}
		v.Answer(second, fmt.Sprintf(textResult, "ok"))
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestSamplingOptionsDetermineDeclaredCapability(t *testing.T) {
	own := &mcp.SamplingCapability{}
	for _, test := range []struct {
		o    *mcpclient.SamplingOptions
		want string
	}{
		{nil, `"sampling":{}`},
		{&mcpclient.SamplingOptions{Tools: true}, `"sampling":{"tools":{}}`},
		{&mcpclient.SamplingOptions{Context: true}, `"sampling":{"context":{}}`},
	} {
		o := &mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleSampling(saying(hello()), test.o)},
			Versions: legacyOnly}
		o.Capabilities.Sampling = own
		bubble(t, o, func(t *testing.T, s *script, c *mcpclient.Client) {
			if f := s.next(t).Expect(mcp.MethodInitialize); !strings.Contains(f.Raw, test.want) {
				t.Errorf("sent %s, want %s declared", f.Raw, test.want)
			}
		})
	}
	if own.Tools != nil || own.Context != nil {
		t.Errorf("the user's capabilities were changed to %+v", own)
	}
}

func TestInvalidRequestsDoNotReachTheModel(t *testing.T) {
	const (
		user  = `{"role":"user","content":{"type":"text","text":"hi"}}`
		use   = `{"type":"tool_use","id":"%s","name":"add","input":{}}`
		given = `{"type":"tool_result","toolUseId":"%s","content":[]}`
	)
	use1, use2, given1, given2 := fmt.Sprintf(use, "1"), fmt.Sprintf(use, "2"), fmt.Sprintf(given, "1"), fmt.Sprintf(given,
		"2")
	messages := func(m ...string) string {
		return `{"maxTokens":10,"messages":[` + strings.Join(m, ",") + `]}`
	}
	assistant := func(blocks string) string { return `{"role":"assistant","content":` + blocks + `}` }
	results := func(blocks string) string { return `{"role":"user","content":` + blocks + `}` }
	tools := &mcpclient.SamplingOptions{Tools: true}
	rounds := func(n int, more string) string {
		var all strings.Builder
		all.WriteString(user)
		for range n {
			all.WriteString("," + assistant(use1) + "," + results(given1))
		}
		return `{"maxTokens":10` + more + `,"messages":[` + all.String() + `]}`
	}
	for _, test := range []struct {
		name, params string
		o            *mcpclient.SamplingOptions
		want         string // text of the error; empty if the client must ask the model
	}{
		{"tools undeclared", fmt.Sprintf(askModel, ","+someTool), nil, "sampling.tools"},
		{"choice undeclared", fmt.Sprintf(askModel, `,"toolChoice":{}`), nil, "sampling.tools"},
		{"uses undeclared", messages(user, assistant(use1), results(given1)), nil, "sampling.tools"},
		{"tools", fmt.Sprintf(askModel, ","+someTool+`,"toolChoice":{"mode":"auto"}`), tools, ""},
		{"a tool in any case", fmt.Sprintf(askModel, ","+someTool+`,"toolChoice":{"mode":"required"}`), tools, ""},
		{"choice", fmt.Sprintf(askModel, ","+someTool+`,"toolChoice":{"mode":"any"}`), tools, `toolChoice.mode is "any"`},
		{"no tokens", `{"messages":[],"maxTokens":0}`, nil, "maxTokens"},
		{"fewer than none", `{"messages":[],"maxTokens":-1}`, nil, "maxTokens is -1"},
		{"no message", messages("null"), nil, "messages[0]"},
		{"no messages", `{"maxTokens":1}`, nil, "messages is missing"},
		{"priority", fmt.Sprintf(askModel, `,"modelPreferences":{"speedPriority":1.5}`), nil, "speedPriority is 1.5"},
		{"role", messages(`{"role":"system","content":{"type":"text","text":"hi"}}`), nil, `role is "system"`},
		{"no content", messages(`{"role":"user","content":[]}`), nil, "messages[0].content is empty"},
		{"balanced", messages(user, assistant("["+use1+","+use2+"]"), results("["+given2+","+given1+"]"), assistant(use1),
			results(given1)), tools, ""},
		{"result missing", messages(user, assistant("["+use1+","+use2+"]"), results(given1)), tools, "tool result missing"},
		{"all results missing", messages(user, assistant(use1), user), tools, "tool result missing"},
		{"at the end", messages(user, assistant(use1)), tools, "tool result missing"},
		{"no such use", messages(user, results(given1)), tools, "messages[1]: tool result missing"},
		{"twice", messages(user, assistant(use1), results("["+given1+","+given1+"]")), tools, "tool result missing"},
		{"mixed", messages(user, assistant(use1), results(`[`+given1+`,{"type":"text","text":"x"}]`)), tools, "mixed"},
		{"use of the user", messages(results(use1)), tools, "only the assistant"},
		{"result of the assistant", messages(user, assistant(use1), assistant(given1)), tools, "only the user"},
		{"many rounds of tools", rounds(31, ""), tools, ""},
		{"too many rounds", rounds(32, ""), tools, "has 32 rounds of tool use"},
		{"the last of many rounds", rounds(32, `,"toolChoice":{"mode":"none"}`), tools, ""},
		{"a round", rounds(1, ""), &mcpclient.SamplingOptions{Tools: true, MaxToolRounds: 1},
			"has 1 rounds of tool use and the limit is 1"},
		{"rounds without end", rounds(100, ""), &mcpclient.SamplingOptions{Tools: true, MaxToolRounds: -1}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			asked := false
			got := sampled(t, mcp.Version20251125,
				mcpclient.HandleSampling(func(_ context.Context, p *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
					asked = true
					_, mode, chosen := strings.Cut(test.params, `"mode":"`)
					if chosen && (p.ToolChoice == nil || !strings.HasPrefix(mode, string(p.ToolChoice.Mode)+`"`)) {
						t.Errorf("the model got the toolChoice %+v for %s", p.ToolChoice, test.params)
					}
					return hello(), nil
				}, test.o), test.params)
			if asked != (test.want == "") {
				t.Errorf("the model was asked: %v", asked)
			}
			if refused := string(got.Error); test.want != "" &&
				(!strings.Contains(refused, "-32602") || !strings.Contains(refused, strings.ReplaceAll(test.want, `"`, `\"`))) {
				t.Errorf("answered %s, want -32602 with %q", got.Raw, test.want)
			}
		})
	}
}

func TestInvalidResultsAreNotSent(t *testing.T) {
	use := func(id, name string) *mcp.ToolUseContent {
		return &mcp.ToolUseContent{ID: id, Name: name, Input: json.RawMessage(`{}`)}
	}
	say := mcp.Text("x")
	for _, test := range []struct {
		name   string
		result mcp.CreateMessageResult
		choice mcp.ToolChoiceMode
		want   string // text of the error; empty if the result is valid
	}{
		{"text", mcp.CreateMessageResult{Model: "m", Content: mcp.SamplingContent{say}}, "", ""},
		{"several", mcp.CreateMessageResult{Model: "m", Content: mcp.SamplingContent{say, use("1", "add"), use("2", "add")}},
			"", ""},
		{"cut short", mcp.CreateMessageResult{Model: "m", Content: mcp.SamplingContent{use("1", "add")},
			StopReason: mcp.StopMaxTokens}, "", ""},
		{"a reason of its own", mcp.CreateMessageResult{Model: "m", Content: mcp.SamplingContent{say}, StopReason: "bored"},
			"", ""},
		{"role", mcp.CreateMessageResult{Model: "m", Content: mcp.SamplingContent{say}, Role: mcp.RoleUser}, "", "role"},
		{"model", mcp.CreateMessageResult{Content: mcp.SamplingContent{say}}, "", "no name"},
		{"nothing", mcp.CreateMessageResult{Model: "m"}, "", "the content is empty"},
		{"nil", mcp.CreateMessageResult{Model: "m", Content: mcp.SamplingContent{nil}}, "", "nil block"},
		{"result of a tool", mcp.CreateMessageResult{Model: "m",
			Content: mcp.SamplingContent{&mcp.ToolResultContent{ToolUseID: "1"}}}, "", "results"},
		{"nothing to use", mcp.CreateMessageResult{Model: "m", Content: mcp.SamplingContent{say},
			StopReason: mcp.StopToolUse}, "", "uses no tool"},
		{"ended", mcp.CreateMessageResult{Model: "m", Content: mcp.SamplingContent{use("1", "add")},
			StopReason: mcp.StopEndTurn}, "", "endTurn"},
		{"unknown", mcp.CreateMessageResult{Model: "m", Content: mcp.SamplingContent{use("1", "rm")}}, "",
			"not a tool of the request"},
		{"unwanted", mcp.CreateMessageResult{Model: "m", Content: mcp.SamplingContent{use("1", "add")}}, mcp.ToolChoiceNone,
			"toolChoice is none"},
		{"same id", mcp.CreateMessageResult{Model: "m", Content: mcp.SamplingContent{use("1", "add"), use("1", "add")}}, "",
			`the id "1"`},
		{"no id", mcp.CreateMessageResult{Model: "m", Content: mcp.SamplingContent{use("", "add")}}, "", `the id ""`},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := fmt.Sprintf("%+v", test.result)
			params := fmt.Sprintf(askModel, ","+someTool+fmt.Sprintf(`,"toolChoice":{"mode":%q}`, test.choice))
			o := &mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleSampling(saying(&test.result),
				&mcpclient.SamplingOptions{Tools: true})}}
			ready(t, o, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
				done := background(func() error { _, err := c.CallTool(t.Context(), "x", nil); return err })
				v.Answer(v.Expect(mcp.MethodCallTool),
					inputRequired(`{"k":{"method":"sampling/createMessage","params":`+params+`}}`, ""))
				if test.want == "" {
					v.Answer(v.Expect(mcp.MethodCallTool), fmt.Sprintf(textResult, "ok"))
				}
				err := <-done
				if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
					t.Errorf("got %v, want an error with %q (empty: want none)", err, test.want)
				}
				if _, ours := errors.AsType[*mcp.Error](err); ours {
					t.Errorf("%v is an error of the server", err)
				}
			})
			if after := fmt.Sprintf("%+v", test.result); after != before {
				t.Errorf("the handler's result was changed to %s", after)
			}
		})
	}
}

func TestOlderServersGetConvertedResults(t *testing.T) {
	sound := &mcp.AudioContent{Data: "AA==", MIMEType: "audio/wav"}
	noted := &mcp.Annotations{Priority: new(0.5), LastModified: "2026-01-02T03:04:05Z"}
	full := mcp.SamplingContent{&mcp.ImageContent{Data: "AA==", MIMEType: "image/png", Annotations: noted,
		Meta: mcp.Meta(`{"x":1}`)}}
	for _, test := range []struct {
		v       mcp.Version
		content mcp.SamplingContent
		want    string
	}{
		{mcp.Version20250618, mcp.SamplingContent{mcp.Text("a"), mcp.Text("b")}, `"content":{"type":"text","text":"a\nb"}`},
		{mcp.Version20251125, mcp.SamplingContent{mcp.Text("a"), mcp.Text("b")},
			`"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]`},
		{mcp.Version20250618, mcp.SamplingContent{mcp.Text("a"), sound}, `-32603`},
		{mcp.Version20250326, mcp.SamplingContent{sound}, `"type":"audio"`},
		{mcp.Version20241105, mcp.SamplingContent{sound}, `-32603`},
		{mcp.Version20250326, full,
			`"content":{"type":"image","data":"AA==","mimeType":"image/png","annotations":{"priority":0.5}}`},
		{mcp.Version20250618, full, `"annotations":{"priority":0.5,"lastModified":"2026-01-02T03:04:05Z"},"_meta":{"x":1}}`},
	} {
		r := hello()
		r.Content = test.content
		got := sampled(t, test.v, mcpclient.HandleSampling(saying(r), nil), fmt.Sprintf(askModel, ""))
		if !strings.Contains(got.Raw, test.want) {
			t.Errorf("%s: answered %s, want %s", test.v, got.Raw, test.want)
		}
	}
}

func TestNilSamplingResultIsARejection(t *testing.T) {
	got := sampled(t, mcp.Version20251125, mcpclient.HandleSampling(saying(nil), nil), fmt.Sprintf(askModel, ""))
	if want := `{"code":-1,"message":"User rejected sampling request"}`; string(got.Error) != want {
		t.Errorf("answered %s, want the error %s", got.Raw, want)
	}
	ready(t, &mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleSampling(saying(nil), nil)}},
		func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
			done := background(func() error { _, err := c.CallTool(t.Context(), "x", nil); return err })
			v.Answer(v.Expect(mcp.MethodCallTool),
				inputRequired(`{"k":{"method":"sampling/createMessage","params":`+fmt.Sprintf(askModel, "")+`}}`, ""))
			if err := <-done; err == nil || !strings.Contains(err.Error(), "User rejected") {
				t.Errorf("got %v, want that error from the call", err)
			}
		})
}

func TestSamplingHandlerErrorIsInternalError(t *testing.T) {
	failing := func(context.Context, *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
		return nil, errors.New("the key 123 has expired")
	}
	got := sampled(t, mcp.Version20251125, mcpclient.HandleSampling(failing, nil), fmt.Sprintf(askModel, ""))
	if want := `{"code":-32603,"message":"internal error"}`; string(got.Error) != want {
		t.Errorf("answered %s, want only the error %s", got.Raw, want)
	}
}

func TestHandleSamplingNeedsOneHandler(t *testing.T) {
	for _, features := range [][]mcpclient.Feature{
		{mcpclient.HandleSampling(nil, nil)},
		{mcpclient.HandleSampling(saying(hello()), nil), mcpclient.HandleSampling(saying(hello()), nil)},
	} {
		if _, err := mcpclient.New(newScript(t), &mcpclient.Options{Features: features}); err == nil ||
			!strings.Contains(err.Error(), "handler for sampling/createMessage") {
			t.Errorf("got %v, want an error about the handlers", err)
		}
	}
}
