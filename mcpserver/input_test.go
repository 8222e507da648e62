package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpserver"
)

const ableMetas = versionMeta + `,"io.modelcontextprotocol/clientCapabilities":{"roots":{},"sampling":{"tools":{}},` +
	`"elicitation":{"form":{},"url":{}}}`

// caller is a modern client that calls one tool repeatedly.
type caller struct {
	t    *testing.T
	w    *wire
	tool string
	id   int
}

func callerOf(t *testing.T, s *mcpserver.Server, tool string) *caller {
	return &caller{t: t, w: serve(t, t.Context(), s), tool: tool}
}

// call calls the tool with additional members of params.
func (c *caller) call(members string) message {
	c.t.Helper()
	c.id++
	params := fmt.Sprintf(`"name":%q`, c.tool)
	if members != "" {
		params += "," + members
	}
	c.w.send(asked(c.id, "tools/call", ableMetas, params))
	return c.w.reply(c.t)
}

// needs calls the tool, which must require input.
func (c *caller) needs(members string) *mcp.InputRequiredResult {
	c.t.Helper()
	return needed(c.t, c.call(members))
}

func needed(t *testing.T, m message) *mcp.InputRequiredResult {
	t.Helper()
	r := new(mcp.InputRequiredResult)
	if m.Error != nil {
		t.Fatalf("the answer is %v, want a result", m.Error)
	}
	if _, err := mcp.Decode(slices.Clone(m.Result), r); err != nil || r.ResultType != mcp.ResultInputRequired ||
		r.RequestState == nil {
		t.Fatalf("the result is %s (%v), want that input is required, and a state", m.Result, err)
	}
	return r
}

// tells calls the tool and returns its final result. The call must not require input.
func (c *caller) tells(members, want string) {
	c.t.Helper()
	m := c.call(members)
	var r mcp.CallToolResult
	if m.Error == nil {
		_ = json.Unmarshal(m.Result, &r)
	}
	if r.Text() != want {
		c.t.Errorf("the answer is %s, %v, want %q", m.Result, m.Error, want)
	}
}

// fails calls the tool, which must fail with -32602.
func (c *caller) fails(members, want string) {
	c.t.Helper()
	if m := c.call(members); m.Error == nil || m.Error.Code != mcp.CodeInvalidParams ||
		!strings.Contains(m.Error.Message, want) {
		c.t.Errorf("the answer is %s, %v, want -32602 with %q", m.Result, m.Error, want)
	}
}

func (c *caller) finish() {
	c.t.Helper()
	if err := c.w.finish(); err != nil {
		c.t.Error(err)
	}
}

// with returns the members of a further round. answers are JSON by key; the state may be nil.
func with(answers, state any) string {
	members := fmt.Sprintf(`"inputResponses":%s`, answers)
	switch s := state.(type) {
	case *string:
		members += fmt.Sprintf(`,"requestState":%q`, *s)
	case string:
		members += `,"requestState":` + s
	}
	return members
}

// nameAndColor asks first for a name and then for a color.
func nameAndColor(ctx context.Context, _ *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
	var name, color mcp.ElicitResult
	if err := mcpserver.RequestFrom(ctx).AskAll(ctx, mcpserver.AskElicit("name",
		&mcp.ElicitParams{Message: "name?", RequestedSchema: nameForm}, &name)); err != nil {
		return nil, err
	}
	form := json.RawMessage(`{"type":"object","properties":{"color":{"type":"string","enum":["red","blue"]}}}`)
	if err := mcpserver.RequestFrom(ctx).AskAll(ctx, mcpserver.AskElicit("color",
		&mcp.ElicitParams{Message: "color?", RequestedSchema: form}, &color)); err != nil {
		return nil, err
	}
	return toldBy("%v %s %v %s", name.Content["name"], name.Action, color.Content["color"], color.Action)
}

const (
	adaAnswer  = `"name":{"action":"accept","content":{"name":"Ada"}}`
	blueAnswer = `"color":{"action":"accept","content":{"color":"blue"}}`
)

func TestInputRoundsOnTheWire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := callerOf(t, withTool(t, mcpserver.Options{}, "tool", nameAndColor), "tool")
		first := c.needs("")
		want := mcp.InputRequests{"name": {Method: "elicitation/create",
			Params: json.RawMessage(`{"message":"name?","requestedSchema":` + string(nameForm) + `}`)}}
		if fmt.Sprint(first.InputRequests) != fmt.Sprint(want) {
			t.Errorf("the client is asked %s, want %s", first.InputRequests, want)
		}
		if signed, ok := first.Meta.Lookup(mcp.MetaServerInfo); !ok {
			t.Errorf("_meta is %s, want the server's name in it, got %s", first.Meta, signed)
		}
		second := c.needs(with("{"+adaAnswer+"}", first.RequestState))
		if keys := slices.Collect(maps.Keys(second.InputRequests)); len(keys) != 1 || keys[0] != "color" ||
			*second.RequestState == *first.RequestState {
			t.Errorf("the client is asked %q with the same state: %v, want color with another", keys,
				*second.RequestState == *first.RequestState)
		}
		c.tells(with("{"+blueAnswer+"}", second.RequestState), "Ada accept blue accept")
		c.finish()
	})
}

// (specification 2026-07-28, basic, "Statelessness" and "_meta")
func TestModernCapabilitiesApplyToOneRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := withTool(t, mcpserver.Options{}, "roots", rootsTool)
		c := speak(t, s, mcp.Version20260728)
		for id, able := range []bool{true, false, true} {
			metas := bothMetas
			if able {
				metas = ableMetas
			}
			c.send(asked(id, "tools/call", metas, `"name":"roots"`))
			m := c.reply(t)
			switch {
			case able && !strings.Contains(string(m.Result), `"input_required"`):
				t.Errorf("a request with the capability got %s, %+v, want the roots asked for", m.Result, m.Error)
			case !able && (m.Error == nil || m.Error.Code != mcp.CodeMissingClientCapability):
				t.Errorf("a request without the capability got %s, %+v, want it refused regardless of earlier requests", m.Result,
					m.Error)
			}
		}
		c.bye()
	})
}

func TestMissingInputIsRequestedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := callerOf(t, withTool(t, mcpserver.Options{}, "tool", nameAndColor), "tool")
		first := c.needs("")
		for _, members := range []string{
			with(`{}`, first.RequestState),
			with(`{"wrong":{"action":"accept"},"color":7}`, first.RequestState), // the handler has asked for neither of these
			`"inputResponses":null,"requestState":null`,
			with(`{"wrong":1}`, nil),
		} {
			if r := c.needs(members); r.InputRequests["name"].Method != "elicitation/create" || len(r.InputRequests) != 1 {
				t.Errorf("after %s the client is asked %v, want the name again", members, r.InputRequests)
			}
		}
		second := c.needs(with("{"+adaAnswer+"}", first.RequestState))
		third := c.needs(with(`{"name":{"action":"accept","content":{"name":"Eve"}}}`, second.RequestState))
		c.tells(with("{"+blueAnswer+"}", third.RequestState), "Ada accept blue accept") // earlier answers are final
		c.tells(with("{"+adaAnswer+","+blueAnswer+`,"more":{}}`, nil), "Ada accept blue accept")
		c.tells(with(`{"name":{"action":"decline"},"color":{"action":"cancel","content":{"color":"green"}}}`, nil),
			"<nil> decline <nil> cancel")
		c.finish()
	})
}

func TestMalformedInputResponseIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		c := callerOf(t, withTool(t, mcpserver.Options{}, "tool",
			func(ctx context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				runs++
				return nameAndColor(ctx, r)
			}), "tool")
		for answer, want := range map[string]string{
			`{"name":7}`:                                              `params.inputResponses: "name": `,
			`{"name":{"action":"perhaps"}}`:                           `unknown action "perhaps"`,
			`{"name":{}}`:                                             "action is missing",
			`{"name":{"action":"accept"}}`:                            "content: ",
			`{"name":{"action":"accept","content":null}}`:             "content: ",
			`{"name":{"action":"accept","content":{"name":5}}}`:       "/name: got integer, want string",
			`{"name":{"action":"accept","content":{"name":{"a":1}}}}`: "content",
		} {
			c.fails(with(answer, nil), want)
		}
		before := runs
		for members, want := range map[string]string{
			`"inputResponses":[]`:      "params.inputResponses",
			`"inputResponses":"x"`:     "params.inputResponses",
			`"requestState":5`:         "params.requestState is not a string",
			`"requestState":{}`:        "params.requestState is not a string",
			`"requestState":""`:        "params.requestState was not issued by this server for this request",
			`"requestState":"garbage"`: "params.requestState was not issued by this server for this request",
		} {
			c.fails(members, want)
		}
		if runs != before {
			t.Error("a handler ran for a request that is refused")
		}
		c.finish()
	})
}

func TestRequestStateIsBoundToItsRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const none = "params.requestState was not issued by this server for this request"
		const over = "params.requestState has expired"
		s := withTool(t, mcpserver.Options{StateTTL: time.Minute}, "tool", nameAndColor)
		if err := s.AddTool(&mcp.Tool{Name: "other"}, nameAndColor); err != nil {
			t.Fatal(err)
		}
		c := callerOf(t, s, "tool")
		first := c.needs(`"arguments":{"a":1,"b":[2]}`)
		again := with("{"+adaAnswer+"}", first.RequestState)
		c.needs(`"arguments":{ "b":[2], "a":1 },` + again)
		c.fails(again, none)
		c.fails(`"arguments":{"a":1,"b":[3]},`+again, none)
		c.fails(`"arguments":{"a":1,"b":[2]},`+with("{}", fmt.Sprintf("%q", *first.RequestState+"-TAMPERED")), none)
		c.tool = "other"
		c.fails(`"arguments":{"a":1,"b":[2]},`+again, none)
		c.tool = "tool"
		time.Sleep(time.Minute - time.Millisecond)
		c.needs(`"arguments":{"a":1,"b":[2]},` + again)
		time.Sleep(time.Millisecond)
		c.fails(`"arguments":{"a":1,"b":[2]},`+again, over)
		c.finish()

		another := callerOf(t, withTool(t, mcpserver.Options{}, "tool", nameAndColor), "tool")
		another.fails(`"arguments":{"a":1,"b":[2]},`+again, none)
		another.finish()
	})
}

func TestServersWithSameKeysShareRequestState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := mcpserver.Options{StateKeys: [][]byte{[]byte("0123456789abcdef0123456789abcdef")}}
		first := callerOf(t, withTool(t, o, "tool", nameAndColor), "tool")
		second := callerOf(t, withTool(t, o, "tool", nameAndColor), "tool")
		r := first.needs("")
		r = second.needs(with("{"+adaAnswer+"}", r.RequestState))
		first.tells(with("{"+blueAnswer+"}", r.RequestState), "Ada accept blue accept")
		first.finish()
		second.finish()
	})
}

func TestRequestStateIsBoundToItsPrincipal(t *testing.T) {
	w := serveWeb(t, withTool(t, mcpserver.Options{}, "tool", nameAndColor), &mcpserver.HTTPOptions{
		Principal: func(r *http.Request) string { return r.Header.Get("Authorization") },
	})
	post := func(who, members string) page {
		return w.post(asked(1, "tools/call", ableMetas, `"name":"tool"`+members),
			append(modernHeaders("tools/call", "tool"), "Authorization", who)...)
	}
	first := needed(t, decoded(t, post("alice", "").body))
	members := "," + with("{"+adaAnswer+"}", first.RequestState)
	for _, who := range []string{"bob", ""} {
		if m := decoded(t, post(who, members).body); m.Error == nil || m.Error.Code != mcp.CodeInvalidParams {
			t.Errorf("%q got %s, %v, want -32602", who, m.Result, m.Error)
		}
	}
	needed(t, decoded(t, post("alice", members).body))
}

func TestInputRequestsWithoutKeyMatchByContent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		order := []string{"a", "b", "a"}
		c := callerOf(t, withTool(t, mcpserver.Options{}, "tool",
			func(ctx context.Context, _ *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				asks, results := []*mcpserver.Ask{mcpserver.AskListRoots("", nil)}, map[int]*mcp.CreateMessageResult{}
				for i, words := range order {
					results[i] = new(mcp.CreateMessageResult)
					asks = append(asks, mcpserver.AskCreateMessage("", prompt(words), results[i]))
				}
				if err := mcpserver.RequestFrom(ctx).AskAll(ctx, asks...); err != nil {
					return nil, err
				}
				return toldBy("%s %s %s", said(results[0]), said(results[1]), said(results[2]))
			}), "tool")
		first := c.needs("")
		words := map[string]string{} // text of each message, by key
		for key, r := range first.InputRequests {
			var p mcp.CreateMessageParams
			if err := json.Unmarshal(r.Params, &p); r.Method == "sampling/createMessage" && err == nil {
				words[key] = p.Messages[0].Content[0].(*mcp.TextContent).Text
			}
		}
		if len(first.InputRequests) != 4 || first.InputRequests["roots"].Method != "roots/list" || len(words) != 3 {
			t.Fatalf("the client is asked %v, want four things under keys of their own", first.InputRequests)
		}
		again := c.needs("")
		if !maps.EqualFunc(first.InputRequests, again.InputRequests,
			func(a, b mcp.InputRequest) bool { return string(a.Params) == string(b.Params) }) {
			t.Errorf("the second time the client is asked %v, want the same as before: %v", again.InputRequests,
				first.InputRequests)
		}
		answers := mcp.InputResponses{"roots": json.RawMessage(`{"roots":[]}`)}
		for key, w := range words {
			if strings.HasSuffix(key, "-2") {
				w += "2"
			}
			answers[key] = json.RawMessage(fmt.Sprintf(`{"role":"assistant","model":"m","content":{"type":"text","text":%q}}`,
				w))
		}
		raw, err := json.Marshal(answers)
		if err != nil {
			t.Fatal(err)
		}
		order = []string{"b", "a", "a"} // a handler may ask in another order
		c.tells(with(string(raw), first.RequestState), "b a a2")
		order = []string{"b", "a", "c"} // an answer belongs to its question
		if r := c.needs(with(string(raw), first.RequestState)); len(r.InputRequests) != 1 {
			t.Errorf("the client got the questions %v, want only new questions", r.InputRequests)
		}
		c.finish()
	})
}

func TestOversizedRequestStateIsError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		c := callerOf(t, withTool(t, mcpserver.Options{Telemetry: rec.Telemetry()}, "tool",
			func(ctx context.Context, _ *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				if _, err := mcpserver.Once(ctx, "large",
					func() (string, error) { return strings.Repeat("x", 1<<20), nil }); err != nil {
					return nil, err
				}
				_, err := mcpserver.RequestFrom(ctx).ListRoots(ctx)
				return nil, err
			}), "tool")
		if m := c.call(""); m.Error == nil || m.Error.Code != mcp.CodeInternalError {
			t.Errorf("the answer is %s, %v, want -32603", m.Result, m.Error)
		}
		c.finish()
		if text := rec.Log("mcp_server.request.exception").Text("exception.message"); !strings.Contains(text,
			"has more than 1048576 bytes") {
			t.Errorf("the log contains %q, want the reason", text)
		}
	})
}

func TestTelemetryRecordsResultTypeInputRequired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		c := callerOf(t, withTool(t, mcpserver.Options{Telemetry: rec.Telemetry()}, "tool", nameAndColor), "tool")
		c.needs("")
		c.finish()
		found := ""
		for _, a := range rec.Span("tools/call tool").Attributes() {
			if a.Key == "mcp_server.result.type" {
				found = a.Value.String()
			}
		}
		if found != "input_required" {
			t.Errorf("the type of the result is %q, want input_required", found)
		}
	})
}

// TestPromptsAndResourcesMayRequireInput uses custom handlers, which get the params unchanged.
func TestPromptsAndResourcesMayRequireInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, mcpserver.Options{})
		for _, method := range []string{mcp.MethodGetPrompt, mcp.MethodReadResource} {
			if err := s.HandleRequest(method, func(ctx context.Context, r *mcpserver.Request) (any, error) {
				roots, err := r.ListRoots(ctx)
				if err != nil {
					return nil, err
				}
				return map[string]int{"roots": len(roots)}, nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		w := serve(t, t.Context(), s)
		for _, method := range []string{mcp.MethodGetPrompt, mcp.MethodReadResource} {
			w.send(asked(1, method, ableMetas, `"name":"p","uri":"u"`))
			r := needed(t, w.reply(t))
			w.send(asked(2, method, ableMetas, `"name":"p","uri":"u",`+with(`{"roots":{"roots":[]}}`, r.RequestState)))
			if m := w.reply(t); !strings.Contains(string(m.Result), `"roots":0`) {
				t.Errorf("%s answered %s, %v, want the result", method, m.Result, m.Error)
			}
			w.send(asked(3, method, ableMetas, `"name":"p","uri":"u",`+with(`{}`, `"x"`)))
			if m := w.reply(t); m.Error == nil || m.Error.Code != mcp.CodeInvalidParams {
				t.Errorf("%s answered %s, %v, want -32602", method, m.Result, m.Error)
			}
		}
		if err := w.finish(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestLegacyRequestsIgnoreInputRounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := opened(t, t.Context(), newServer(t, mcpserver.Options{}))
		w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet","arguments":{"name":"x"},` +
			`"inputResponses":7,"requestState":7}}`)
		if m := w.reply(t); m.Error != nil {
			t.Errorf("the answer is %v, want members that the revision does not have ignored", m.Error)
		}
		if err := w.finish(); err != nil {
			t.Fatal(err)
		}
	})
}
