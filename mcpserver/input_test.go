package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpserver"
)

const ableMetas = versionMeta + `,"io.modelcontextprotocol/clientCapabilities":{"roots":{},"sampling":{"tools":{}},"elicitation":{"form":{},"url":{}}}`

// caller is a modern client that calls one tool again and again.
type caller struct {
	t    *testing.T
	w    *wire
	tool string
	id   int
}

func callerOf(t *testing.T, s *mcpserver.Server, tool string) *caller {
	return &caller{t: t, w: serve(t, t.Context(), s), tool: tool}
}

// call calls the tool with more members of params.
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

// needs calls the tool, which must need input.
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
	if _, err := mcp.Decode(slices.Clone(m.Result), r); err != nil || r.ResultType != mcp.ResultInputRequired || r.RequestState == nil {
		t.Fatalf("the result is %s (%v), want that input is required, and a state", m.Result, err)
	}
	return r
}

// tells calls the tool, which must answer.
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

// fails calls the tool, which must be refused with -32602.
func (c *caller) fails(members, want string) {
	c.t.Helper()
	if m := c.call(members); m.Error == nil || m.Error.Code != mcp.CodeInvalidParams || !strings.Contains(m.Error.Message, want) {
		c.t.Errorf("the answer is %s, %v, want -32602 with %q", m.Result, m.Error, want)
	}
}

func (c *caller) finish() {
	c.t.Helper()
	if err := c.w.finish(); err != nil {
		c.t.Error(err)
	}
}

// with returns the members of a further round: answers by their keys, as JSON, and a state, nil for none.
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

// nameAndColor asks for a name, then for a color.
func nameAndColor(ctx context.Context, _ *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
	var name, color mcp.ElicitResult
	if err := mcpserver.AskAll(ctx, mcpserver.AskElicit("name", &mcp.ElicitParams{Message: "name?", RequestedSchema: nameForm}, &name)); err != nil {
		return nil, err
	}
	form := json.RawMessage(`{"type":"object","properties":{"color":{"type":"string","enum":["red","blue"]}}}`)
	if err := mcpserver.AskAll(ctx, mcpserver.AskElicit("color", &mcp.ElicitParams{Message: "color?", RequestedSchema: form}, &color)); err != nil {
		return nil, err
	}
	return toldBy("%v %s %v %s", name.Content["name"], name.Action, color.Content["color"], color.Action)
}

const (
	adaAnswer  = `"name":{"action":"accept","content":{"name":"Ada"}}`
	blueAnswer = `"color":{"action":"accept","content":{"color":"blue"}}`
)

func TestRoundsOnTheWire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := callerOf(t, withTool(t, mcpserver.Options{}, "tool", nameAndColor), "tool")
		first := c.needs("")
		want := mcp.InputRequests{"name": {Method: "elicitation/create", Params: json.RawMessage(`{"message":"name?","requestedSchema":` + string(nameForm) + `}`)}}
		if fmt.Sprint(first.InputRequests) != fmt.Sprint(want) {
			t.Errorf("the client is asked %s, want %s", first.InputRequests, want)
		}
		if signed, ok := first.Meta.Lookup(mcp.MetaServerInfo); !ok {
			t.Errorf("_meta is %s, want the server's name in it, got %s", first.Meta, signed)
		}
		second := c.needs(with("{"+adaAnswer+"}", first.RequestState))
		if keys := slices.Collect(maps.Keys(second.InputRequests)); len(keys) != 1 || keys[0] != "color" || *second.RequestState == *first.RequestState {
			t.Errorf("the client is asked %q with the same state: %v, want color with another", keys, *second.RequestState == *first.RequestState)
		}
		c.tells(with("{"+blueAnswer+"}", second.RequestState), "Ada accept blue accept")
		c.finish()
	})
}

func TestWhatTheClientLeavesOutIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := callerOf(t, withTool(t, mcpserver.Options{}, "tool", nameAndColor), "tool")
		first := c.needs("")
		for _, members := range []string{
			with(`{}`, first.RequestState),
			with(`{"wrong":{"action":"accept"},"color":7}`, first.RequestState), // nobody has asked for these
			`"inputResponses":null,"requestState":null`,
			with(`{"wrong":1}`, nil),
		} {
			if r := c.needs(members); r.InputRequests["name"].Method != "elicitation/create" || len(r.InputRequests) != 1 {
				t.Errorf("after %s the client is asked %v, want the name again", members, r.InputRequests)
			}
		}
		second := c.needs(with("{"+adaAnswer+"}", first.RequestState))
		third := c.needs(with(`{"name":{"action":"accept","content":{"name":"Eve"}}}`, second.RequestState))
		c.tells(with("{"+blueAnswer+"}", third.RequestState), "Ada accept blue accept") // what was answered stays so
		c.tells(with("{"+adaAnswer+","+blueAnswer+`,"more":{}}`, nil), "Ada accept blue accept")
		c.tells(with(`{"name":{"action":"decline"},"color":{"action":"cancel","content":{"color":"green"}}}`, nil), "<nil> decline <nil> cancel")
		c.finish()
	})
}

func TestAnAnswerOfTheWrongShapeIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		c := callerOf(t, withTool(t, mcpserver.Options{}, "tool", func(ctx context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
			runs++
			return nameAndColor(ctx, r)
		}), "tool")
		for answer, want := range map[string]string{
			`{"name":7}`: `params.inputResponses: "name": `,
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
			`"requestState":5`:         "params.requestState is no string",
			`"requestState":{}`:        "params.requestState is no string",
			`"requestState":""`:        "params.requestState is none of this server for this request",
			`"requestState":"garbage"`: "params.requestState is none of this server for this request",
		} {
			c.fails(members, want)
		}
		if runs != before {
			t.Error("a handler ran for a request that is refused")
		}
		c.finish()
	})
}

func TestAStateIsGoodForItsRequestOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const none, over = "params.requestState is none of this server for this request", "params.requestState has expired"
		s := withTool(t, mcpserver.Options{StateTTL: time.Minute}, "tool", nameAndColor)
		if err := s.AddRawTool(&mcp.Tool{Name: "other"}, nameAndColor); err != nil {
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

func TestServersWithTheSameKeysGoOnWithEachOther(t *testing.T) {
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

func TestAStateIsGoodForItsPrincipalOnly(t *testing.T) {
	w := serveWeb(t, withTool(t, mcpserver.Options{}, "tool", nameAndColor), &mcpserver.HTTPOptions{
		Principal: func(r *http.Request) string { return r.Header.Get("Authorization") },
	})
	post := func(who, members string) page {
		return w.post(asked(1, "tools/call", ableMetas, `"name":"tool"`+members), append(modernHeaders("tools/call", "tool"), "Authorization", who)...)
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

func TestQuestionsWithoutAKeyAreKnownByTheirWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		order := []string{"a", "b", "a"}
		c := callerOf(t, withTool(t, mcpserver.Options{}, "tool", func(ctx context.Context, _ *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
			asks, results := []*mcpserver.Ask{mcpserver.AskListRoots("", nil)}, map[int]*mcp.CreateMessageResult{}
			for i, words := range order {
				results[i] = new(mcp.CreateMessageResult)
				asks = append(asks, mcpserver.AskCreateMessage("", prompt(words), results[i]))
			}
			if err := mcpserver.AskAll(ctx, asks...); err != nil {
				return nil, err
			}
			return toldBy("%s %s %s", said(results[0]), said(results[1]), said(results[2]))
		}), "tool")
		first := c.needs("")
		words := map[string]string{} // by key
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
		if !maps.EqualFunc(first.InputRequests, again.InputRequests, func(a, b mcp.InputRequest) bool { return string(a.Params) == string(b.Params) }) {
			t.Errorf("the second time the client is asked %v, want the same as before: %v", again.InputRequests, first.InputRequests)
		}
		answers := mcp.InputResponses{"roots": json.RawMessage(`{"roots":[]}`)}
		for key, w := range words {
			if strings.HasSuffix(key, "-2") {
				w += "2"
			}
			answers[key] = json.RawMessage(fmt.Sprintf(`{"role":"assistant","model":"m","content":{"type":"text","text":%q}}`, w))
		}
		raw, err := json.Marshal(answers)
		if err != nil {
			t.Fatal(err)
		}
		order = []string{"b", "a", "a"} // a handler may ask in another order
		c.tells(with(string(raw), first.RequestState), "b a a2")
		order = []string{"b", "a", "c"} // but an answer is to its question
		if r := c.needs(with(string(raw), first.RequestState)); len(r.InputRequests) != 1 {
			t.Errorf("the client is asked %v, want what it has not been asked yet", r.InputRequests)
		}
		c.finish()
	})
}

func TestOnceIsOnceOverAllRounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type order struct {
			ID    int64
			Items []string
		}
		calls, failing := 0, true
		c := callerOf(t, withTool(t, mcpserver.Options{}, "tool", func(ctx context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
			placed, err := mcpserver.Once(ctx, "order", func() (*order, error) {
				calls++
				return &order{int64(calls) << 60, []string{"<lamp>"}}, nil
			})
			if err != nil {
				return nil, err
			}
			_, err = mcpserver.Once(ctx, "fails first", func() (any, error) {
				if calls++; failing {
					failing = false
					return nil, errors.New("not yet")
				}
				return nil, nil
			})
			if err != nil {
				return nil, err
			}
			// Asking within Once is fine: then it is done when the answer is there.
			name, err := mcpserver.Once(ctx, "name", func() (string, error) {
				r, err := nameAndColor(ctx, r)
				if err != nil {
					return "", err
				}
				calls++
				return r.Text(), nil
			})
			if err != nil {
				return nil, err
			}
			if _, err := mcpserver.ListRoots(ctx); err != nil {
				return nil, err
			}
			return toldBy("%d %v %s", placed.ID>>60, placed.Items, name)
		}), "tool")
		if m := c.call(""); !strings.Contains(string(m.Result), "not yet") {
			t.Errorf("the answer is %s, want the error of the function", m.Result)
		}
		calls = 0
		r := c.needs("")
		r = c.needs(with("{"+adaAnswer+"}", r.RequestState))
		r = c.needs(with("{"+blueAnswer+"}", r.RequestState))
		if calls != 3 {
			t.Errorf("the functions were called %d times, want once each", calls)
		}
		c.tells(with(`{"roots":{"roots":[]}}`, r.RequestState), "1 [<lamp>] Ada accept blue accept")
		if calls != 3 {
			t.Errorf("the functions were called %d times, want once each", calls)
		}
		c.finish()
	})
}

func TestOnceIsDoneByOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		s := withTool(t, mcpserver.Options{}, "tool", func(ctx context.Context, _ *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
			slow := func() (int, error) {
				calls++
				time.Sleep(time.Second)
				if calls == 1 {
					return 0, errors.New("first")
				}
				return calls, nil
			}
			var all sync.WaitGroup
			var mu sync.Mutex
			results := map[string]int{}
			for range 5 {
				all.Go(func() {
					n, err := mcpserver.Once(ctx, "slow", slow)
					mu.Lock()
					defer mu.Unlock()
					results[fmt.Sprint(n, err)]++
				})
			}
			short, cancel := context.WithTimeout(ctx, time.Millisecond)
			defer cancel()
			<-short.Done()
			if _, err := mcpserver.Once(short, "slow", slow); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("waiting ended with %v, want the end of its context", err)
			}
			all.Wait()
			return toldBy("%v", results)
		})
		w := opened(t, t.Context(), s) // the legacy era has it, too
		w.send(callOf(1, "tool", "{}"))
		time.Sleep(3 * time.Second)
		if out := w.reply(t); !strings.Contains(string(out.Result), `map[0 first:1 2 \u003cnil\u003e:4]`) && !strings.Contains(string(out.Result), `map[0 first:1 2 <nil>:4]`) {
			t.Errorf("the callers got %s, want the error once and the result of the second call for the rest", out.Result)
		}
		if err := w.finish(); err != nil {
			t.Fatal(err)
		}
	})
	if n, err := mcpserver.Once(t.Context(), "", func() (int, error) { return 7, nil }); n != 7 || err != nil {
		t.Errorf("outside of a request: %d, %v, want the function called", n, err)
	}
}

func TestOnceThatPanicsCanBeCalledAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := callerOf(t, withTool(t, mcpserver.Options{}, "tool", func(ctx context.Context, _ *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
			func() {
				defer func() { _ = recover() }()
				_, _ = mcpserver.Once(ctx, "key", func() (int, error) { panic("x") })
			}()
			n, err := mcpserver.Once(ctx, "key", func() (int, error) { return 1, nil })
			return toldBy("%d %v", n, err)
		}), "tool")
		c.tells("", "1 <nil>")
		c.finish()
	})
}

func TestWhatIsTooMuchToRememberIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		c := callerOf(t, withTool(t, mcpserver.Options{Telemetry: rec.Telemetry()}, "tool", func(ctx context.Context, _ *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
			if _, err := mcpserver.Once(ctx, "large", func() (string, error) { return strings.Repeat("x", 1<<20), nil }); err != nil {
				return nil, err
			}
			_, err := mcpserver.ListRoots(ctx)
			return nil, err
		}), "tool")
		if m := c.call(""); m.Error == nil || m.Error.Code != mcp.CodeInternalError {
			t.Errorf("the answer is %s, %v, want -32603", m.Result, m.Error)
		}
		c.finish()
		if text := rec.Log("mcp_server.request.exception").Text("error"); !strings.Contains(text, "takes more than 1048576 bytes") {
			t.Errorf("the log says %q, want why", text)
		}
	})
}

func TestInputRequiredIsATypeOfResultInTelemetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		c := callerOf(t, withTool(t, mcpserver.Options{Telemetry: rec.Telemetry()}, "tool", nameAndColor), "tool")
		c.needs("")
		c.finish()
		found := ""
		for _, a := range rec.Span("tools/call tool").Attributes() {
			if a.Key == "mcp_server.result.type" {
				found = a.Value.Emit()
			}
		}
		if found != "input_required" {
			t.Errorf("the type of the result is %q, want input_required", found)
		}
	})
}

// TestAHandlerKeepsItsOwnState serves clients of both eras by a handler that spells out what it requires.
func TestAHandlerKeepsItsOwnState(t *testing.T) {
	for _, w := range everyWay(mcp.Version20250618) {
		t.Run(w.String(), func(t *testing.T) {
			var log []string
			s := withTool(t, mcpserver.Options{}, "tool", func(ctx context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				log = append(log, fmt.Sprint(r.RequestState(), len(r.InputResponses())))
				switch r.RequestState() {
				case "":
					return nil, mcpserver.RequireInput(mcp.InputRequests{
						"who":   {Method: mcp.MethodElicit, Params: json.RawMessage(`{"message":"who?","requestedSchema":` + string(nameForm) + `}`)},
						"where": {Method: mcp.MethodListRoots},
					}, "named")
				case "named":
					var who mcp.ElicitResult
					if err := json.Unmarshal(r.InputResponses()["who"], &who); err != nil {
						return nil, err
					}
					return nil, mcpserver.RequireInput(nil, "wait for "+fmt.Sprint(who.Content["name"]))
				}
				if _, err := mcpserver.ListRoots(ctx); err != nil { // both ways can be mixed
					return nil, err
				}
				return toldBy("%s", r.RequestState())
			})
			c := connect(t, s, w, able(answers("Ada")...))
			got := callText(t, c, "tool")
			want, logged := "wait for Ada", "[0 named2 wait for Ada0]"
			if w.version.Era() == mcp.Modern {
				logged = "[0 named2 wait for Ada0 wait for Ada1]" // asking is a round of its own
			}
			if got != want || fmt.Sprint(log) != logged {
				t.Errorf("the tool answered %q after %q, want %q after %q", got, log, want, logged)
			}
		})
	}
}

func TestRequireInputSaysWhatIsWrongWithIt(t *testing.T) {
	for name, requests := range map[string]mcp.InputRequests{
		"nothing":        nil,
		"unknown method": {"a": {Method: "ping"}},
		"no key":         {"": {Method: mcp.MethodListRoots}},
		"no params":      {"a": {Method: mcp.MethodElicit, Params: json.RawMessage(`[]`)}},
	} {
		if err := mcpserver.RequireInput(requests, ""); err == nil || errors.Is(err, mcpserver.ErrInputRequired) {
			t.Errorf("%s: got %v, want another error", name, err)
		}
	}
	if err := mcpserver.RequireInput(nil, "x"); !errors.Is(err, mcpserver.ErrInputRequired) {
		t.Errorf("got %v, want %v", err, mcpserver.ErrInputRequired)
	}
}

func TestAHandlerThatNeverHasEnoughIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		w := openedAble(t, withTool(t, mcpserver.Options{}, "tool", func(context.Context, *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
			runs++
			return nil, mcpserver.RequireInput(nil, "x")
		}), "2025-11-25")
		w.send(callOf(1, "tool", "{}"))
		time.Sleep(time.Hour)
		if m := w.reply(t); m.Error == nil || m.Error.Code != mcp.CodeInternalError || runs != 11 {
			t.Errorf("after %d runs the answer is %s, %v, want -32603 after 11", runs, m.Result, m.Error)
		}
		if err := w.finish(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestPromptsAndResourcesAskToo uses handlers of the user's own, which the server gives the params as they are.
func TestPromptsAndResourcesAskToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, mcpserver.Options{})
		for _, method := range []string{mcp.MethodGetPrompt, mcp.MethodReadResource} {
			if err := s.Handle(method, func(ctx context.Context, r *mcpserver.Request) (any, error) {
				roots, err := mcpserver.ListRoots(ctx)
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

func TestLegacyRequestsHaveNoRounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := opened(t, t.Context(), newServer(t, mcpserver.Options{}))
		w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet","arguments":{"name":"x"},"inputResponses":7,"requestState":7}}`)
		if m := w.reply(t); m.Error != nil {
			t.Errorf("the answer is %v, want members that the revision does not have ignored", m.Error)
		}
		if err := w.finish(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestURLElicitationIsRequired serves clients that open URLs and those that do not.
func TestURLElicitationIsRequired(t *testing.T) {
	signedIn := false
	handler := func(context.Context, *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
		if !signedIn {
			return nil, mcpserver.URLElicitationRequired("sign in first", &mcp.ElicitParams{Message: "sign in", URL: "https://example.com/in", ElicitationID: "e1"})
		}
		return toldBy("in")
	}
	legacy := func(t *testing.T, version string) (*mcpserver.Server, *wire) {
		s := withTool(t, mcpserver.Options{}, "tool", handler)
		w := openedAble(t, s, version)
		w.send(callOf(1, "tool", "{}"))
		return s, w
	}
	t.Run("2025-11-25", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, w := legacy(t, "2025-11-25")
			w.expect(t, `{"jsonrpc":"2.0","id":1,"error":{"code":-32042,"message":"sign in first","data":{"elicitations":[`+
				`{"mode":"url","message":"sign in","url":"https://example.com/in","elicitationId":"e1"}]}}}`)
			other := openedAble(t, s, "2025-11-25")
			for _, id := range []string{"e2", "e1", "e1"} {
				s.ElicitationComplete(id)
			}
			synctest.Wait()
			w.expect(t, `{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"e1"}}`)
			other.expect(t)
			for _, w := range []*wire{w, other} {
				if err := w.finish(); err != nil {
					t.Fatal(err)
				}
			}
			s.ElicitationComplete("e1")
		})
	})
	t.Run("2025-06-18", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			_, w := legacy(t, "2025-06-18")
			if m := w.reply(t); m.Error == nil || m.Error.Code != mcp.CodeInternalError || strings.Contains(m.Error.Message, "example.com") {
				t.Errorf("the answer is %v, want -32603", m.Error)
			}
			if err := w.finish(); err != nil {
				t.Fatal(err)
			}
		})
	})
	t.Run("2026-07-28", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := callerOf(t, withTool(t, mcpserver.Options{}, "tool", handler), "tool")
			r := c.needs("")
			var key string
			for k, asked := range r.InputRequests {
				key = k
				if string(asked.Params) != `{"mode":"url","message":"sign in","url":"https://example.com/in"}` {
					t.Errorf("the client is asked %s", asked.Params)
				}
			}
			accept := fmt.Sprintf(`{%q:{"action":"accept"}}`, key)
			r = c.needs(with(accept, r.RequestState)) // the user has agreed and is not there yet
			if m := c.call(with(fmt.Sprintf(`{%q:{"action":"decline"}}`, key), r.RequestState)); m.Error == nil || !strings.Contains(m.Error.Message, "the user has not agreed to open the URL") {
				t.Errorf("the answer is %s, %v, want an error", m.Result, m.Error)
			}
			signedIn = true
			c.tells(with(accept, r.RequestState), "in")
			c.finish()
		})
	})
	for name, err := range map[string]error{
		"none": mcpserver.URLElicitationRequired("m"), "nil": mcpserver.URLElicitationRequired("m", nil),
		"relative": mcpserver.URLElicitationRequired("m", &mcp.ElicitParams{URL: "/in"}),
	} {
		if _, ok := errors.AsType[*mcp.Error](err); err == nil || ok {
			t.Errorf("%s: got %v, want an error that is not for the client", name, err)
		}
	}
}

func TestAnElicitationByURLIsCompleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := withTool(t, mcpserver.Options{}, "tool", func(ctx context.Context, _ *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
			r, err := mcpserver.Elicit(ctx, &mcp.ElicitParams{Mode: mcp.ElicitURL, Message: "m", URL: "https://example.com/x"})
			if err != nil {
				return nil, err
			}
			return toldBy("%s", r.Action)
		})
		w := openedAble(t, s, "2025-11-25")
		w.send(callOf(1, "tool", "{}"))
		var p mcp.ElicitParams
		if err := json.Unmarshal(paramsIn(t, w.taken()[0]), &p); err != nil || len(p.ElicitationID) < 26 {
			t.Errorf("the client is asked %+v (%v), want an id that nobody guesses", p, err)
		}
		w.send(`{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}`)
		w.expect(t, fmt.Sprintf(rootsAnswer, 1, "accept"))
		s.ElicitationComplete(p.ElicitationID)
		synctest.Wait()
		if m := w.reply(t); m.Method != mcp.NotificationElicitationComplete {
			t.Errorf("the server sent %+v, want that the elicitation is complete", m)
		}
		if err := w.finish(); err != nil {
			t.Fatal(err)
		}
	})
}

type signup struct {
	Name  string    `json:"name" jsonschema:"your full name"`
	Age   int64     `json:"age,omitzero"`
	Score *float64  `json:"score"`
	Plan  string    `json:"plan"`
	Topic []string  `json:"topics,omitempty"`
	OK    bool      `json:"ok"`
	Since time.Time `json:"since,omitzero"`
}

func TestAFormIsMadeFromAStruct(t *testing.T) {
	form, err := mcpserver.FormOf[signup]()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(form)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"type":"object","properties":{"name":{"type":"string","description":"your full name"},"age":{"type":"integer"},` +
		`"score":{"type":"number"},"plan":{"type":"string"},"topics":{"type":"array","items":{"type":"string"}},"ok":{"type":"boolean"},` +
		`"since":{"type":"string","format":"date-time"}},"required":["name","plan","ok"]}`
	if string(raw) != want {
		t.Errorf("the form is\n%s\nwant\n%s", raw, want)
	}
	for name, make := range map[string]func() (*mcp.FormSchema, error){
		"nested":        mcpserver.FormOf[struct{ A struct{ B int } }],
		"map":           mcpserver.FormOf[map[string]string],
		"map in it":     mcpserver.FormOf[struct{ A map[string]string }],
		"anything":      mcpserver.FormOf[struct{ A any }],
		"numbers":       mcpserver.FormOf[struct{ A []int }],
		"lists":         mcpserver.FormOf[struct{ A [][]string }],
		"no fields":     mcpserver.FormOf[struct{}],
		"no struct":     mcpserver.FormOf[string],
		"channel":       mcpserver.FormOf[struct{ A chan int }],
		"raw":           mcpserver.FormOf[struct{ A json.RawMessage }],
		"list of files": mcpserver.FormOf[struct{ A []struct{ Name string } }],
	} {
		if form, err := make(); err == nil {
			t.Errorf("%s: got %+v, want an error", name, form)
		}
	}
}

func TestElicitAsFillsAStruct(t *testing.T) {
	for _, w := range everyWay(mcp.Version20251125) {
		t.Run(w.String(), func(t *testing.T) {
			s := withTool(t, mcpserver.Options{}, "tool", func(ctx context.Context, _ *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				in, action, err := mcpserver.ElicitAs[signup](ctx, "Sign up", func(f *mcp.FormSchema) {
					f.Field("plan").OneOf = []mcp.FormOption{{Const: "a", Title: "A"}, {Const: "b", Title: "B"}}
					f.Field("topics").Items.Enum = []string{"x", "y"}
					f.Field("age").Default = json.RawMessage(`30`)
				})
				if err != nil {
					return nil, err
				}
				return toldBy("%s %+v", action, in)
			})
			answer := `{"action":"accept","content":{"name":"Ada","age":9007199254740993,"plan":"b","topics":["x"],"ok":true}}`
			c := connect(t, s, w, able(mcpclient.HandleRequest(mcp.MethodElicit, func(_ context.Context, r *mcpclient.Request) (any, error) {
				return json.RawMessage(answer), nil
			})))
			if got, want := callText(t, c, "tool"), "accept {Name:Ada Age:9007199254740993 Score:<nil> Plan:b Topic:[x] OK:true Since:0001-01-01 00:00:00 +0000 UTC}"; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			answer = `{"action":"decline"}`
			if got := callText(t, c, "tool"); !strings.HasPrefix(got, "decline {Name: ") {
				t.Errorf("got %q, want that the user declined", got)
			}
			answer = `{"action":"accept","content":{"name":"Ada","plan":"c","ok":true}}`
			r, err := c.CallTool(t.Context(), "tool", nil)
			if err == nil && !r.IsError {
				t.Errorf("got %q, want the answer refused", r.Text())
			}
		})
	}
}

func TestAFormIsFlat(t *testing.T) {
	for name, schema := range map[string]string{
		"none":           "",
		"no object":      `{"type":"string"}`,
		"no type":        `{"properties":{}}`,
		"nested":         `{"type":"object","properties":{"a":{"type":"object"}}}`,
		"free list":      `{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"}}}}`,
		"no type inside": `{"type":"object","properties":{"a":{}}}`,
		"two types":      `{"type":"object","properties":{"a":{"type":["string","null"]}}}`,
		"broken":         `{"type":"object","properties":{"a":{"type":"string","minLength":"x"}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := callerOf(t, withTool(t, mcpserver.Options{}, "tool", func(ctx context.Context, _ *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
					var raw json.RawMessage
					if schema != "" {
						raw = json.RawMessage(schema)
					}
					_, err := mcpserver.Elicit(ctx, &mcp.ElicitParams{Message: "m", RequestedSchema: raw})
					if err == nil || errors.Is(err, mcpserver.ErrInputRequired) || !strings.Contains(err.Error(), "requestedSchema: ") {
						t.Errorf("asking ended with %v, want what is wrong with the schema", err)
					}
					return nil, nil
				}), "tool")
				c.tells("", "")
				c.finish()
			})
		})
	}
}
