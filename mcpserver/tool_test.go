package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// modernCall is a call in the newest revision.
func modernCall(tool, arguments string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call",` +
		`"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientCapabilities":{}},"name":"` + tool + `","arguments":` + arguments + `}}`
}

// answerOf returns the answer to a call with the arguments. add adds the only tool of the server.
func answerOf(t *testing.T, arguments string, add func(*mcpserver.Server, *mcp.Tool) error) (m message) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := mcpserver.New(mcp.Implementation{Name: "test", Version: "1"}, &mcpserver.Options{Telemetry: checked(t)})
		if err := add(s, &mcp.Tool{Name: "tool"}); err != nil {
			t.Fatal(err)
		}
		w := serve(t, t.Context(), s)
		w.send(modernCall("tool", arguments))
		m = w.reply(t)
		if err := w.finish(); err != nil {
			t.Fatal(err)
		}
	})
	return m
}

// typed returns a function that adds a tool with the handler h.
func typed[In, Out any](h func(In) (Out, error)) func(*mcpserver.Server, *mcp.Tool) error {
	return func(s *mcpserver.Server, t *mcp.Tool) error {
		return mcpserver.AddTool(s, t, func(_ context.Context, in In) (Out, error) { return h(in) })
	}
}

// schemas sets the schemas of a tool before it is added.
func schemas(input, output string, add func(*mcpserver.Server, *mcp.Tool) error) func(*mcpserver.Server,
	*mcp.Tool) error {
	return func(s *mcpserver.Server, t *mcp.Tool) error {
		if input != "" {
			t.InputSchema = json.RawMessage(input)
		}
		if output != "" {
			t.OutputSchema = json.RawMessage(output)
		}
		return add(s, t)
	}
}

type point struct {
	X    int               `json:"x"`
	Y    *int              `json:"y,omitzero"`
	Tags []string          `json:"tags,omitzero"`
	More map[string]string `json:"more,omitzero"`
	Any  json.RawMessage   `json:"any,omitzero"`
}

func identity[T any](v T) (T, error) { return v, nil }

func constant[T any](v T) func(map[string]any) (T, error) {
	return func(map[string]any) (T, error) { return v, nil }
}

func TestTypedTools(t *testing.T) {
	const echo = `{"x":1,"y":2,"tags":["a"],"more":{"k":"v"},"any":[1,{"z":null}]}`
	tests := []struct {
		name, arguments string
		add             func(*mcpserver.Server, *mcp.Tool) error
		want            string // the content and structuredContent, or the error
	}{
		{"struct in and out", echo, typed(identity[point]),
			`{"content":` + textOf(echo) + `,"structuredContent":` + echo + `}`},
		{"map in and out", `{"b":1,"a":2}`, typed(identity[map[string]int]),
			`{"content":` + textOf(`{"a":2,"b":1}`) + `,"structuredContent":{"a":2,"b":1}}`},
		{"any in and out", `{"b":[1]}`, typed(identity[any]),
			`{"content":` + textOf(`{"b":[1]}`) + `,"structuredContent":{"b":[1]}}`},
		{"pointer in and out", `{"x":3}`, typed(identity[*point]),
			`{"content":` + textOf(`{"x":3}`) + `,"structuredContent":{"x":3}}`},
		{"no arguments", `null`, typed(func(struct{}) (string, error) { return "ok", nil }),
			`{"content":` + textOf("ok") + `}`},
		{"list out", `{}`, typed(constant([]int{1, 2})), `{"content":` + textOf("[1,2]") + `,"structuredContent":[1,2]}`},
		{"nil list out", `{}`, typed(constant([]int(nil))), `{"content":` + textOf("[]") + `,"structuredContent":[]}`},
		{"number out", `{}`, typed(constant(1.5)), `{"content":` + textOf("1.5") + `,"structuredContent":1.5}`},
		{"string out", `{}`, typed(constant("a\nb")), `{"content":` + textOf("a\nb") + `}`},
		{"string out with a schema", `{}`, schemas("", `{"type":"string"}`, typed(constant("a"))),
			`{"content":` + textOf(`"a"`) + `,"structuredContent":"a"}`},
		{"result out", `{}`, typed(constant(&mcp.CallToolResult{Content: mcp.ContentList{mcp.Text("r")}, IsError: true})),
			`{"content":` + textOf("r") + `,"isError":true}`},
		{"nil result out", `{}`, typed(constant((*mcp.CallToolResult)(nil))), `{"content":[]}`},
		{"result out with a schema", `{}`, schemas("", `{"type":"object"}`,
			typed(constant(&mcp.CallToolResult{StructuredContent: json.RawMessage(`{"s":1}`)}))),
			`{"content":[],"structuredContent":{"s":1}}`},
		{"error result with a schema", `{}`, schemas("", `{"type":"object"}`,
			typed(constant(&mcp.CallToolResult{IsError: true}))), `{"content":[],"isError":true}`},
		{"default filled in", `{}`,
			schemas(`{"type":"object","properties":{"x":{"type":"integer","default":7}},"required":["x"]}`, "",
				typed(identity[point])),
			`{"content":` + textOf(`{"x":7}`) + `,"structuredContent":{"x":7}}`},
		{"large number", `{"x":9007199254740993}`, typed(identity[point]),
			`{"content":` + textOf(`{"x":9007199254740993}`) + `,"structuredContent":{"x":9007199254740993}}`},
		{"lone surrogate", `{"x":1,"tags":["\ud83d"]}`, typed(identity[point]), `{"content":` +
			textOf("{\"x\":1,\"tags\":[\"\uFFFD\"]}") + `,"structuredContent":{"x":1,"tags":["` + "\uFFFD" + `"]}}`},

		{"missing argument", `{}`, typed(identity[point]), isError(`invalid arguments: missing "x" (schema /required)`)},
		{"unknown argument", `{"x":1,"z":2}`, typed(identity[point]),
			isError(`invalid arguments: unexpected "z"; known: "any", "more", "tags", "x", "y" (schema /additionalProperties)`)},
		{"wrong type", `{"x":"1"}`, typed(identity[point]),
			isError(`invalid arguments: /x: got string, want integer (schema /properties/x/type)`)},
		{"wrong element", `{"x":1,"tags":["a",2]}`, typed(identity[point]),
			isError(`invalid arguments: /tags/1: got integer, want string (schema /properties/tags/items/type)`)},
		{"argument twice", `{"x":1,"x":2}`, typed(identity[point]),
			isError(`invalid arguments: /x: not JSON: duplicate object member name`)},
		{"number the type cannot hold", `{"x":9223372036854775808}`, typed(identity[point]),
			isError(`invalid arguments: x is not an integer`)},
		{"the user's schema", `{"x":1}`, schemas(`{"type":"object","properties":{"x":{"minimum":5}}}`, "",
			typed(identity[point])),
			isError(`invalid arguments: /x: got 1, want at least 5 (schema /properties/x/minimum)`)},

		{"error", `{}`, typed(func(struct{}) (int, error) { return 0, errors.New("sold out") }), isError("sold out")},
		{"protocol error", `{}`, typed(func(struct{}) (int, error) { return 0, &mcp.Error{Code: -7, Message: "m"} }), "-7 m"},
		{"panic", `{}`, typed(func(struct{}) (int, error) { panic("p") }), "-32603 internal error"},
		{"output against its schema", `{}`, schemas("", `{"type":"object","required":["y"]}`, typed(constant(point{X: 1}))),
			"-32603 the tool's output does not match its output schema"},
		{"missing structured content", `{}`, schemas("", `{"type":"object"}`, typed(constant(&mcp.CallToolResult{}))),
			"-32603 the tool's output does not match its output schema"},
		{"output that is not JSON", `{}`, typed(constant(map[string]any{"c": make(chan int)})), "-32603 internal error"},
		{"output that panics", `{}`, typed(constant(map[string]any{"c": panics{}})), "-32603 internal error"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := answerOf(t, tt.arguments, tt.add)
			got := ""
			if m.Error != nil {
				got = fmt.Sprint(m.Error.Code, " ", m.Error.Message)
			} else {
				r := struct {
					Content    json.RawMessage `json:"content"`
					Structured json.RawMessage `json:"structuredContent,omitempty"`
					IsError    bool            `json:"isError,omitempty"`
				}{}
				if err := json.Unmarshal(m.Result, &r); err != nil {
					t.Fatal(err)
				}
				got = encoded(r)
			}
			if got != tt.want {
				t.Errorf("arguments %s:\ngot  %s\nwant %s", tt.arguments, got, tt.want)
			}
		})
	}
}

type panics struct{}

func (panics) MarshalJSON() ([]byte, error) { panic("in MarshalJSON") }

func textOf(s string) string {
	return `[{"type":"text","text":` + encoded(s) + `}]`
}

func isError(text string) string { return `{"content":` + textOf(text) + `,"isError":true}` }

// encoded returns v as JSON without HTML escapes.
func encoded(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return strings.TrimSpace(b.String())
}

func TestInvalidToolsAreRejected(t *testing.T) {
	raw := func(s *mcpserver.Server, t *mcp.Tool) error { return s.AddTool(t, echo) }
	tests := []struct {
		name, want string
		tool       *mcp.Tool
		add        func(*mcpserver.Server, *mcp.Tool) error
	}{
		{"no tool", "add tool: no tool", nil, raw},
		{"nil typed tool", "add tool: no tool", nil, typed(identity[point])},
		{"no name", "add tool: the tool has no name", &mcp.Tool{}, raw},
		{"long name", "add tool: name of 129 characters, want 128 at most", &mcp.Tool{Name: strings.Repeat("x", 129)}, raw},
		{"name with a space", `add tool: name "a b" has a character other than letters, digits, '_', '-' and '.'`,
			&mcp.Tool{Name: "a b"}, raw},
		{"name with a letter of another alphabet",
			`add tool: name "ſ" has a character other than letters, digits, '_', '-' and '.'`, &mcp.Tool{Name: "ſ"}, raw},
		{"name taken", "add tool add: a tool with this name already exists", &mcp.Tool{Name: "add"}, raw},
		{"no handler", "add tool: no handler", &mcp.Tool{Name: "x"},
			func(s *mcpserver.Server, t *mcp.Tool) error { return s.AddTool(t, nil) }},
		{"no typed handler", "add tool: no handler", &mcp.Tool{Name: "x"}, func(s *mcpserver.Server, t *mcp.Tool) error {
			return mcpserver.AddTool[point, point](s, t, nil)
		}},
		{"input schema without the type object", `add tool x: input schema: "type" is not "object"`,
			&mcp.Tool{Name: "x", InputSchema: json.RawMessage(`{}`)}, raw},
		{"input schema that is null", "add tool x: input schema: ",
			&mcp.Tool{Name: "x", InputSchema: json.RawMessage(`null`)}, raw},
		{"input schema that is not JSON", "add tool x: input schema: invalid schema",
			&mcp.Tool{Name: "x", InputSchema: json.RawMessage(`{`)}, raw},
		{"output schema that is invalid", "add tool x: output schema: invalid schema at /type",
			&mcp.Tool{Name: "x", OutputSchema: json.RawMessage(`{"type":7}`)}, raw},
		{"input type without a schema", "add tool x: input schema", &mcp.Tool{Name: "x"},
			typed(identity[struct{ D chan int }])},
		{"input type that is not an object", "add tool x: input schema", &mcp.Tool{Name: "x"}, typed(identity[int])},
		{"output type without a schema", "add tool x: output schema", &mcp.Tool{Name: "x"},
			typed(constant(make(chan int)))},
		{"typed tool with an invalid schema", "add tool x: input schema: invalid schema",
			&mcp.Tool{Name: "x", InputSchema: json.RawMessage(`[]`)}, typed(identity[point])},
		{"metadata that is not an object", "add tool x: _meta", &mcp.Tool{Name: "x", Meta: mcp.Meta(`7`)}, raw},
	}
	s := newServer(t, mcpserver.Options{})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := tt.add(s, tt.tool); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got error %v, want %s", err, tt.want)
			}
		})
	}
}

func TestAddToolCopiesTool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		given := &mcp.Tool{
			Name: "tool", Description: "before", InputSchema: json.RawMessage(`{"type":"object"}`),
			Annotations: &mcp.ToolAnnotations{Title: "before"}, Meta: mcp.Meta(`{"k":"before"}`),
		}
		s := mcpserver.New(mcp.Implementation{Name: "test", Version: "1"}, &mcpserver.Options{Telemetry: checked(t)})
		if err := s.AddTool(given, echo); err != nil {
			t.Fatal(err)
		}
		given.Description, given.Annotations.Title = "after", "after"
		copy(given.Meta, `{"k":"after!"}`)
		copy(given.InputSchema, `{"type":"strin"}`)
		w := opened(t, t.Context(), s)
		w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		if m := w.reply(t); strings.Contains(string(m.Result), "after") || strings.Contains(string(m.Result), "strin") {
			t.Errorf("the list is %s, want the tool as it was when it was added", m.Result)
		}
		if err := w.finish(); err != nil {
			t.Error(err)
		}
	})
}

func TestHandleRequestRejectsInvalidMethods(t *testing.T) {
	s := newServer(t, mcpserver.Options{})
	h := func(context.Context, *mcpserver.Request) (any, error) { return nil, nil }
	for name, want := range map[string]string{
		"":                "handle request: no method",
		"tools/list":      "handle request tools/list: the method already has a handler",
		"initialize":      "handle request initialize: the method already has a handler",
		"example.com/who": "handle request example.com/who: the method already has a handler",
	} {
		if err := s.HandleRequest(name, h); err == nil || err.Error() != want {
			t.Errorf("HandleRequest(%q) returned %v, want %s", name, err, want)
		}
	}
	if err := s.HandleRequest("x", nil); err == nil {
		t.Error("HandleRequest without a handler returned nil")
	}
}

func TestCustomHandlersOfMCPMethodsFollowRevision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, mcpserver.Options{Capabilities: mcp.ServerCapabilities{
			Logging: mcp.Object{}, Completions: mcp.Object{}, Tasks: &mcp.TasksCapability{},
			Extensions: map[string]mcp.Object{"example.com/x": {}},
		}})
		nothing := func(context.Context, *mcpserver.Request) (any, error) { return nil, nil }
		if err := s.HandleRequest(mcp.MethodSetLevel, nothing); err != nil {
			t.Fatal(err)
		}
		w := serve(t, t.Context(), s)
		w.send(strings.Replace(initialize, "2025-11-25", "2024-11-05", 1))
		m := w.reply(t)
		if want := `"capabilities":{"tools":{"listChanged":true},"logging":{},` +
			`"extensions":{"example.com/x":{}}}`; !strings.Contains(string(m.Result), want) {
			t.Errorf("initialize got %s, want in it %s", m.Result, want)
		}
		w.send(`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"info"}}`)
		if m := w.reply(t); string(m.Result) != "{}" {
			t.Errorf("got %+v, want an empty result", m)
		}
		meta := `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
			`"io.modelcontextprotocol/clientCapabilities":{}}}`
		w.send(`{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":` + meta + `}`)
		if m := w.reply(t); m.Error == nil || m.Error.Code != mcp.CodeMethodNotFound {
			t.Errorf("got %+v, want that the newest revision has no such method", m)
		}
		w.send(`{"jsonrpc":"2.0","id":3,"method":"server/discover","params":` + meta + `}`)
		m = w.reply(t)
		if want := `"capabilities":{"tools":{"listChanged":true},"completions":{},"logging":{},` +
			`"extensions":{"example.com/x":{}}}`; !strings.Contains(string(m.Result), want) {
			t.Errorf("server/discover got %s, want in it %s", m.Result, want)
		}
		if err := w.finish(); err != nil {
			t.Error(err)
		}
	})
}

func TestResultsOfCustomHandlers(t *testing.T) {
	results := map[string]struct {
		result any
		err    error
		want   string
	}{
		"nil": {nil, nil,
			`{"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"test","version":"1"}},"resultType":"complete"}`},
		"own type": {mcp.Result{ResultType: mcp.ResultTask}, nil,
			`{"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"test","version":"1"}},"resultType":"task"}`},
		"no object":     {7, nil, "-32603 internal error"},
		"error":         {nil, errors.New("secret"), "-32603 internal error"},
		"own error":     {nil, &mcp.Error{Code: 5, Message: "m", Data: json.RawMessage(`{broken`)}, "5 m"},
		"panic in JSON": {panics{}, nil, "-32603 internal error"},
	}
	for name, tt := range results {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := mcpserver.New(mcp.Implementation{Name: "test", Version: "1"}, &mcpserver.Options{Telemetry: checked(t)})
				err := s.HandleRequest("x", func(context.Context, *mcpserver.Request) (any, error) { return tt.result, tt.err })
				if err != nil {
					t.Fatal(err)
				}
				w := serve(t, t.Context(), s)
				w.send(`{"jsonrpc":"2.0","id":1,"method":"x",` +
					`"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
					`"io.modelcontextprotocol/clientCapabilities":{}}}}`)
				m := w.reply(t)
				got := string(m.Result)
				if m.Error != nil {
					got = fmt.Sprint(m.Error.Code, " ", m.Error.Message)
				}
				if got != tt.want {
					t.Errorf("got %s, want %s", got, tt.want)
				}
				if err := w.finish(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
