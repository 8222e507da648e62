package mcpclient_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// If a server refuses the GET stream and notifications, log records report that, and no call fails.
func TestRefusedNotificationsAreLogged(t *testing.T) {
	real := newSite(t, nil)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		switch {
		case err != nil || r.Method == http.MethodGet:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case bytes.Contains(body, []byte("custom/note")):
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			real.handler.Load().ServeHTTP(w, r)
		}
	}))
	defer s.Close()
	rec := telemetrytest.Recorder(t)
	c, err := mcpclient.Connect(t.Context(), &transport.HTTP{URL: s.URL}, checked(t, &mcpclient.Options{
		Versions: []mcp.Version{mcp.Version20251125}, Telemetry: rec.Telemetry(),
	}))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Notify(t.Context(), "custom/note", nil); err != nil {
		t.Errorf("notify: %v", err)
	}
	if _, err := c.CallTool(t.Context(), "greet", map[string]string{"name": "Ada"}); err != nil {
		t.Errorf("call: %v", err)
	}
	if err := c.Close(); err != nil { // after Close, all messages have been handled
		t.Errorf("stop: %v", err)
	}
	if got := rec.Log("mcp_client.stream.refused"); got.Text("mcp_client.stream.kind") != "get" {
		t.Errorf("want the session's stream refused, got %v", got.Attrs)
	}
	got := rec.Log("mcp_client.message.refused")
	if got.Text("mcp_client.message.kind") != "notification" || got.Text("mcp.method.name") != "custom/note" {
		t.Errorf("want the notification refused, got %v", got.Attrs)
	}
}
