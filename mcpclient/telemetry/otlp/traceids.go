package otlp

import (
	"context"
	"log/slog"
	"slices"

	"go.opentelemetry.io/otel/trace"
)

// traceIDs appends the trace_id and span_id of the record's context, at the top level whatever groups are open. Records
// that go out by OTLP carry the ids natively and do not pass here.
type traceIDs struct {
	next slog.Handler
	open []group // groups not yet given to next, outermost first
}

// A group is one WithGroup and the attributes that followed it.
type group struct {
	name  string
	attrs []slog.Attr
}

func withTraceIDs(next slog.Handler) slog.Handler { return &traceIDs{next: next} }

func (h *traceIDs) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

func (h *traceIDs) Handle(ctx context.Context, r slog.Record) error {
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
func (h *traceIDs) nest(r slog.Record) slog.Record {
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

func (h *traceIDs) WithAttrs(attrs []slog.Attr) slog.Handler {
	if len(h.open) == 0 {
		return &traceIDs{next: h.next.WithAttrs(attrs)}
	}
	open := slices.Clone(h.open)
	last := &open[len(open)-1]
	last.attrs = slices.Concat(last.attrs, attrs)
	return &traceIDs{next: h.next, open: open}
}

func (h *traceIDs) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	return &traceIDs{next: h.next, open: append(slices.Clip(h.open), group{name: name})}
}
