package instrument_test

import (
	"testing"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

// Adapters for other SDKs see messages without ids and sizes.
func TestOperationWorksWithoutIDAndSizes(t *testing.T) {
	r := telemetrytest.Recorder(t)
	c := instrument.NewClient(r.Telemetry(), "c", instrument.Network{})
	defer c.Close()
	s := instrument.NewServer(r.Telemetry(), "s", instrument.Network{})
	defer s.Close()
	ctx, op := c.StartRequest(t.Context(), instrument.Request{Method: "ping"})
	op.Meet(c.Peer(instrument.Facts{MCPVersion: "2025-11-25"}, ""))
	_, handled := s.StartHandler(ctx, instrument.Incoming{Method: "ping", Known: true})
	handled.Sent(0)
	handled.End(instrument.Result{})
	op.Sent(0)
	op.End(instrument.Result{})
	_, notice := c.StartRequest(t.Context(), instrument.Request{Method: "notifications/initialized", Notification: true})
	notice.Meet(nil)
	notice.Sent(0)
	notice.End(instrument.Result{})

	for _, event := range []string{"mcp_client.request.start", "mcp_client.request.stop", "mcp_server.request.start"} {
		if id, ok := r.Log(event).Attrs["jsonrpc.request.id"]; ok {
			t.Errorf("%s: want no request id, got %v", event, id)
		}
	}
	if got := r.Log("mcp_client.request.stop").Text("mcp_client.corr_id"); got == "" {
		t.Error("want a correlation id without a request id")
	}
	for _, name := range []string{"mcp_client.message.size", "mcp_server.message.size"} {
		if _, ok := r.Metric(name); ok {
			t.Errorf("want no sizes in %s", name)
		}
	}
	if n := r.Value("mcp_client.notification.messages", "mcp_client.direction", "sent"); n != 1 {
		t.Errorf("want a notification of unknown size counted, got %d", n)
	}
}

// In one process, the ambient span of a handler may be the sender's span.
func TestHandlerSpanDoesNotLinkToItsParent(t *testing.T) {
	r := telemetrytest.Recorder(t)
	c := instrument.NewClient(r.Telemetry(), "c", instrument.Network{})
	defer c.Close()
	s := instrument.NewServer(r.Telemetry(), "s", instrument.Network{})
	defer s.Close()
	ctx, op := c.StartRequest(t.Context(), instrument.Request{Method: "tools/list"})
	in := instrument.Incoming{Method: "tools/list", Known: true}
	in.TraceContext = op.TraceContext()
	_, handled := s.StartHandler(ctx, in)
	handled.End(instrument.Result{})
	op.End(instrument.Result{})
	if links := r.Spans()[0].Links(); len(links) != 0 {
		t.Errorf("want no links, got %v", links)
	}
}
