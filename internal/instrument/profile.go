package instrument

import (
	"context"
	"runtime/pprof"

	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// labelSpanID is the profile label with the id of a span. The name is Pyroscope's, which finds the profile of a span
// by it. (github.com/grafana/pyroscope-go/otelpyroscope)
const labelSpanID = "span_id"

// Labelled calls f. If telemetry.WithProfileLabels is set, f runs with the profile labels of the operation in
// addition to the labels of ctx; so do the goroutines that f starts, and the context of f has them. Afterwards the
// goroutine has the labels of ctx again, even if f panics.
func (op *Op) Labelled(ctx context.Context, f func(ctx context.Context)) {
	if op.side == nil || !op.side.tel.ProfileLabels {
		f(ctx)
		return
	}
	labelled(ctx, op.info.opKey, f)
}

// Labelled is [Op.Labelled] for work outside an operation, on a method and, unless tool is empty, a tool.
func (c *Client) Labelled(ctx context.Context, method, tool string, f func(ctx context.Context)) {
	if c == nil {
		f(ctx)
		return
	}
	c.labelled(ctx, method, tool, f)
}

// Labelled is [Op.Labelled] for work outside an operation, on a method and, unless tool is empty, a tool.
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

// SetLabels replaces the profile labels of the goroutine by the labels of ctx, if telemetry.WithProfileLabels is set.
// It is for a goroutine that a handler started and that works for all handlers.
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

// labelled calls f with the labels of an operation with bounded names. Only a recorded span adds its id.
func labelled(ctx context.Context, k opKey, f func(ctx context.Context)) {
	var buf [6]string
	labels := buf[:0] // sorted by key, which is cheapest
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
