package mcpserver_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpserver"
)

const (
	versionMeta      = `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`
	capabilitiesMeta = `"io.modelcontextprotocol/clientCapabilities":{}`
	bothMetas        = versionMeta + "," + capabilitiesMeta
)

// asked returns a modern request. In its params, the given params follow _meta.
func asked(id int, method, meta, params string) string {
	if params != "" {
		params = "," + params
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{"_meta":{%s}%s}}`, id, method, meta, params)
}

// modernHeaders returns the headers of a modern request.
func modernHeaders(method, name string) []string {
	return []string{"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", method, "Mcp-Name", name}
}

func askedCall(id int, tool, arguments string) (body string, headers []string) {
	return asked(id, "tools/call", bothMetas,
		fmt.Sprintf(`"name":%q,"arguments":%s`, tool, arguments)), modernHeaders("tools/call", tool)
}

// TestHTTPRefusalStatusAndErrorCodes sends single requests to one URL that serves both eras.
func TestHTTPRefusalStatusAndErrorCodes(t *testing.T) {
	const (
		greeting = `"name":"greet","arguments":{"name":"x"}`
		modern   = "MCP-Protocol-Version"
	)
	rec := telemetrytest.Recorder(t)
	w := serveWeb(t, newWebServer(t, mcpserver.Options{Limits: mcpserver.Limits{Frame: 4000}, Telemetry: rec.Telemetry()}),
		nil)
	session := w.open("2025-06-18")
	large := callOf(1, "greet", `{"name":"`+strings.Repeat("x", 4000)+`"}`)
	tests := []struct {
		name    string
		method  string
		body    string
		headers []string
		status  int
		code    int64 // code in the body; 0 for none
		id      any   // id in the body
	}{
		{"modern call", "POST", asked(1, "tools/call", bothMetas, greeting), modernHeaders("tools/call", "greet"), 200, 0,
			1.0},
		{"modern call after a byte order mark", "POST", "\ufeff" + asked(1, "tools/call", bothMetas, greeting),
			modernHeaders("tools/call", "greet"), 200, 0, 1.0},
		{"modern list", "POST", asked(2, "tools/list", bothMetas, ""), modernHeaders("tools/list", ""), 200, 0, 2.0},
		{"modern discover", "POST", asked(3, "server/discover", bothMetas, ""), modernHeaders("server/discover", ""), 200, 0,
			3.0},
		{"modern, a session id is ignored", "POST", asked(3, "tools/list", bothMetas, ""),
			append(modernHeaders("tools/list", ""), "Mcp-Session-Id", "nobody"), 200, 0, 3.0},
		{"modern, no Accept", "POST", asked(3, "tools/list", bothMetas, ""),
			append(modernHeaders("tools/list", ""), "Accept", ""), 200, 0, 3.0},
		{"modern, any Accept", "POST", asked(3, "tools/list", bothMetas, ""),
			append(modernHeaders("tools/list", ""), "Accept", "*/*"), 200, 0, 3.0},
		{"modern notification", "POST", `{"jsonrpc":"2.0","method":"notifications/x"}`, []string{modern, "2026-07-28"}, 202,
			0, nil},
		{"modern notification that is invalid", "POST", `{"jsonrpc":"2.0","method":"notifications/x","params":{"a":}}`,
			[]string{modern, "2026-07-28"}, 400, -32700, nil},
		{"modern response", "POST", `{"jsonrpc":"2.0","id":1,"result":{}}`, []string{modern, "2026-07-28"}, 400, -32600, nil},
		{"modern batch", "POST", `[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]`, []string{modern, "2026-07-28"}, 400,
			-32600, nil},

		{"no _meta", "POST", `{"jsonrpc":"2.0","id":4,"method":"tools/list"}`, modernHeaders("tools/list", ""), 400, -32602,
			4.0},
		{"no version in _meta", "POST", asked(5, "tools/list", capabilitiesMeta, ""), modernHeaders("tools/list", ""), 400,
			-32602, 5.0},
		{"no capabilities in _meta", "POST", asked(6, "tools/list", versionMeta, ""), modernHeaders("tools/list", ""), 400,
			-32602, 6.0},
		{"version unknown", "POST", strings.ReplaceAll(asked(7, "tools/list", bothMetas, ""), "2026-07-28", "v999"),
			[]string{modern, "v999", "Mcp-Method", "tools/list"}, 400, -32022, 7.0},
		{"unknown old version", "POST", strings.ReplaceAll(asked(7, "tools/list", bothMetas, ""), "2026-07-28",
			"1900-01-01"), []string{modern, "1900-01-01", "Mcp-Method", "tools/list"}, 400, -32022, 7.0},
		{"version of the legacy era in _meta", "POST",
			strings.ReplaceAll(asked(7, "tools/list", bothMetas, ""), "2026-07-28", "2025-11-25"), []string{modern, "2025-11-25",
				"Mcp-Method", "tools/list"}, 400, -32022, 7.0},
		{"method unknown", "POST", asked(8, "nothing", bothMetas, ""), modernHeaders("nothing", ""), 404, -32601, 8.0},
		{"method of the legacy era", "POST", asked(9, "ping", bothMetas, ""), modernHeaders("ping", ""), 404, -32601, 9.0},
		{"initialize in the modern era", "POST", asked(9, "initialize", bothMetas, ""), modernHeaders("initialize", ""), 404,
			-32601, 9.0},
		{"tool unknown", "POST", asked(9, "tools/call", bothMetas, `"name":"nobody"`), modernHeaders("tools/call", "nobody"),
			200, -32602, 9.0},
		{"capability missing", "POST", asked(9, "tools/call", bothMetas, `"name":"needy"`),
			modernHeaders("tools/call", "needy"), 400, -32021, 9.0},
		{"error of a handler", "POST", asked(9, "tools/call", bothMetas, `"name":"fail","arguments":{"how":"refuse"}`),
			modernHeaders("tools/call", "fail"), 200, -100, 9.0},
		{"panic of a handler", "POST", asked(9, "tools/call", bothMetas, `"name":"fail","arguments":{"how":"panic"}`),
			modernHeaders("tools/call", "fail"), 200, -32603, 9.0},

		{"no JSON", "POST", `{`, nil, 400, -32700, nil},
		{"nothing", "POST", ``, nil, 400, -32700, nil},
		{"no message", "POST", `{"jsonrpc":"2.0"}`, nil, 400, -32600, nil},
		{"null id", "POST", `{"jsonrpc":"2.0","id":null,"method":"tools/list"}`, nil, 400, -32600, nil},
		{"broken params", "POST", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"a":}}`, nil, 400, -32700, 1.0},
		{"too large", "POST", large, []string{"Mcp-Session-Id", session}, 413, -32600, nil},
		{"no type", "POST", pingRequest, []string{"Content-Type", ""}, 415, -32600, nil},
		{"other type", "POST", pingRequest, []string{"Content-Type", "text/plain"}, 415, -32600, nil},
		{"other charset", "POST", pingRequest, []string{"Content-Type", "application/json; charset=latin1"}, 415, -32600,
			nil},
		{"accepts nothing", "POST", pingRequest, []string{"Accept", "text/html"}, 406, -32600, nil},
		{"refuses JSON by q=0", "POST", pingRequest,
			[]string{"Accept", "application/json;q=0, text/event-stream; q=0.0"}, 406, -32600, nil},
		{"other origin", "POST", pingRequest, []string{"Origin", "https://evil.example"}, 403, -32600, nil},
		{"put", "PUT", pingRequest, nil, 405, -32600, nil},
		{"head", "HEAD", "", nil, 405, 0, nil},

		{"legacy call", "POST", callOf(1, "greet", `{"name":"x"}`), []string{"Mcp-Session-Id", session}, 200, 0, 1.0},
		{"legacy call with its version", "POST", callOf(1, "greet", `{"name":"x"}`),
			[]string{"Mcp-Session-Id", session, modern, "2025-06-18"}, 200, 0, 1.0},
		{"legacy charset", "POST", callOf(1, "greet", `{"name":"x"}`),
			[]string{"Mcp-Session-Id", session, "Content-Type", `application/JSON; charset="UTF-8"`}, 200, 0, 1.0},
		{"legacy ping", "POST", pingRequest, []string{"Mcp-Session-Id", session}, 200, 0, "ping"},
		{"legacy method unknown", "POST", `{"jsonrpc":"2.0","id":1,"method":"nothing"}`, []string{"Mcp-Session-Id", session},
			200, -32601, 1.0},
		{"legacy initialize again", "POST", initialize, []string{"Mcp-Session-Id", session}, 200, -32600, 0.0},
		{"legacy response", "POST", `{"jsonrpc":"2.0","id":1,"result":{}}`, []string{"Mcp-Session-Id", session}, 202, 0, nil},
		{"legacy response that is invalid", "POST", `{"jsonrpc":"2.0","id":1,"result":{"a":}}`,
			[]string{"Mcp-Session-Id", session}, 400, -32700, 1.0},
		{"legacy without session", "POST", callOf(1, "greet", `{"name":"x"}`), nil, 400, -32600, nil},
		{"legacy notification without session", "POST", initialized, nil, 400, -32600, nil},
		{"legacy unknown session", "POST", callOf(1, "greet", `{"name":"x"}`), []string{"Mcp-Session-Id", "nobody"}, 404,
			-32001, nil},
		{"legacy unknown version", "POST", callOf(1, "greet", `{"name":"x"}`),
			[]string{"Mcp-Session-Id", session, modern, "2025-01-01"}, 400, -32022, 1.0},
		{"legacy batch, not supported", "POST", `[` + pingRequest + `]`, []string{"Mcp-Session-Id", session}, 400,
			-32600, nil},
		{"legacy initialize without a version", "POST", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`, nil,
			200, -32602, 1.0},

		{"GET without session", "GET", "", []string{modern, "2025-11-25"}, 400, -32600, nil},
		{"GET of an unknown session", "GET", "", []string{"Mcp-Session-Id", "nobody"}, 404, -32001, nil},
		{"GET in the modern era", "GET", "", []string{modern, "2026-07-28"}, 405, -32600, nil},
		{"GET without Accept of streams", "GET", "", []string{"Mcp-Session-Id", session, "Accept", "application/json"}, 406,
			-32600, nil},
		{"GET with an unknown version", "GET", "", []string{"Mcp-Session-Id", session, modern, "2025-01-01"}, 400, -32022,
			nil},
		{"GET, invalid event id", "GET", "", []string{"Mcp-Session-Id", session, "Last-Event-ID", "x"}, 400, -32600, nil},
		{"GET after an unknown event", "GET", "", []string{"Mcp-Session-Id", session, "Last-Event-ID", "0-7"}, 400,
			-32600, nil},
		{"GET of an unknown stream", "GET", "", []string{"Mcp-Session-Id", session, "Last-Event-ID", "999-0"}, 400,
			-32600, nil},
		{"DELETE without session", "DELETE", "", nil, 400, -32600, nil},
		{"DELETE of an unknown session", "DELETE", "", []string{"Mcp-Session-Id", "nobody"}, 404, -32001, nil},
		{"POST to an unknown HTTP+SSE session", "POST", pingRequest, []string{"http://localhost/mcp?sessionId=nobody"}, 404,
			-32001, nil},
		{"HTTP+SSE POST to another session", "POST", pingRequest, []string{"http://localhost/mcp?sessionId=" + session},
			404, -32001, nil},
	}
	answers, byStatus := 0, map[int]int{}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := *w
			w.t = t
			p := w.do(tt.method, tt.body, tt.headers...)
			if p.status != http.StatusAccepted {
				answers++
			}
			if p.status >= 400 && p.status < 500 && p.status != 400 && p.status != 404 { // handlers return 400 and 404, too
				byStatus[p.status]++
			}
			if p.status != tt.status {
				t.Errorf("status %d, want %d: %s", p.status, tt.status, p.body)
			}
			if p.status == http.StatusAccepted && p.body != "" {
				t.Errorf("202 with %s, want no body", p.body)
			}
			if p.body == "" {
				if tt.code != 0 {
					t.Errorf("no body, want an error %d", tt.code)
				}
				return
			}
			if got := p.header.Get("Content-Type"); got != "application/json" {
				t.Errorf("type %q, want JSON", got)
			}
			m := decoded(t, p.body)
			if m.ID != tt.id {
				t.Errorf("id %v, want %v", m.ID, tt.id)
			}
			switch {
			case m.Error == nil && tt.code != 0:
				t.Errorf("got %s, want an error %d", p.body, tt.code)
			case m.Error != nil && m.Error.Code != tt.code:
				t.Errorf("code %d, want %d: %s", m.Error.Code, tt.code, m.Error.Message)
			}
			if p.status == http.StatusMethodNotAllowed && p.header.Get("Allow") != "POST, GET, DELETE" {
				t.Errorf("405 with Allow %q, want the allowed methods", p.header.Get("Allow"))
			}
		})
	}
	w.end()
	const opening = 2 // initialize and notifications/initialized
	if refused := rec.Value("mcp_server.request.refused"); int(refused)+servedBy(rec) != answers+opening {
		t.Errorf("%d refusals were counted and %d messages have spans, want one of either for each of %d", refused,
			servedBy(rec), answers+opening)
	}
	for status, n := range byStatus {
		if got := rec.Value("mcp_server.request.refused", "http.response.status_code", fmt.Sprint(status)); int(got) != n {
			t.Errorf("%d refusals with %d were counted, want %d", got, status, n)
		}
	}
}

// servedBy returns the number of spans of handled requests.
func servedBy(rec *telemetrytest.Recording) (n int) {
	for _, s := range rec.Spans() {
		if s.SpanKind() == trace.SpanKindServer {
			n++
		}
	}
	return n
}

func TestServerOfOneEraReportsItsEra(t *testing.T) {
	call, headers := askedCall(1, "greet", `{"name":"x"}`)
	tests := []struct {
		name     string
		versions []mcp.Version
		method   string
		body     string
		headers  []string
		status   int
		code     int64
	}{
		{"modern only: initialize", []mcp.Version{"2026-07-28"}, "POST", initialize, nil, 400, -32022},
		{"modern only: no version header", []mcp.Version{"2026-07-28"}, "POST", callOf(1, "greet", "{}"), nil, 400, -32020},
		{"modern only: notification", []mcp.Version{"2026-07-28"}, "POST", initialized, nil, 400, -32020},
		{"modern only: legacy version header", []mcp.Version{"2026-07-28"}, "POST", initialized,
			[]string{"MCP-Protocol-Version", "2025-11-25"}, 400, -32022},
		{"modern only: GET", []mcp.Version{"2026-07-28"}, "GET", "", nil, 405, -32600},
		{"modern only: DELETE", []mcp.Version{"2026-07-28"}, "DELETE", "", []string{"Mcp-Session-Id", "x"}, 405, -32600},
		{"legacy only: call", []mcp.Version{"2025-11-25"}, "POST", call, headers, 400, -32600},
		{"legacy only: _meta without header", []mcp.Version{"2025-11-25"}, "POST", call, nil, 400, -32600},
		{"legacy only: HTTP+SSE of an older revision", []mcp.Version{"2025-11-25"}, "GET", "", nil, 400, -32600},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := serveWeb(t, newWebServer(t, mcpserver.Options{Versions: tt.versions}), nil)
			p := w.do(tt.method, tt.body, tt.headers...)
			m := decoded(t, p.body)
			if m.Error == nil || p.status != tt.status || m.Error.Code != tt.code {
				t.Errorf("got %d with %s, want %d with %d", p.status, p.body, tt.status, tt.code)
			}
			if p.status == http.StatusMethodNotAllowed && p.header.Get("Allow") != "POST" {
				t.Errorf("405 with Allow %q, want POST", p.header.Get("Allow"))
			}
		})
	}
}

func TestStatelessServerAnswersEachPOSTIndependently(t *testing.T) {
	w := serveWeb(t, newWebServer(t, mcpserver.Options{}), &mcpserver.HTTPOptions{Stateless: true})
	p := w.post(initialize)
	if p.status != 200 || p.header.Get("Mcp-Session-Id") != "" || decoded(t, p.body).Error != nil {
		t.Errorf("initialize got %d with %v: %s, want it answered without a session", p.status, p.header, p.body)
	}
	if p := w.post(initialized); p.status != 202 {
		t.Errorf("the notification got %d, want 202", p.status)
	}
	split := callOf(1, "split", `{"text":"a b"}`)
	for version, want := range map[string]bool{"2025-11-25": false, "2025-06-18": false, "": false} {
		p := w.post(split, "MCP-Protocol-Version", version)
		if p.status != 200 || strings.Contains(p.body, "structuredContent") != want {
			t.Errorf("revision %q got %d with %s, want an answer in the form of the revision", version, p.status, p.body)
		}
	}
	add := callOf(1, "add", `{"a":1}`)
	for version, want := range map[string]bool{"2025-11-25": true, "2025-06-18": true, "": false} {
		p := w.post(add, "MCP-Protocol-Version", version)
		if p.status != 200 || strings.Contains(p.body, "structuredContent") != want {
			t.Errorf("revision %q got %d with %s, want an answer in the form of the revision", version, p.status, p.body)
		}
	}
	p = w.post(`[` + add + `,` + pingRequest + `]`)
	if p.status != 200 || !strings.HasPrefix(p.body, "[{") || strings.Count(p.body, `"result"`) != 2 {
		t.Errorf("a batch got %d with %s, want both answers in one", p.status, p.body)
	}
	if p := w.post(`[` + initialized + `]`); p.status != 202 || p.body != "" {
		t.Errorf("a batch of notifications got %d with %q, want 202 and nothing", p.status, p.body)
	}
	if p := w.post(`{"jsonrpc":"2.0","id":1,"result":{}}`); p.status != 202 {
		t.Errorf("a response got %d, want 202", p.status)
	}
	if p := w.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`); p.status != 202 {
		t.Errorf("a cancellation got %d, want 202", p.status)
	}
	for _, method := range []string{"GET", "DELETE"} {
		if p := w.do(method, "", "Mcp-Session-Id", "x"); p.status != 405 || p.header.Get("Allow") != "POST" {
			t.Errorf("%s got %d with Allow %q, want 405 and POST", method, p.status, p.header.Get("Allow"))
		}
	}
}

func TestStatelessServerAssumesSupportedRevision(t *testing.T) {
	o := mcpserver.Options{Versions: []mcp.Version{"2025-11-25", "2025-06-18"}}
	w := serveWeb(t, newWebServer(t, o), &mcpserver.HTTPOptions{Stateless: true})
	if p := w.post(callOf(1, "add", `{"a":1}`)); p.status != 200 || !strings.Contains(p.body, "structuredContent") {
		t.Errorf("got %d with %s, want an answer by the oldest revision that the server speaks", p.status, p.body)
	}
}

func TestMiddlewareDeadlineIsReportedToClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newWebServer(t, mcpserver.Options{}).HTTPHandler(nil)
		w := serveHandler(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ctx, cancel := context.WithTimeout(r.Context(), time.Second)
			defer cancel()
			h.ServeHTTP(w, r.WithContext(ctx))
		}), h)
		body, headers := askedCall(1, "sleep", `{"seconds":60}`)
		if p := w.post(body, headers...); p.status != 200 || !strings.Contains(p.body, "deadline") {
			t.Errorf("got %d with %s, want an error for the client", p.status, p.body)
		}
		w.end()
	})
}

func TestContradictoryOptionsPanic(t *testing.T) {
	defer func() {
		if v := recover(); v != "mcpserver: HTTPHandler: options: Limits.Sessions is negative" {
			t.Errorf("the panic is %v, want the reason", v)
		}
	}()
	newServer(t, mcpserver.Options{}).HTTPHandler(&mcpserver.HTTPOptions{Limits: mcpserver.HTTPLimits{Sessions: -1}})
}
