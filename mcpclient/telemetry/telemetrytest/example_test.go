package telemetrytest_test

import (
	"context"
	"testing"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// failureIsSeen is a test of your package: it checks the span and the measurement of a call. It fails at its end if
// the client has emitted anything outside the schema.
func failureIsSeen(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	s := mcpserver.New(mcp.Implementation{Name: "weather", Version: "1.0"}, &mcpserver.Options{Telemetry: rec.Telemetry()})
	server := transport.InMemory(func(ctx context.Context, peer *transport.Peer) { _ = s.Serve(ctx, peer) })
	client, err := mcpclient.Connect(t.Context(), server,
		&mcpclient.Options{Name: "forecasts", Telemetry: rec.Telemetry()})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := client.ListTools(t.Context(), nil); err == nil {
		t.Error("a server without tools has listed tools")
	}
	err = client.Call(t.Context(), "acme/reindex", nil, nil)
	if err == nil {
		t.Error("a server without the method has answered it")
	}
	if n := rec.Count("mcp.client.operation.duration", "error.type", "-32601"); n != 1 {
		t.Errorf("%d calls of unknown methods were measured, want one", n)
	}
	for _, r := range rec.Logs("mcp_client.request.exception") {
		if r.Text("mcp_client.name") != "forecasts" {
			t.Errorf("the log has a failure of %q", r.Text("mcp_client.name"))
		}
	}
}

func ExampleRecorder() {
	_ = testing.InternalTest{Name: "TestFailureIsSeen", F: failureIsSeen}
}
