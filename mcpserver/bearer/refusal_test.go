package bearer_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcpserver/bearer"
)

func TestServerTelemetryRecordsRefusals(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	s := mcpserver.New(mcp.Implementation{Name: "test", Version: "1"}, &mcpserver.Options{Telemetry: rec.Telemetry()})
	h := s.HTTPHandler(nil)
	guarded := bearer.Require(tokens(), &bearer.Options{Resource: resource})(h)
	guarded.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "/mcp", strings.NewReader("{}")))
	if err := h.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := rec.Value("mcp_server.request.refused", "mcp_server.refusal.reason", "unauthorized",
		"http.response.status_code", "401"); n != 1 {
		t.Errorf("%d refusals were counted, want 1", n)
	}
	if got := rec.Log("mcp_server.request.refused").Text("exception.message"); got != "the request has no token" {
		t.Errorf("the record has the error %q, want why the request was refused", got)
	}
}
