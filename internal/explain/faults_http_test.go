package explain_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpproxy"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// web calls a tool over HTTP in a session of revision 2025-11-25; answer responds to the call.
func web(answer func(w http.ResponseWriter, id string)) func(*lab) {
	return func(l *lab) {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			serveOld(w, r, answer)
		}))
		defer s.Close()
		c := l.ready(&transport.HTTP{URL: s.URL + "/mcp"}, mcpclient.Options{})
		l.fails(c, "forecast", nil, mcpclient.WithTimeout(30*time.Second))
		_ = c.Close()
	}
}

func serveOld(w http.ResponseWriter, r *http.Request, answer func(w http.ResponseWriter, id string)) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	reply := func(format string) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, format, m.ID)
	}
	switch m.Method {
	case mcp.MethodDiscover:
		w.WriteHeader(http.StatusBadRequest)
	case mcp.MethodInitialize:
		w.Header().Set("Mcp-Session-Id", "one")
		reply(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},` +
			`"serverInfo":{"name":"old","version":"1"}}}`)
	case mcp.MethodCallTool:
		answer(w, string(m.ID))
	default:
		w.WriteHeader(http.StatusAccepted)
	}
}

// with makes a call that the server answers with an HTTP status.
func with(status int) func(*lab) {
	return web(func(w http.ResponseWriter, _ string) { w.WriteHeader(status) })
}

// typed makes a call that the server answers with a body of the given content type.
func typed(contentType string, body func(id string) string) func(*lab) {
	return web(func(w http.ResponseWriter, id string) {
		w.Header().Set("Content-Type", contentType)
		_, _ = io.WriteString(w, body(id))
	})
}

// Calls over HTTP.
var webCalls = []fault{
	{"an expired token", "unauthorized", "", true, with(401)},
	{"a token without permission for the tool", "forbidden", "", true, with(403)},
	{"too many requests", "turned_away", "HTTP 429", true, with(429)},
	{"the server fails", "http_server_failed", "", true, with(500)},
	{"the proxy cannot reach the server", "bad_gateway", "", true, with(502)},
	{"the proxy times out", "gateway_timeout", "", true, with(504)},
	{"the body is too large for the proxy", "request_too_large", "413", true, with(413)},
	{"the request arrives too slowly", "http_timeout", "", true, with(408)},
	{"a teapot", "http_refused", "418", true, with(418)},
	{"the session has expired", "session_expired", "", true, with(404)},
	{"the server goes away and does not return in time", "nothing_listens", "never sent", true, func(l *lab) {
		site := httptest.NewServer(l.server(mcpserver.Options{}).Server.HTTPHandler(nil))
		c := l.ready(&transport.HTTP{URL: site.URL},
			mcpclient.Options{Backoff: mcpclient.Backoff{Min: 100 * time.Millisecond}})
		site.CloseClientConnections()
		site.Close()
		for c.Status().State == connstate.Ready { // until the client notices that its connection is closed
			_, _ = c.CallTool(l.Context(), "forecast", oslo)
		}
		l.fails(c, "forecast", oslo, mcpclient.WithTimeout(time.Second), mcpclient.WaitForReady(), mcpclient.Retry(3))
	}},
	{"an HTML page instead of the answer", "message_no_answer", "", true,
		typed("text/html", func(string) string { return "<h1>Sign in</h1>" })},
	{"the answer to another request", "message_foreign_answer", "", true, typed("text/event-stream", func(string) string {
		return "data: {\"jsonrpc\":\"2.0\",\"id\":4711,\"result\":{\"content\":[]}}\n\n"
	})},
	{"a stream that is cut off", "answer_cut_off", "", true, typed("text/event-stream", func(string) string {
		return "data: {\"jsonrpc\":\"2.0\","
	})},
}

// Calls through a proxy with a policy.
var policies = []fault{
	{"a tool that the policy denies", "policy_denied", "", false,
		proxied(mcpproxy.Policy{DenyTools: []string{"forecast"}}, "forecast", oslo, 1)},
	{"more calls than the policy allows", "policy_limited", "", false,
		proxied(mcpproxy.Policy{Rate: mcpproxy.Rate{Calls: 1, Per: time.Hour}}, "forecast", oslo, 2)},
	{"a call that is too slow for the policy", "policy_timed_out", "", false,
		proxied(mcpproxy.Policy{Timeout: time.Second}, "stuck", nil, 1)},
}

// proxied makes several calls through a proxy; the last call fails.
func proxied(p mcpproxy.Policy, tool string, args any, calls int) func(*lab) {
	return func(l *lab) {
		server := l.server(mcpserver.Options{})
		proxy, err := mcpproxy.New(server, &mcpproxy.Options{Policy: &p, Telemetry: l.rec.Telemetry()})
		if err != nil {
			l.Fatal(err)
		}
		host := transport.InMemory(func(ctx context.Context, peer *transport.Peer) { _ = proxy.Serve(ctx, peer) })
		c := l.ready(host, mcpclient.Options{})
		for range calls - 1 {
			_ = l.call(c, tool, args)
		}
		l.fails(c, tool, args)
	}
}
