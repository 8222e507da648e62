package instrument_test

import (
	"log/slog"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

func TestEachAttemptStartsLinkedTrace(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	c := instrument.NewClient(rec.Telemetry(), "files", pipe)
	defer c.Close()
	ctx, caller := rec.TracerProvider().Tracer("test").Start(t.Context(), "startup")

	in, first := c.StartAttempt(t.Context(), instrument.AttemptStart{Number: 1, Parent: instrument.RefFrom(ctx)})
	_, op := c.StartRequest(in, instrument.Request{Method: "server/discover"})
	op.End(instrument.Result{})
	first.End(lost{})
	first.End(nil)
	_, second := c.StartAttempt(ctx, instrument.AttemptStart{Number: 2, Reconnect: true, Previous: first.Ref()})
	second.Ready(nil, "weather", strings.Repeat("é", 80))
	second.Ready(nil, "another", "2")
	caller.End()

	spans := rec.Spans()
	discover, one, two := spans[0], spans[1], spans[2]
	if !one.Parent().Equal(caller.SpanContext()) || one.Status().Code != codes.Error {
		t.Errorf("the first attempt: got %v, %v, want the caller's span and an error", one.Parent(), one.Status())
	}
	if !discover.Parent().Equal(one.SpanContext()) {
		t.Errorf("parent of the negotiation: got %v, want %v", discover.Parent(), one.SpanContext())
	}
	if two.Parent().IsValid() || two.SpanContext().TraceID() == one.SpanContext().TraceID() {
		t.Errorf("parent of a later attempt: got %v, want none", two.Parent())
	}
	if links := two.Links(); len(links) != 1 || !links[0].SpanContext.Equal(one.SpanContext()) {
		t.Errorf("links of a later attempt: got %v, want the previous attempt", links)
	}
	for _, want := range [][4]string{{"initial", "connection_lost"}, {"reconnect", ""}} {
		attrs := []string{"mcp_client.connection.attempt.kind", want[0]}
		if want[1] != "" {
			attrs = append(attrs, "error.type", want[1])
		}
		if n := rec.Count("mcp_client.connection.attempt.duration", attrs...); n != 1 {
			t.Errorf("samples with %q: got %d, want 1", attrs, n)
		}
	}
	version := strings.Repeat("é", 64) // 128 bytes
	said := map[string]string{"mcp_client.server.name": "weather", "mcp_client.server.version": version}
	for key, want := range said {
		for _, s := range []sdktrace.ReadOnlySpan{one, two} {
			got := ""
			for _, a := range s.Attributes() {
				if string(a.Key) == key {
					got = a.Value.AsString()
				}
			}
			if wanted := s.SpanContext().Equal(two.SpanContext()); got != "" != wanted || wanted && got != want {
				t.Errorf("%s of %v: got %q, want %q on the attempt that succeeded", key, s.SpanContext().SpanID(), got, want)
			}
		}
		if got := rec.Logs("mcp_client.connection.attempt")[1].Attrs[key].String(); got != want {
			t.Errorf("%s of the record: got %q, want %q", key, got, want)
		}
	}
	records := rec.Logs("mcp_client.connection.attempt")
	if len(records) != 2 || records[0].Level != slog.LevelWarn || records[1].Level != slog.LevelInfo {
		t.Errorf("a failed attempt: got %v, want a warning", records)
	}
	if !records[0].Span.Equal(one.SpanContext()) {
		t.Errorf("span of the record: got %v, want %v", records[0].Span, one.SpanContext())
	}
}
