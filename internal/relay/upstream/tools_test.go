package upstream

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// overHTTP runs f with a server of 2026-07-28 over HTTP. call calls a tool, with own as the headers of the peer in
// front, and returns the headers that the server gets.
func overHTTP(t *testing.T, f func(list func(tools string), call func(params string, own map[string]string,
) map[string]string, b *front)) {
	meta := `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`
	intro := relay.Introduction{Message: relay.Message{Method: mcp.MethodDiscover, Params: json.RawMessage(meta)}}
	var header map[string]string
	rig := &rigged{
		network: transport.Network{Transport: "tcp", Protocol: "http", Address: "localhost", Port: 80},
		send: func(m transport.Message) (error, bool) {
			if m.Method == mcp.MethodCallTool {
				header = m.Header
			}
			return nil, false
		},
	}
	relaying(t, nil, intro, rig, func(t *testing.T, s *script, b *front) {
		v := s.next(t)
		v.Answer(v.Expect(mcp.MethodDiscover), `{"supportedVersions":["2026-07-28"]}`)
		b.heard()
		f(func(tools string) {
			b.server.Request(t.Context(), relay.Message{
				Method: mcp.MethodListTools, Params: json.RawMessage(`{}`), Header: map[string]string{},
			}, func(result json.RawMessage, err error) { b.note("%s", b.told("tools/list", result, err)) })
			v.Answer(v.Expect(mcp.MethodListTools), listOf(tools))
			b.wants("tools/list result " + listOf(tools))
		}, func(params string, own map[string]string) map[string]string {
			b.server.Request(t.Context(), relay.Message{
				Method: mcp.MethodCallTool, Params: json.RawMessage(params), Header: own,
			}, func(json.RawMessage, error) {})
			v.Answer(v.Expect(mcp.MethodCallTool), `{}`)
			return header
		}, b)
	})
}

const (
	regionTool = `{"name":"query","inputSchema":{"type":"object","properties":{"region":{"type":"string",` +
		`"x-mcp-header":"Region"},"rows":{"type":"integer"}}}}`
	rowsTool = `{"name":"query","inputSchema":{"type":"object","properties":{"region":{"type":"string",` +
		`"x-mcp-header":"Region"},"rows":{"type":"integer","x-mcp-header":"Rows"}}}}`
	brokenTool = `{"name":"broken","inputSchema":{"type":"object","properties":{"o":{"type":"object",` +
		`"x-mcp-header":"O"}}}}`
	plainTool = `{"name":"plain","inputSchema":{"type":"object"}}`
)

func listOf(tools string) string {
	return `{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[` + tools + `]}`
}

func TestRelayRepeatsMarkedArgumentsInHeaders(t *testing.T) {
	overHTTP(t, func(list func(string), call func(string, map[string]string) map[string]string, b *front) {
		const query = `{"name":"query","arguments":{"region":"us","rows":3}}`
		for _, test := range []struct {
			lists, params string
			own, want     map[string]string
		}{
			{"", query, nil, nil},
			{regionTool + "," + brokenTool + "," + plainTool, query, nil, map[string]string{"Mcp-Param-Region": "us"}},
			{"", query, map[string]string{}, nil},
			{"", query, map[string]string{"Mcp-Param-X": "y"}, map[string]string{"Mcp-Param-X": "y"}},
			{"", `{"name":"query","arguments":{"region":7}}`, nil, nil}, // rejected by the server
			{"", `{"name":"plain","arguments":{"region":"us"}}`, nil, nil},
			{plainTool, query, nil, map[string]string{"Mcp-Param-Region": "us"}}, // one page of several
			{rowsTool, query, nil, map[string]string{"Mcp-Param-Region": "us", "Mcp-Param-Rows": "3"}},
			{`{"name":"query","inputSchema":{"type":"object"}}`, query, nil, nil},
		} {
			if test.lists != "" {
				list(test.lists)
			}
			if got := call(test.params, test.own); !maps.Equal(got, test.want) {
				t.Errorf("after the list %s, %s with %v: got the headers %v, want %v", test.lists, test.params, test.own, got,
					test.want)
			}
		}
	})
}

func TestMemoryForToolsIsBounded(t *testing.T) {
	pad := strings.Repeat("x", 1<<20-1000)
	overHTTP(t, func(list func(string), call func(string, map[string]string) map[string]string, b *front) {
		for i := range 12 {
			list(fmt.Sprintf(`{"name":"%d","inputSchema":{"type":"object","properties":{%q:{"type":"string",`+
				`"x-mcp-header":"A"}}}}`, i, pad))
		}
		if size := b.server.tools.size; size > toolRoom {
			t.Errorf("%d bytes are remembered, want %d at most", size, toolRoom)
		}
		params := func(i int) string { return fmt.Sprintf(`{"name":"%d","arguments":{%q:"a"}}`, i, pad) }
		if got := call(params(0), nil); got["Mcp-Param-A"] != "a" {
			t.Errorf("got the headers %v, want the header of the argument", got)
		}
		if got := call(params(11), nil); got != nil {
			t.Errorf("got the headers %v, want none", got)
		}
	})
}
