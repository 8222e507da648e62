//go:build !race

package instrument_test

// The race detector allocates, and makes pools drop their contents at random.

import (
	"context"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// The budgets in installations count the allocations beyond those of the same call without telemetry.
func TestCallStaysWithinAllocationBudget(t *testing.T) {
	for _, in := range installations {
		t.Run(in.name, func(t *testing.T) {
			c := instrument.NewClient(in.new(t), "bench", pipe)
			defer c.Close()
			p := c.Peer(stdio, "")
			ctx := t.Context()
			got := testing.AllocsPerRun(500, func() { toolCall(ctx, c, p) })
			if got > in.budget || got != in.call {
				t.Errorf("allocations of a tool call with a budget of %v: got %v, want %v; if there are fewer, lower the number",
					in.budget, got, in.call)
			}
		})
	}
}

// The budget is for a message without a trace context. Reading a trace context adds the propagator's allocations.
func TestServingStaysWithinAllocationBudget(t *testing.T) {
	for _, in := range installations {
		t.Run(in.name, func(t *testing.T) {
			s := instrument.NewServer(in.new(t), "bench", pipe)
			defer s.Close()
			p, ctx := s.Peer(stdio, ""), t.Context()
			got := testing.AllocsPerRun(500, func() { serve(ctx, s, p, "") })
			if got > in.budget || got != in.serving {
				t.Errorf("allocations of a served call with a budget of %v: got %v, want %v; if there are fewer, lower the number",
					in.budget, got, in.serving)
			}
			if got := testing.AllocsPerRun(500, func() { serve(ctx, s, p, remoteParent) }); got != in.serving+in.parent {
				t.Errorf("with trace context: got %v allocations, want %v", got, in.serving+in.parent)
			}
		})
	}
}

// TestSpanHooksAllocateOnlyTheirResults compares calls without options, with a filter, and with a function that returns
// no attributes.
func TestSpanHooksAllocateOnlyTheirResults(t *testing.T) {
	cost := func(opts ...telemetry.Option) float64 {
		c := instrument.NewClient(withSDK(t, sdktrace.AlwaysSample(), opts...), "bench", pipe)
		defer c.Close()
		p, ctx := c.Peer(stdio, ""), t.Context()
		return testing.AllocsPerRun(500, func() { toolCall(ctx, c, p) })
	}
	filter := func(keep bool) telemetry.Option {
		return telemetry.WithFilter(func(context.Context, telemetry.SpanInfo) bool { return keep })
	}
	none := telemetry.WithSpanAttributesFn(func(context.Context, telemetry.SpanInfo) []attribute.KeyValue { return nil })
	without := cost()
	if got := cost(filter(true)); got != without {
		t.Errorf("a filter that keeps the span: got %v allocations, want %v", got, without)
	}
	if got := cost(none); got != without {
		t.Errorf("a function that returns no attributes: got %v allocations, want %v", got, without)
	}
	if got := cost(filter(false)); got >= without {
		t.Errorf("a filter that rejects the span: got %v allocations, want fewer than %v", got, without)
	}
}
