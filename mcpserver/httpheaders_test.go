package mcpserver_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

func TestHeadersMustMatchBody(t *testing.T) {
	const version, method, name = "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"
	list := asked(1, "tools/list", bothMetas, "")
	call := asked(1, "tools/call", bothMetas, `"name":"query","arguments":{}`)
	query := func(arguments string) string {
		return asked(1, "tools/call", bothMetas, `"name":"query","arguments":`+arguments)
	}
	called := func(params ...string) []string { return append(modernHeaders("tools/call", "query"), params...) }
	tests := []struct {
		name    string
		body    string
		headers []string
		ok      bool
	}{
		{"all there", list, []string{version, "2026-07-28", method, "tools/list"}, true},
		{"names in any case", list, []string{"mcp-protocol-version", "2026-07-28", "MCP-METHOD", "tools/list"}, true},
		{"no version", list, []string{method, "tools/list"}, false},
		{"another version", strings.ReplaceAll(list, "2026-07-28", "2027-01-01"),
			[]string{version, "2026-07-28", method, "tools/list"}, false},
		{"version twice", list, []string{version, "2026-07-28", version, "2026-07-28", method, "tools/list"}, false},
		{"no method", list, []string{version, "2026-07-28"}, false},
		{"another method", list, []string{version, "2026-07-28", method, "prompts/list"}, false},
		{"method in another case", list, []string{version, "2026-07-28", method, "TOOLS/LIST"}, false},
		{"method twice", list, []string{version, "2026-07-28", method, "tools/list", method, "tools/list"}, false},

		{"name", call, called(), true},
		{"name with blanks around it", call, []string{version, "2026-07-28", method, "tools/call", name, "  query  "}, true},
		{"name in base64", call, []string{version, "2026-07-28", method, "tools/call", name, "=?base64?cXVlcnk=?="}, true},
		{"name in broken base64", call, []string{version, "2026-07-28", method, "tools/call", name, "=?base64?cXVlcnk?="},
			false},
		{"name escaped in the body", strings.Replace(call, `"query"`, `"\u0071uery"`, 1), called(), true},
		{"no name", call, []string{version, "2026-07-28", method, "tools/call"}, false},
		{"another name", call, []string{version, "2026-07-28", method, "tools/call", name, "greet"}, false},
		{"name in another case", call, []string{version, "2026-07-28", method, "tools/call", name, "QUERY"}, false},
		{"name that looks like base64", asked(1, "tools/call", bothMetas, `"name":"=?base64?cXVlcnk=?="`),
			[]string{version, "2026-07-28", method, "tools/call", name, "=?base64?cXVlcnk=?="}, false},
		{"name missing in the body", asked(1, "tools/call", bothMetas, ""), called(), false},

		{"argument", query(`{"region":"eu"}`), called("Mcp-Param-Region", "eu"), true},
		{"argument in base64", query(`{"region":"Hello"}`), called("Mcp-Param-Region", "=?base64?SGVsbG8=?="), true},
		{"argument in base64 without padding", query(`{"region":"Hello"}`), called("Mcp-Param-Region", "=?base64?SGVsbG8?="),
			false},
		{"argument, bad base64", query(`{"region":"Hello"}`), called("Mcp-Param-Region", "=?base64?SGVs!!!bG8=?="), false},
		{"argument with half a mark", query(`{"region":"=?base64?SGVsbG8="}`),
			called("Mcp-Param-Region", "=?base64?SGVsbG8="), true},
		{"all arguments", query(`{"dry":true,"limit":42,"region":"a"}`),
			called("Mcp-Param-Dry", "true", "Mcp-Param-Limit", "42", "Mcp-Param-Region", "a"), true},
		{"integer by its value", query(`{"limit":42}`), called("Mcp-Param-Limit", "42.0"), true},
		{"null needs no header", query(`{"region":null}`), called(), true},
		{"header without argument", query(`{}`), called("Mcp-Param-Region", "eu"), false},
		{"argument without header", query(`{"region":"eu"}`), called(), false},
		{"another argument", query(`{"region":"eu"}`), called("Mcp-Param-Region", "us"), false},
		{"argument twice", query(`{"region":"eu"}`), called("Mcp-Param-Region", "eu", "Mcp-Param-Region", "eu"), false},
		{"argument of another type", query(`{"region":7}`), called("Mcp-Param-Region", "7"), false},
		{"no arguments", asked(1, "tools/call", bothMetas, `"name":"query"`), called(), true},
		{"unknown parameter header", query(`{}`), called("Mcp-Param-Other", "x"), true},
	}
	w := serveWeb(t, newWebServer(t, mcpserver.Options{}), nil)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := *w
			w.t = t
			p := w.post(tt.body, tt.headers...)
			m := decoded(t, p.body)
			switch {
			case tt.ok && (p.status != 200 || m.Error != nil):
				t.Errorf("got %d with %s, want it served", p.status, p.body)
			case !tt.ok && (p.status != 400 || m.Error == nil || m.Error.Code != mcp.CodeHeaderMismatch || m.ID != 1.0):
				t.Errorf("got %d with %s, want 400 with %d and the id", p.status, p.body, mcp.CodeHeaderMismatch)
			}
		})
	}
}

func TestNameHeaderMatchesRequestTarget(t *testing.T) {
	s := newServer(t, mcpserver.Options{})
	for _, method := range []string{mcp.MethodReadResource, mcp.MethodGetTask} {
		nothing := func(context.Context, *mcpserver.Request) (any, error) { return nil, nil }
		if err := s.HandleRequest(method, nothing); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		method, params, name string
		status               int
		code                 int64
	}{
		{mcp.MethodReadResource, `"uri":"test://a b"`, "test://a b", 200, 0},
		{mcp.MethodReadResource, `"uri":"test://ä"`, "=?base64?dGVzdDovL8Ok?=", 200, 0},
		{mcp.MethodReadResource, `"uri":"test://a"`, "test://b", 400, mcp.CodeHeaderMismatch},
		{mcp.MethodReadResource, `"uri":"test://a"`, "", 400, mcp.CodeHeaderMismatch},
		{mcp.MethodReadResource, `"uri":7`, "7", 400, mcp.CodeHeaderMismatch},
		{mcp.MethodGetTask, `"taskId":"t1"`, "t1", 200, 0},
		{mcp.MethodGetTask, `"taskId":"t1"`, "t2", 400, mcp.CodeHeaderMismatch},
		{mcp.MethodCallTool, ``, "", 200, mcp.CodeInvalidParams},
	}
	w := serveWeb(t, s, nil)
	for _, tt := range tests {
		p := w.post(asked(1, tt.method, bothMetas, tt.params), modernHeaders(tt.method, tt.name)...)
		m := decoded(t, p.body)
		if p.status != tt.status || (m.Error != nil) != (tt.code != 0) || m.Error != nil && m.Error.Code != tt.code {
			t.Errorf("%s {%s} with %q got %d with %s, want %d with code %d", tt.method, tt.params, tt.name, p.status, p.body,
				tt.status, tt.code)
		}
	}
}

func TestToolWithInvalidHeaderAnnotationIsRejected(t *testing.T) {
	s := newServer(t, mcpserver.Options{})
	err := s.AddTool(&mcp.Tool{Name: "bad",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"number","x-mcp-header":"A"}}}`)}, echo)
	if err == nil || !strings.Contains(err.Error(), "x-mcp-header") {
		t.Errorf("AddTool returned %v, want what is wrong with the annotation", err)
	}
}
