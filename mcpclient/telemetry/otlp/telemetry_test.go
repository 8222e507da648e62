package otlp

import (
	"testing"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/otlpsink"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

func TestClientTelemetryArrivesInAllSignals(t *testing.T) {
	cleanEnv(t)
	sink := listen(t)
	p := setup(t, WithEndpoint(sink.Endpoint()))
	client := instrument.NewClient(p.Telemetry(telemetry.WithSlowThreshold(1)), "weather",
		instrument.Network{Transport: "pipe"})
	_, op := client.StartRequest(t.Context(), instrument.Request{Method: "ping"})
	traceparent := op.TraceContext().Traceparent
	op.End(instrument.Result{})
	client.Close()
	shutdown(t, p)

	got := sink.Snapshot()
	if traceparent == "" || len(got.SpansNamed("ping")) != 1 || len(got.PointsOf("mcp.client.operation.duration")) != 1 {
		t.Fatalf("traceparent %q, spans %v, points %v; want a traceparent, a span ping and its duration", traceparent,
			got.Spans, got.Points)
	}
	records := got.RecordsOf("mcp_client.request.stop")
	if len(records) != 1 || records[0].TraceID != got.SpansNamed("ping")[0].TraceID {
		t.Errorf("log records of the end = %v, want one of the span's trace", records)
	}
	for signal, o := range map[string]otlpsink.Origin{"span": got.Spans[0].Origin, "record": records[0].Origin} {
		if o.Scope != telemetry.ScopeName {
			t.Errorf("scope of the %s = %q, want %q", signal, o.Scope, telemetry.ScopeName)
		}
	}
}
