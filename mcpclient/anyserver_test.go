package mcpclient_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/internal/testsupport/heap"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// Limits of an operation against any server: its own deadline, and memory in proportion to the bytes that the server
// sent.
const (
	anyTimeout   = 2 * time.Second // timeout of each operation, in virtual time
	anySlack     = 50 * time.Millisecond
	anyReal      = 10 * time.Second // time of a whole exchange on a busy machine
	anyFrame     = 256 << 10        // frame limit
	anyAllocated = 64 << 20         // bytes that may be allocated in a whole exchange, including freed memory
	anyPerByte   = 64               // additional bytes for each byte that the server sent
)

// FuzzAnyServer runs every operation of a client against a server that may send anything. Each operation returns within
// its deadline, nothing panics or leaks, and the allocated memory is in proportion to the bytes that the server sent.
func FuzzAnyServer(f *testing.F) {
	f.Fuzz(func(t *testing.T, data []byte) {
		rapid.MakeFuzz(func(r *rapid.T) { anyServer(t, r, drawServer(r)) })(t, data)
	})
}

func TestAnyServer(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) { anyServer(t, r, drawServer(r)) })
}

// strange is a random server: its reactions to the requests, in order.
type strange struct {
	Legacy     bool
	Operations []string
	Reactions  []reaction // reactions to the requests after the handshake, cyclically
}

// reaction is the server's behaviour for one request.
type reaction struct {
	Before []string // frames to send first; METHOD, ID and TOKEN are replaced by the values of the request
	Change []change // changes to the correct result
	Raw    string   // sent instead of an answer, if not empty
	Silent bool
	Delay  time.Duration
	HangUp bool
}

// change replaces one value in a result.
type change struct {
	At    int // position of the value in depth-first order
	Value any
	Key   string // if not empty, a member with this name is added instead
}

func drawServer(r *rapid.T) strange {
	return strange{
		Legacy:     rapid.Bool().Draw(r, "legacy"),
		Operations: rapid.SliceOfN(rapid.SampledFrom(slices.Sorted(maps.Keys(operations))), 1, 3).Draw(r, "operations"),
		Reactions:  rapid.SliceOfN(rapid.Custom(drawReaction), 1, 6).Draw(r, "reactions"),
	}
}

func drawReaction(r *rapid.T) reaction {
	frames := rapid.OneOf(
		rapid.SampledFrom(unasked),
		rapid.Map(anyValue(), func(v any) string {
			return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/message","params":%s}`, encoded(v))
		}),
		rapid.Map(anyValue(), func(v any) string {
			return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":TOKEN,`+
				`"progress":1,"x":%s}}`, encoded(v))
		}),
		rapid.Map(anyValue(), func(v any) string {
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"message":"m",`+
				`"requestedSchema":%s}}`, encoded(v))
		}),
	)
	kind := rapid.IntRange(0, 11).Draw(r, "kind")
	re := reaction{Before: rapid.SliceOfN(frames, 0, 3).Draw(r, "before")}
	switch kind {
	case 0:
		re.Silent = true
	case 1:
		re.HangUp = true
	case 2:
		re.Raw = rapid.SampledFrom([]string{
			`{`, `null`, `[]`, `[{"jsonrpc":"2.0","id":ID,"result":{}}]`, `{"jsonrpc":"2.0","id":ID}`,
			`{"jsonrpc":"2.0","id":"ID","result":{}}`,
			`{"jsonrpc":"2.0","id":ID,"result":{},"error":{"code":1,"message":"m"}}`,
			`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}`,
			`{"jsonrpc":"2.0","id":ID,"result":{"a":"` + strings.Repeat("x", anyFrame) + `"}}`,
			`{"jsonrpc":"2.0","id":ID,"result":` + strings.Repeat(`{"a":`, 5000) + `1` + strings.Repeat(`}`, 5000) + `}`,
		}).Draw(r, "raw")
	case 3:
		re.Raw = fmt.Sprintf(`{"jsonrpc":"2.0","id":ID,"error":{"code":%d,"message":%s,"data":%s}}`,
			rapid.SampledFrom([]int{-32000, -32601, -32602, -32603, -32001, -32002, -32042, -32020, -32021, -32022, 0}).Draw(r,
				"code"),
			encoded(rapid.String().Draw(r, "message")), encoded(anyValue().Draw(r, "data")))
	case 4:
		re.Raw = fmt.Sprintf(`{"jsonrpc":"2.0","id":ID,"result":%s}`, encoded(anyValue().Draw(r, "result")))
	default:
		re.Change = rapid.SliceOfN(rapid.Custom(drawChange), 0, 4).Draw(r, "change")
	}
	if rapid.IntRange(0, 4).Draw(r, "late") == 0 {
		re.Delay = rapid.SampledFrom([]time.Duration{time.Millisecond, anyTimeout - time.Millisecond, anyTimeout,
			time.Hour}).Draw(r, "delay")
	}
	return re
}

func drawChange(r *rapid.T) change {
	c := change{At: rapid.IntRange(0, 40).Draw(r, "at"), Value: anyValue().Draw(r, "value")}
	if rapid.Bool().Draw(r, "add") {
		c.Key = rapid.SampledFrom(members).Draw(r, "member")
	}
	return c
}

// members are names of members that a client interprets.
var members = []string{
	"resultType", "nextCursor", "tools", "content", "structuredContent", "isError", "inputRequests", "requestState",
	"_meta", "ttlMs", "cacheScope",
	"task", "taskId", "status", "pollInterval", "pollIntervalMs", "type", "$ref", "default", "properties", "required",
	"enum", "uniqueItems", "allOf",
	"name", "uri", "text", "blob", "mimeType", "annotations", "icons", "inputSchema", "outputSchema", "x-mcp-header",
	"total", "values", "messages",
	"io.modelcontextprotocol/serverInfo", "io.modelcontextprotocol/subscriptionId", "supportedVersions", "capabilities",
	"execution", "elicitations",
}

// anyValue draws a JSON value, mostly a value that a client interprets.
func anyValue() *rapid.Generator[any] {
	scalar := rapid.OneOf(
		rapid.SampledFrom([]any{
			nil, true, false, json.Number("0"), json.Number("-1"), json.Number("1e400"), json.Number("1e-999999999"),
			json.Number("9007199254740993"), json.Number("0.1"), "",
			"x", "input_required", "complete", "task", "string", "object", "array", "integer", "#", "#/properties/a", "working",
			"completed", "private",
			"https://example.com/", "javascript:alert(1)", `"resultType":"input_required"`, "\\\"", strings.Repeat("a",
				5000), "\u202e\x00\u009b",
			json.RawMessage(`{"type":"string","$ref":"#","default":{}}`),
			json.RawMessage(`{"type":"object","properties":{"a":{"type":"string","$ref":"#","default":{}}}}`),
			json.RawMessage(`{"ask":{"method":"elicitation/create","params":{"mode":"form","message":"m",` +
				`"requestedSchema":{"type":"object","properties":{"p":{"type":"string"}}}}}}`),
			json.RawMessage(`{"ask":{"method":"roots/list"},"model":{"method":"sampling/createMessage",` +
				`"params":{"messages":[],"maxTokens":1}}}`),
			json.RawMessage(`[{"name":"echo","inputSchema":{"type":"object"},"outputSchema":{"type":"array",` +
				`"uniqueItems":true,"allOf":[{"uniqueItems":true}]}}]`),
			json.RawMessage(`[` + strings.Repeat(`1e-300,`, 2000) + `1]`),
			json.RawMessage(strings.Repeat(`[`, 300) + strings.Repeat(`]`, 300)),
			json.RawMessage(`[` + strings.Repeat(`{},`, 3000) + `{}]`),
		}),
		rapid.Map(rapid.String(), func(s string) any { return s }),
		rapid.Map(rapid.Float64Range(-1e9, 1e9), func(f float64) any { return f }),
	)
	level := func(inner *rapid.Generator[any]) *rapid.Generator[any] {
		name := rapid.OneOf(rapid.SampledFrom(members), rapid.String())
		return rapid.OneOf(scalar,
			rapid.Map(rapid.SliceOfN(inner, 0, 4), func(a []any) any { return a }),
			rapid.Map(rapid.MapOfN(name, inner, 0, 4), func(m map[string]any) any { return m }))
	}
	return level(level(scalar))
}

func encoded(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return "null"
	}
	return string(raw)
}

// unasked are unsolicited frames of a server. The values of the next request replace ID and TOKEN.
var unasked = []string{
	`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`,
	`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"demo://x"}}`,
	`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":ID}}`,
	`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`,
	`{"jsonrpc":"2.0","id":7,"method":"ping"}`,
	`{"jsonrpc":"2.0","id":7,"method":"roots/list"}`,
	`{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}`,
	`{"jsonrpc":"2.0","id":"x","method":"elicitation/create","params":{"mode":"url","message":"m",` +
		`"url":"https://example.com/","elicitationId":"e"}}`,
	`{"jsonrpc":"2.0","id":999,"result":{}}`,
	`not JSON`,
}

// results are the results of a correct server, by method.
var results = map[string]string{
	mcp.MethodCallTool: `{"content":[{"type":"text","text":"a \"quoted\" text"}],` +
		`"structuredContent":{"n":1}}`,
	mcp.MethodListTools: `{"tools":[{"name":"echo","description":"d","inputSchema":{"type":"object",` +
		`"properties":{"a":{"type":"string","x-mcp-header":"A"}}},"outputSchema":{"type":"object",` +
		`"properties":{"n":{"type":"number","default":1}},"required":["n"]}}]}`,
	mcp.MethodListResources:         `{"resources":[{"uri":"demo://x","name":"x","size":3}]}`,
	mcp.MethodListResourceTemplates: `{"resourceTemplates":[{"uriTemplate":"demo://{x}","name":"x"}]}`,
	mcp.MethodReadResource: `{"contents":[{"uri":"demo://x","mimeType":"text/plain","text":"t"},` +
		`{"uri":"demo://y","blob":"AAAA"}]}`,
	mcp.MethodListPrompts: `{"prompts":[{"name":"p","arguments":[{"name":"a","required":true}]}]}`,
	mcp.MethodGetPrompt:   `{"messages":[{"role":"user","content":{"type":"text","text":"t"}}]}`,
	mcp.MethodComplete:    `{"completion":{"values":["a","b"],"total":2,"hasMore":false}}`,
	mcp.MethodGetTask: `{"taskId":"t","status":"completed","createdAt":"","lastUpdatedAt":"","ttlMs":1000,` +
		`"result":{"content":[]}}`,
}

// operations are the user's operations on a client, by name.
var operations = map[string]func(ctx context.Context, c *mcpclient.Client){
	"CallTool": func(ctx context.Context, c *mcpclient.Client) {
		c.CallTool(ctx, "echo", map[string]any{"a": "b"}, mcpclient.WithTimeout(anyTimeout),
			mcpclient.WithProgress(func(*mcp.ProgressParams) {}))
	},
	"CallToolAs": func(ctx context.Context, c *mcpclient.Client) {
		mcpclient.CallToolAs[struct {
			N float64 `json:"n"`
		}](ctx, c, "echo", nil, mcpclient.WithTimeout(anyTimeout))
	},
	"StartTool": func(ctx context.Context, c *mcpclient.Client) {
		if task, err := c.StartTool(ctx, "echo", nil, mcpclient.WithTimeout(anyTimeout)); err == nil {
			task.Poll(ctx)
			task.Wait(ctx)
			task.Cancel(ctx)
		}
	},
	"ResumeTask": func(ctx context.Context, c *mcpclient.Client) { c.ResumeTask("t").Wait(ctx) },
	"Tools": func(ctx context.Context, c *mcpclient.Client) {
		for range c.Tools(ctx) {
		}
	},
	"Resources": func(ctx context.Context, c *mcpclient.Client) {
		for range c.Resources(ctx) {
		}
	},
	"ResourceTemplates": func(ctx context.Context, c *mcpclient.Client) {
		for range c.ResourceTemplates(ctx) {
		}
	},
	"Prompts": func(ctx context.Context, c *mcpclient.Client) {
		for range c.Prompts(ctx) {
		}
	},
	"ReadResource": func(ctx context.Context, c *mcpclient.Client) { c.ReadResource(ctx, "demo://x") },
	"GetPrompt":    func(ctx context.Context, c *mcpclient.Client) { c.GetPrompt(ctx, "p", map[string]string{"a": "b"}) },
	"Complete": func(ctx context.Context, c *mcpclient.Client) {
		c.Complete(ctx, mcp.CompleteRef{Type: mcp.RefPrompt, Name: "p"}, mcp.CompleteArgument{Name: "a", Value: "b"}, nil)
	},
	"Ping":              func(ctx context.Context, c *mcpclient.Client) { c.Ping(ctx) },
	"SetLogLevel":       func(ctx context.Context, c *mcpclient.Client) { c.SetLogLevel(ctx, mcp.LevelDebug) },
	"SubscribeResource": func(ctx context.Context, c *mcpclient.Client) { c.SubscribeResource(ctx, "demo://x") },
	"Call": func(ctx context.Context, c *mcpclient.Client) {
		c.Call(ctx, "acme/x", map[string]any{}, new(json.RawMessage))
	},
}

// calls are the operations that end at the timeout of a call. All others end only with the context.
var calls = []string{"CallTool", "CallToolAs", "ReadResource", "GetPrompt", "Complete", "Ping", "SetLogLevel", "Call"}

// anyServer is one exchange with a strange server.
func anyServer(t *testing.T, r *rapid.T, s strange) {
	began := time.Now()
	var sent int
	var err error
	bytes := heap.Allocated(func() {
		synctest.Test(t, func(t *testing.T) { sent, err = s.converse(t.Context()) })
	})
	if err != nil {
		r.Fatalf("%v: %+v", err, s)
	}
	if took := time.Since(began); took > anyReal {
		r.Fatalf("the exchange took %v: %+v", took, s)
	}
	if bytes > anyAllocated+uint64(sent)*anyPerByte {
		r.Fatalf("%d bytes were allocated for %d that the server sent: %+v", bytes, sent, s)
	}
}

// converse connects a client to the server and runs the operations one after the other. It returns the number of bytes
// that the server sent.
func (s strange) converse(ctx context.Context) (sent int, _ error) {
	server := &strangeServer{strange: s}
	elicit := func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: map[string]any{"p": "x"}}, nil
	}
	c, err := mcpclient.New(transport.InMemory(server.serve), &mcpclient.Options{
		Limits: mcpclient.Limits{Frame: anyFrame}, RequestTimeout: anyTimeout, Timeouts: mcpclient.Timeouts{Init: anyTimeout},
		Telemetry: telemetry.Off(),
		Features: []mcpclient.Feature{
			mcpclient.HandleElicitation(elicit), mcpclient.UseTasks(nil), mcpclient.UseRoots(),
			mcpclient.HandleNotification("", func(_ context.Context,
				n *mcpclient.Notification) {
				n.Decode(new(map[string]any))
			}),
		},
	})
	if err != nil {
		return 0, err
	}
	defer c.Close()
	for _, name := range s.Operations {
		ready, cancel := context.WithTimeout(ctx, time.Minute)
		c.WaitForReady(ready)
		cancel()
		bounded, cancel := context.WithTimeout(ctx, anyTimeout)
		if slices.Contains(calls, name) {
			bounded = ctx
		}
		begun := time.Now()
		operations[name](bounded, c)
		if took := time.Since(begun); took > anyTimeout+anySlack {
			cancel()
			return 0, fmt.Errorf("%s took %v, want no more than %v", name, took, anyTimeout)
		}
		cancel()
	}
	begun := time.Now()
	c.Close()
	if took := time.Since(begun); took > time.Second {
		return 0, fmt.Errorf("Close took %v", took)
	}
	return server.sent, nil
}

// strangeServer serves connections, one after the other.
type strangeServer struct {
	strange
	turn int
	sent int
}

func (s *strangeServer) serve(ctx context.Context, p *transport.Peer) {
	for {
		raw, err := p.Receive(ctx)
		if err != nil {
			return
		}
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Meta map[string]any `json:"_meta"`
			} `json:"params"`
		}
		if json.Unmarshal(raw, &m) != nil || m.ID == nil || m.Method == "" {
			continue
		}
		for _, frame := range s.react(ctx, m.Method, string(m.ID), encoded(m.Params.Meta["progressToken"])) {
			if s.sent += len(frame); p.Send(ctx, []byte(frame)) != nil {
				return
			}
		}
		if ctx.Err() != nil || s.hangsUp(m.Method) {
			return
		}
	}
}

func handshake(method string) bool {
	return method == mcp.MethodDiscover || method == mcp.MethodInitialize
}

func (s *strangeServer) hangsUp(method string) bool {
	return !handshake(method) && s.Reactions[(s.turn-1)%len(s.Reactions)].HangUp
}

// react returns the frames for one request. The handshake is always correct.
func (s *strangeServer) react(ctx context.Context, method, id, token string) []string {
	const capabilities = `{"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"prompts":{},` +
		`"completions":{},"logging":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`
	switch {
	case method == mcp.MethodDiscover && !s.Legacy:
		return []string{`{"jsonrpc":"2.0","id":` + id + `,"result":{"resultType":"complete",` +
			`"supportedVersions":["2026-07-28"],"capabilities":` + capabilities + `,"ttlMs":0,"cacheScope":"private"}}`}
	case method == mcp.MethodDiscover:
		return []string{`{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32601,"message":"m"}}`}
	case method == mcp.MethodInitialize:
		return []string{`{"jsonrpc":"2.0","id":` + id + `,"result":{"protocolVersion":"2025-11-25","capabilities":` +
			capabilities + `,"serverInfo":{"name":"n","version":"v"}}}`}
	}
	re := s.Reactions[s.turn%len(s.Reactions)]
	s.turn++
	if re.Delay > 0 {
		select {
		case <-time.After(re.Delay):
		case <-ctx.Done():
			return nil
		}
	}
	fill := strings.NewReplacer("METHOD", method, "ID", id, "TOKEN", token)
	var frames []string
	for _, f := range re.Before {
		frames = append(frames, fill.Replace(f))
	}
	switch {
	case re.Silent, re.HangUp:
	case re.Raw != "":
		frames = append(frames, fill.Replace(re.Raw))
	default:
		frames = append(frames, `{"jsonrpc":"2.0","id":`+id+`,"result":`+s.result(method, re.Change)+`}`)
	}
	return frames
}

// result returns the correct result for a method after these changes.
func (s *strangeServer) result(method string, changes []change) string {
	text, ok := results[method]
	if !ok {
		text = `{}`
	}
	var v map[string]any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return text
	}
	if !s.Legacy {
		v["resultType"], v["ttlMs"], v["cacheScope"] = "complete", 0, "private"
	}
	for _, c := range changes {
		at := c.At
		c.Value = json.RawMessage(encoded(c.Value)) // opaque, so that later changes do not affect it
		apply(v, &at, c)
	}
	return encoded(v)
}

// apply walks through v and makes the change c. It does not walk through the new value.
func apply(v any, at *int, c change) {
	switch v := v.(type) {
	case map[string]any:
		keys := slices.Sorted(maps.Keys(v))
		if *at == 0 && c.Key != "" {
			v[c.Key] = c.Value
			*at = -1
			return
		}
		for _, k := range keys {
			if *at--; *at == 0 && c.Key == "" {
				v[k] = c.Value
				return
			}
			apply(v[k], at, c)
		}
	case []any:
		for i := range v {
			if *at--; *at == 0 && c.Key == "" {
				v[i] = c.Value
				return
			}
			apply(v[i], at, c)
		}
	}
}
