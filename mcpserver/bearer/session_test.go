package bearer_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcpserver/bearer"
)

// Without additional options, a session behind Require belongs to the principal that opened it.
func TestSessionBehindRequireBelongsToItsPrincipal(t *testing.T) {
	const resource = "https://mcp.example.com/mcp"
	s := mcpserver.New(mcp.Implementation{Name: "s", Version: "1"}, &mcpserver.Options{Telemetry: telemetry.Off()})
	h := s.HTTPHandler(nil)
	web := httptest.NewServer(bearer.Require(bearer.Static(map[string]*bearer.Principal{
		"of-alice": {Subject: "alice", Audience: []string{resource}},
		"of-bob":   {Subject: "bob", Audience: []string{resource}},
	}), &bearer.Options{Resource: resource})(h))
	t.Cleanup(web.Close)
	t.Cleanup(func() { _ = h.Shutdown(t.Context()) })
	post := func(token, session, body string) *http.Response {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, web.URL, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
		}
		resp, err := web.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp
	}
	const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",` +
		`"capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`
	session := post("of-alice", "", initialize).Header.Get("Mcp-Session-Id")
	if session == "" {
		t.Fatal("want a session, got none")
	}
	for token, want := range map[string]int{"of-alice": http.StatusOK, "of-bob": http.StatusNotFound} {
		if got := post(token, session, `{"jsonrpc":"2.0","id":2,"method":"ping"}`).StatusCode; got != want {
			t.Errorf("%s: want status %d, got %d", token, want, got)
		}
	}
}
