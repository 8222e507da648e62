package mcptest_test

import (
	"slices"
	"testing"
	"testing/synctest"

	"go.opentelemetry.io/contrib/processors/baggagecopy"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

// TestBothSpansHaveConversationAttributes uses an SDK that copies the conversation from the baggage to spans. An option
// adds the agent as a label to durations.
func TestBothSpansHaveConversationAttributes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t, telemetry.WithBaggageLabel("gen_ai.agent.name"))
		rec.TracerProvider().RegisterSpanProcessor(baggagecopy.NewSpanProcessor(func(m baggage.Member) bool {
			return slices.Contains(telemetry.ConversationKeys(), m.Key())
		}))
		weather, _ := newWeather(t, rec)
		ctx, err := telemetry.ContextWithConversation(t.Context(), telemetry.Conversation{
			ID: "thread-17", Agent: "travel-agent", Session: "s-1", User: "ada", UserKey: []byte("key")})
		if err != nil {
			t.Fatal(err)
		}
		if got := weather.Today(ctx, "Rome"); got != "sunny" {
			t.Errorf("got %q", got)
		}
		synctest.Wait()
		for _, kind := range []trace.SpanKind{trace.SpanKindClient, trace.SpanKindServer} {
			spans := rec.SpansNamed("tools/call forecast", kind)
			if len(spans) != 1 {
				t.Fatalf("got %d spans of kind %v, want 1", len(spans), kind)
			}
			attrs := attribute.NewSet(spans[0].Attributes()...)
			for _, key := range telemetry.ConversationKeys() {
				if v, ok := attrs.Value(attribute.Key(key)); !ok || v.AsString() == "" || v.AsString() == "ada" {
					t.Errorf("the span of kind %v has %s=%q", kind, key, v.AsString())
				}
			}
		}
	})
}
