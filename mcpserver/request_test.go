package mcpserver_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// origins returns the transport of a request.
func origins(ctx context.Context, _ *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
	r := mcpserver.RequestFrom(ctx)
	seen := map[string]any{"principal": r.Principal(), "session": r.SessionID(), "in a session": r.Session() != nil}
	if h := r.HTTP(); h != nil {
		seen["http"] = h.Method + " " + h.URL.Path + " " + h.Proto + " " + h.Host + " " + h.Header.Get("X-Mine")
		seen["remote"], seen["tls"] = h.RemoteAddr, h.TLS != nil
	}
	raw, err := json.Marshal(seen)
	return &mcp.CallToolResult{Content: mcp.ContentList{mcp.Text(string(raw))}}, err
}

func TestHandlerSeesTransportOfRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := withTool(t, mcpserver.Options{}, "tool", origins)
		principal := func(r *http.Request) string { return r.Header.Get("X-Who") }
		w := serveWeb(t, s, &mcpserver.HTTPOptions{Principal: principal})
		stateless := serveWeb(t, s, &mcpserver.HTTPOptions{Principal: principal, Stateless: true})
		first := w.post(initialize, "X-Who", "alice")
		session := first.header.Get("Mcp-Session-Id")
		body, headers := askedCall(1, "tool", "{}")
		const seen = `\\"http\\":\\"POST /mcp HTTP/1.1 localhost mine\\",\\"in a session\\":`
		for name, tt := range map[string]struct {
			p    page
			want []string
		}{
			"session": {w.post(callOf(1, "tool", "{}"), "Mcp-Session-Id", session, "X-Who", "alice", "X-Mine", "mine"),
				[]string{seen + "true", `principal\\":\\"alice`, `session\\":\\"` + session, `remote\\":\\"`, `tls\\":false`}},
			"modern": {w.post(body, append(headers, "X-Who", "bob", "X-Mine", "mine")...),
				[]string{seen + "false", `principal\\":\\"bob`, `session\\":\\"\\"`}},
			"stateless": {stateless.post(callOf(1, "tool", "{}"), "Mcp-Protocol-Version", "2025-11-25", "X-Who", "eve", "X-Mine",
				"mine"), []string{seen + "false", `principal\\":\\"eve`, `session\\":\\"\\"`}},
		} {
			for _, want := range tt.want {
				if want = strings.ReplaceAll(want, `\\`, `\`); !strings.Contains(tt.p.body, want) {
					t.Errorf("%s: the handler saw %s, want %s", name, tt.p.body, want)
				}
			}
		}
	})
}

func TestHTTPRequestIsNilOnOtherTransports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := opened(t, t.Context(), withTool(t, mcpserver.Options{}, "tool", origins))
		w.send(callOf(1, "tool", "{}"))
		if m := w.reply(t); !strings.Contains(string(m.Result),
			`{\"in a session\":true,\"principal\":\"\",\"session\":\"\"}`) {
			t.Errorf("the handler saw %s, want a session and nothing else", m.Result)
		}
		if err := w.finish(); err != nil {
			t.Error(err)
		}
	})
	r := mcpserver.RequestFrom(t.Context())
	if r.Principal() != "" || r.SessionID() != "" || r.Session() != nil || r.HTTP() != nil {
		t.Error("a nil request returned something, want zero values")
	}
}
