package telemetry

import (
	"context"
	"log/slog"
	"slices"

	"go.opentelemetry.io/otel/trace"
)

// NewTraceHandler returns a handler that adds trace_id and span_id, those of the span in the record's context, to each
// record that has one, and gives it to next: for programs with a logger of their own, whose lines are then found from a
// trace. The ids stand at the top level, whatever groups are open. Records that go out by OTLP have them anyway.
//
//	slog.New(telemetry.NewTraceHandler(slog.NewJSONHandler(os.Stderr, nil)))
func NewTraceHandler(next slog.Handler) slog.Handler { return &traceHandler{next: next} }

// traceHandler is the handler of [NewTraceHandler].
type traceHandler struct {
	next slog.Handler
	open []group // groups not yet given to next, outermost first
}

// A group is one WithGroup and the attributes that followed it.
type group struct {
	name  string
	attrs []slog.Attr
}

func (h *traceHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

func (h *traceHandler) Handle(ctx context.Context, r slog.Record) error {
	if len(h.open) > 0 {
		r = h.nest(r)
	}
	if sc := trace.SpanContextFromContext(ctx); sc.IsValid() {
		r = r.Clone()
		r.AddAttrs(slog.String("trace_id", sc.TraceID().String()), slog.String("span_id", sc.SpanID().String()))
	}
	return h.next.Handle(ctx, r)
}

// nest puts the record's attributes into the open groups.
func (h *traceHandler) nest(r slog.Record) slog.Record {
	var inner []slog.Attr
	r.Attrs(func(a slog.Attr) bool {
		inner = append(inner, a)
		return true
	})
	for _, g := range slices.Backward(h.open) {
		inner = []slog.Attr{slog.GroupAttrs(g.name, slices.Concat(g.attrs, inner)...)}
	}
	nested := slog.NewRecord(r.Time, r.Level, r.Message, r.PC)
	nested.AddAttrs(inner...)
	return nested
}

func (h *traceHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	if len(h.open) == 0 {
		return &traceHandler{next: h.next.WithAttrs(attrs)}
	}
	open := slices.Clone(h.open)
	last := &open[len(open)-1]
	last.attrs = slices.Concat(last.attrs, attrs)
	return &traceHandler{next: h.next, open: open}
}

func (h *traceHandler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	return &traceHandler{next: h.next, open: append(slices.Clip(h.open), group{name: name})}
}
