package wire

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// tiny is the part of a schema that these tests need.
const tiny = `{"$defs": {
	"JSONRPCRequest": {"type": "object", "properties": {"jsonrpc": {}, "id": {}, "method": {}, "params": {"type": "object"}}, "required": ["id"]},
	"JSONRPCNotification": {"type": "object", "properties": {"jsonrpc": {}, "method": {}, "params": {"type": "object"}}},
	"JSONRPCResponse": {"type": "object", "properties": {"jsonrpc": {}, "id": {}, "result": {"type": "object"}}, "required": ["id"]},
	"JSONRPCError": {"type": "object", "properties": {"jsonrpc": {}, "id": {}, "error": {"type": "object"}}},
	"EmptyResult": {"type": "object", "properties": {"_meta": {}, "resultType": {}}},
	"CallToolRequest": {"type": "object", "properties": {"jsonrpc": {}, "id": {}, "method": {"const": "tools/call"},
		"params": {"type": "object", "properties": {"_meta": {}, "name": {"type": "string"}, "task": {}}, "required": ["name"]}}},
	"CallToolResult": {"type": "object", "properties": {"_meta": {}, "resultType": {}, "content": {"type": "array"}}, "required": ["content"]},
	"CreateTaskResult": {"type": "object", "properties": {"_meta": {}, "task": {"type": "object", "properties": {"taskId": {}}, "required": ["taskId"]}}}
}}`

func tinySchemas(t *testing.T) *Schemas {
	dir := t.TempDir()
	for _, v := range mcp.SupportedVersions() {
		if err := os.MkdirAll(filepath.Join(dir, string(v)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, string(v), "schema.json"), []byte(tiny), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestWatchReportsMessagesThatViolateTheSchema(t *testing.T) {
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call",` +
		`"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"},"name":"a"}}`
	task := strings.Replace(call, `"name"`, `"task":{},"name"`, 1)
	type said struct {
		from Side
		text string
	}
	for _, test := range []struct {
		name string
		said []said
		want string // part of the error for the last message; empty for none
	}{
		{"a good call", []said{{Client, call}}, ""},
		{"a call without a name", []said{{Client, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`}},
			`missing properties: ["name"]`},
		{"a member of another revision", []said{{Client, strings.Replace(call, `"name"`, `"later":{},"name"`, 1)}},
			`["later"]`},
		{"a good answer", []said{{Client, call}, {Server, `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`}}, ""},
		{"a result without content", []said{{Client, call}, {Server, `{"jsonrpc":"2.0","id":1,"result":{}}`}}, `["content"]`},
		{"a task is another schema's business",
			[]said{{Client, call}, {Server, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"task"}}`}}, ""},
		{"a task that was asked for",
			[]said{{Client, task}, {Server, `{"jsonrpc":"2.0","id":1,"result":{"task":{"taskId":"a"}}}`}}, ""},
		{"one without an id", []said{{Client, task}, {Server, `{"jsonrpc":"2.0","id":1,"result":{"task":{}}}`}},
			`["taskId"]`},
		{"none, though one was asked for", []said{{Client, task}, {Server, `{"jsonrpc":"2.0","id":1,"result":{}}`}},
			`["content"]`},
		{"one that was not asked for",
			[]said{{Client, call}, {Server, `{"jsonrpc":"2.0","id":1,"result":{"content":[],"task":{"taskId":"a"}}}`}},
			`["task"]`},
		{"an answer to nothing", []said{{Server, `{"jsonrpc":"2.0","id":7,"result":{}}`}}, "answers no request"},
		{"a second answer", []said{
			{Client, call}, {Server, `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`},
			{Server, `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`},
		}, "answers no request"},
		{"the other side's request", []said{
			{Server, strings.Replace(call, "tools/call", "x/ask", 1)}, {Client, `{"jsonrpc":"2.0","id":1,"result":{"x":1}}`},
		}, ""},
		{"an error with more than there is", []said{{Client, call}, {Server, `{"jsonrpc":"2.0","id":1,"error":{},"more":1}`}},
			`["more"]`},
		{"a batch with one bad message",
			[]said{{Client, `[` + call + `,{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"more":1,"name":"a"}}]`}},
			`["more"]`},
		{"no JSON", []said{{Client, `{`}}, "unexpected end"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := tinySchemas(t).NewWatch()
			var err error
			for i, s := range test.said {
				if err != nil {
					t.Fatalf("message %d: %v", i, err)
				}
				err = w.Message(s.from, []byte(s.text))
			}
			if (err != nil) != (test.want != "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q in it", err, test.want)
			}
		})
	}
}

func TestAMissingSchemaIsAnError(t *testing.T) {
	if _, err := Load(t.TempDir()); err == nil || !strings.Contains(err.Error(), "schema.json") {
		t.Errorf("got %v, want an error about schema.json", err)
	}
}

// faults collects the reported errors.
type faults struct {
	mu  sync.Mutex
	all []error
}

func (f *faults) report(_ Side, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all = append(f.all, err)
}

// The tap and the handler watch both ends of a conversation over HTTP, and see the same messages.
func TestBothEndsAreWatched(t *testing.T) {
	for _, v := range mcp.SupportedVersions() {
		t.Run(string(v), func(t *testing.T) {
			s := mcpserver.New(mcp.Implementation{Name: "s", Version: "1"}, &mcpserver.Options{Telemetry: telemetry.Off()})
			if err := s.HandleRequest("x/odd", func(context.Context, *mcpserver.Request) (any, error) {
				return map[string]int{"odd": 1}, nil
			}); err != nil {
				t.Fatal(err)
			}
			var server, client faults
			schemas := tinySchemas(t)
			schemas.of[v].requests["x/odd"] = "EmptyRequest" // its result is an EmptyResult
			schemas.of[v].definitions["EmptyRequest"] = map[string]any{}
			h := s.HTTPHandler(nil)
			web := httptest.NewServer(Handler(h, schemas, server.report))
			defer web.Close()
			defer h.Shutdown(t.Context())
			c, err := mcpclient.Connect(t.Context(), Tap(&transport.HTTP{URL: web.URL}, schemas, client.report),
				&mcpclient.Options{
					Versions: []mcp.Version{v}, Telemetry: telemetry.Off(),
				})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if err := c.Call(t.Context(), "x/odd", nil, nil); err != nil {
				t.Fatal(err)
			}
			for name, f := range map[string]*faults{"server": &server, "client": &client} {
				f.mu.Lock()
				odd := 0
				for _, err := range f.all {
					if strings.Contains(err.Error(), `["odd"]`) {
						odd++
					}
				}
				if odd != 1 {
					t.Errorf("the %s's end: got %v, want the odd result noticed once", name, f.all)
				}
				f.mu.Unlock()
			}
		})
	}
}

// The published schemas wrongly allow only integers in the answer to a form.
func TestFormNumbersMayBeFractions(t *testing.T) {
	var definitions map[string]any
	if err := json.Unmarshal([]byte(`{"ElicitResult": {"type": "object", "properties": {
		"content": {"additionalProperties": {"anyOf": [{"type": "array"}, {"type": ["string", "integer", "boolean"]}]}}}}}`), &definitions); err != nil {
		t.Fatal(err)
	}
	whole, err := json.Marshal(map[string]any{"$defs": definitions})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range mcp.SupportedVersions() {
		r, err := newRevision(v, whole)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.check("ElicitResult", json.RawMessage(`{"content":{"ratio":0.5}}`)); err != nil {
			t.Errorf("%s: want 0.5 accepted, got %v", v, err)
		}
		if err := r.check("ElicitResult", json.RawMessage(`{"content":{"ratio":null}}`)); err == nil {
			t.Errorf("%s: want null refused", v)
		}
	}
}
