package instrument

import (
	"context"
	"runtime/pprof"

	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// labelSpanID is the profile label with the id of a span. The name comes from Pyroscope, which uses it to find the
// profile of a span. (github.com/grafana/pyroscope-go/otelpyroscope)
const labelSpanID = "span_id"

// Labelled calls f. If telemetry.WithProfileLabels is set, f runs with the profile labels of ctx and of the operation.
// The goroutines that f starts and the context of f have these labels too. After the call, the goroutine has only the
// labels of ctx, even if f panics.
func (op *Op) Labelled(ctx context.Context, f func(ctx context.Context)) {
	if op.side == nil || !op.side.tel.ProfileLabels {
		f(ctx)
		return
	}
	labelled(ctx, op.info.opKey, f)
}

// Labelled is like [Op.Labelled] for work outside of an operation, with the labels of a method and a tool. tool may be
// empty.
func (c *Client) Labelled(ctx context.Context, method, tool string, f func(ctx context.Context)) {
	if c == nil {
		f(ctx)
		return
	}
	c.labelled(ctx, method, tool, f)
}

// Labelled is like [Op.Labelled] for work outside of an operation, with the labels of a method and a tool. tool may be
// empty.
func (s *Server) Labelled(ctx context.Context, method, tool string, f func(ctx context.Context)) {
	if s == nil {
		f(ctx)
		return
	}
	s.labelled(ctx, method, tool, f)
}

func (s *side) labelled(ctx context.Context, method, tool string, f func(ctx context.Context)) {
	if !s.tel.ProfileLabels {
		f(ctx)
		return
	}
	k := opKey{method: method, target: tool, targetKind: Tool}
	labelled(ctx, s.bounded(k, true, true), f)
}

// SetLabels replaces the profile labels of the goroutine with the labels of ctx, if telemetry.WithProfileLabels is set.
// It is for a goroutine that works for all handlers: otherwise the goroutine would keep the labels of the handler that
// started it.
func (s *Server) SetLabels(ctx context.Context) {
	if s != nil {
		s.setLabels(ctx)
	}
}

func (s *side) setLabels(ctx context.Context) {
	if s.tel.ProfileLabels {
		pprof.SetGoroutineLabels(ctx)
	}
}

// labelled calls f with the labels of an operation with bounded names. It adds the id of the span if the span is
// recorded.
func labelled(ctx context.Context, k opKey, f func(ctx context.Context)) {
	var buf [6]string
	labels := buf[:0] // sorted by key, which is the cheapest order
	switch {
	case k.target == "":
	case k.targetKind == Tool:
		labels = append(labels, names.KeyGenAIToolName, k.target)
	case k.targetKind == Prompt:
		labels = append(labels, names.KeyGenAIPromptName, k.target)
	}
	labels = append(labels, names.KeyMCPMethodName, k.method)
	if span := trace.SpanFromContext(ctx); span.IsRecording() {
		labels = append(labels, labelSpanID, span.SpanContext().SpanID().String())
	}
	pprof.Do(ctx, pprof.Labels(labels...), f)
}
