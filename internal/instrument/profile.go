package instrument

import (
	"context"
	"runtime/pprof"

	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// labelSpanID is the profile label that has the id of a span, in the words of Pyroscope, which finds the profile of a
// span by it. (github.com/grafana/pyroscope-go/otelpyroscope)
const labelSpanID = "span_id"

// Labelled calls f. If telemetry.WithProfileLabels is set, the goroutine, those that f starts and the context that f
// gets have the profile labels of the operation meanwhile, beside those of ctx; then the goroutine has those of ctx
// again, whatever becomes of f.
func (op *Op) Labelled(ctx context.Context, f func(ctx context.Context)) {
	if op.side == nil || !op.side.tel.ProfileLabels {
		f(ctx)
		return
	}
	labelled(ctx, op.info.opKey, f)
}

// Labelled is [Op.Labelled] for work on a method, and a tool unless that is empty, outside an operation.
func (c *Client) Labelled(ctx context.Context, method, tool string, f func(ctx context.Context)) {
	if c == nil {
		f(ctx)
		return
	}
	c.labelled(ctx, method, tool, f)
}

// Labelled is [Op.Labelled] for work on a method, and a tool unless that is empty, outside an operation.
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

// SetLabels gives the goroutine the profile labels of ctx and no others, if telemetry.WithProfileLabels is set. It is
// for a goroutine that a handler has started and that works for all.
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

// labelled calls f with the labels of an operation whose names are bounded. A span that is not recorded has none.
func labelled(ctx context.Context, k opKey, f func(ctx context.Context)) {
	var buf [6]string
	labels := buf[:0] // in the order of their keys, which costs least
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
