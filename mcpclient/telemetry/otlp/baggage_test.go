package otlp

import (
	"bytes"
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/codes"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/tailsampling"
)

// conversing returns a context with a conversation, and with a baggage member that is too long to be copied.
func conversing(t *testing.T) context.Context {
	ctx, err := telemetry.ContextWithConversation(t.Context(), telemetry.Conversation{ID: "c-1", Agent: "planner"})
	if err != nil {
		t.Fatal(err)
	}
	b, err := baggage.Parse(baggage.FromContext(ctx).String() + ",tenant=acme,session.id=" + strings.Repeat("s", 257))
	if err != nil {
		t.Fatal(err)
	}
	return baggage.ContextWithBaggage(ctx, b)
}

// copied fails the test unless the attributes have the conversation and no other member of the baggage.
func copied(t *testing.T, what string, got map[string]any) {
	t.Helper()
	want := map[string]any{"gen_ai.conversation.id": "c-1", "gen_ai.agent.name": "planner"}
	if !maps.Equal(got, want) {
		t.Errorf("%s: got the attributes %v, want %v", what, got, want)
	}
}

func TestBaggageAttributesAreOnSpansAndLogRecords(t *testing.T) {
	for _, at := range []struct {
		name string
		opts []Option
	}{
		{"a sampler of the SDK", nil},
		{"tail sampling", []Option{WithTailSampling(tailsampling.Options{})}},
	} {
		t.Run(at.name, func(t *testing.T) {
			cleanEnv(t)
			sink := listen(t)
			var console bytes.Buffer
			p := setup(t, slices.Concat([]Option{WithEndpoint(sink.Endpoint()), WithConsole(&console, nil),
				WithBaggageAttributes(telemetry.ConversationKeys()...), WithBaggageAttributes("other")}, at.opts)...)
			ctx, span := p.TracerProvider().Tracer("test").Start(conversing(t), "work")
			p.Logger().InfoContext(ctx, "in it")
			p.Logger().Info("beside it")
			counter, err := p.MeterProvider().Meter("test").Int64Counter("works")
			if err != nil {
				t.Fatal(err)
			}
			span.SetStatus(codes.Error, "")
			span.End()
			counter.Add(ctx, 1)
			shutdown(t, p)

			got := sink.Snapshot()
			spans, records, points := got.SpansNamed("work"), got.Records, got.PointsOf("works")
			if len(spans) != 1 || len(records) != 2 || len(points) != 1 || len(points[0].Exemplars) != 1 {
				t.Fatalf("got %d spans, %d records and %v, want 1, 2, and a point with an exemplar", len(spans), len(records),
					points)
			}
			copied(t, "the span", spans[0].Attributes)
			copied(t, "the record", records[0].Attributes)
			if len(records[1].Attributes) != 0 {
				t.Errorf("a record without a conversation: got %v, want no attributes", records[1].Attributes)
			}
			if want := "gen_ai.conversation.id=c-1 gen_ai.agent.name=planner\n"; !strings.Contains(console.String(), want) {
				t.Errorf("the console: got %q, want a line that ends with %q", console.String(), want)
			}
		})
	}
}

func TestBaggageAttributesNeedOption(t *testing.T) {
	cleanEnv(t)
	sink := listen(t)
	p := setup(t, WithEndpoint(sink.Endpoint()))
	ctx, span := p.TracerProvider().Tracer("test").Start(conversing(t), "work")
	p.Logger().LogAttrs(ctx, slog.LevelInfo, "in it")
	span.End()
	shutdown(t, p)
	got := sink.Snapshot()
	if len(got.Spans) != 1 || len(got.Spans[0].Attributes) != 0 ||
		len(got.Records) != 1 || len(got.Records[0].Attributes) != 0 {
		t.Errorf("got %v and %v, want a span and a record without attributes", got.Spans, got.Records)
	}
	if spans, records := BaggageProcessors(WithBaggageAttributes()); spans != nil || records != nil {
		t.Errorf("got the processors %v and %v, want none", spans, records)
	}
}

func TestSetupRejectsCopyOfAllBaggage(t *testing.T) {
	cleanEnv(t)
	for key, want := range map[string]string{
		"*": `otlp: WithBaggageAttributes: "*" is not a key; name each key to copy`,
		"":  `otlp: WithBaggageAttributes: "" is not a key; name each key to copy`,
	} {
		_, err := Setup(t.Context(), WithGlobals(false), WithBaggageAttributes("tenant", key))
		if err == nil || err.Error() != want {
			t.Errorf("key %q: got %v, want %s", key, err, want)
		}
	}
}
