package instrument_test

import (
	"log/slog"
	"testing"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

func TestRoundsAreNumberedLinkedAndLogged(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	c := instrument.NewClient(rec.Telemetry(), "files", pipe, first)
	defer c.Close()
	request := instrument.Request{Method: "tools/call", TargetKind: instrument.Tool, Target: "add"}
	results := []instrument.Result{{ResultType: "input_required"}, {ResultType: "input_required"},
		{ResultType: "complete"}}
	for round, result := range results {
		request.Round = round
		_, op := c.StartRequest(t.Context(), request)
		op.Admit(nil, int64(round)+1)
		op.End(result)
		request.Corr, request.Link = op.Corr(), op.Ref()
	}

	spans, corr := rec.Spans(), texts(rec.Spans()[0].Attributes())["mcp_client.corr_id"]
	for round, want := range []string{"", "1", "2"} {
		attrs := texts(spans[round].Attributes())
		if attrs["mcp_client.mrtr.round"] != want || attrs["mcp_client.corr_id"] != corr {
			t.Errorf("span of request %d: got %v, want round %q and correlation id %s", round+1, attrs, want, corr)
		}
		if links := spans[round].Links(); round > 0 &&
			(len(links) != 1 || !links[0].SpanContext.Equal(spans[round-1].SpanContext())) {
			t.Errorf("span of request %d: got links %v, want one to the round before", round+1, links)
		}
	}
	records := rec.Logs("mcp_client.request.input_required")
	if len(records) != 2 {
		t.Fatalf("records of input required: got %d, want 2", len(records))
	}
	same(t, "the record of the second", fieldsOf(records[1]), map[string]string{
		"event.name": "mcp_client.request.input_required", "mcp_client.name": "files", "mcp_client.instance.id": "1",
		"mcp.method.name":  "tools/call",
		"gen_ai.tool.name": "add", "jsonrpc.request.id": "2", "mcp_client.corr_id": corr, "mcp_client.mrtr.round": "1",
	})
	if records[1].Level != slog.LevelDebug {
		t.Errorf("level of input required: got %v, want debug", records[1].Level)
	}
}

func TestReissuedRequestIsLoggedOnce(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	c := instrument.NewClient(rec.Telemetry(), "files", pipe, first)
	defer c.Close()
	_, first := c.StartRequest(t.Context(), instrument.Request{Method: "tools/list"})
	first.End(instrument.Result{Err: lost{}})
	_, second := c.StartRequest(t.Context(), instrument.Request{
		Method: "tools/list", Corr: first.Corr(), Link: first.Ref(), Reissue: true,
	})
	second.Admit(nil, 2)
	second.Admit(nil, 2)
	second.End(instrument.Result{})

	record := rec.Log("mcp_client.request.reissued")
	same(t, "the record", fieldsOf(record), map[string]string{
		"event.name": "mcp_client.request.reissued", "mcp_client.name": "files", "mcp_client.instance.id": "1",
		"mcp.method.name":    "tools/list",
		"jsonrpc.request.id": "2", "mcp_client.corr_id": record.Text("mcp_client.corr_id"),
	})
	if record.Level != slog.LevelInfo {
		t.Errorf("level: got %v, want info", record.Level)
	}
	if links := rec.Spans()[1].Links(); len(links) != 1 || !links[0].SpanContext.Equal(rec.Spans()[0].SpanContext()) {
		t.Errorf("links of the span: got %v, want one to the lost request", links)
	}
}

func TestLostSubscriptionLogsWarning(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	c := instrument.NewClient(rec.Telemetry(), "files", network, first)
	defer c.Close()
	c.SubscriptionLost("file:///etc/motd", errBroken)
	record := rec.Log("mcp_client.subscription.lost")
	same(t, "the record", fieldsOf(record), map[string]string{
		"event.name": "mcp_client.subscription.lost", "mcp_client.name": "files", "mcp_client.instance.id": "1",
		"mcp.resource.uri": "file:///etc/motd", "exception.message": "broken pipe",
	})
	if record.Level != slog.LevelWarn {
		t.Errorf("level: got %v, want warn", record.Level)
	}
}

func TestRejectedToolLogsWarning(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	c := instrument.NewClient(rec.Telemetry(), "files", network, first)
	defer c.Close()
	c.ToolRejected("search", errBroken)
	record := rec.Log("mcp_client.tool.rejected")
	same(t, "the record", fieldsOf(record), map[string]string{
		"event.name": "mcp_client.tool.rejected", "mcp_client.name": "files", "mcp_client.instance.id": "1",
		"gen_ai.tool.name": "search", "exception.message": "broken pipe",
	})
	if record.Level != slog.LevelWarn {
		t.Errorf("level: got %v, want warn", record.Level)
	}
}
