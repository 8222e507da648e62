package telemetry

import (
	"context"
	"log/slog"
	"slices"

	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/instrument/words"
)

// NewTraceHandler returns a handler that adds trace_id and span_id of the span in the record's context and passes the
// record to next. It is for programs with their own logger: a trace then leads to the log lines. It also adds the
// baggage members with the given keys, except values longer than 256 bytes. All added attributes are at the top
// level, whatever groups are open. Records that are exported by OTLP have the ids anyway, and the members by
// otlp.WithBaggageAttributes.
//
//	slog.New(telemetry.NewTraceHandler(slog.NewJSONHandler(os.Stderr, nil), telemetry.ConversationKeys()...))
func NewTraceHandler(next slog.Handler, baggageKeys ...string) slog.Handler {
	return &traceHandler{next: next, keys: slices.Clone(baggageKeys)}
}

// traceHandler is the handler of [NewTraceHandler].
type traceHandler struct {
	next slog.Handler
	keys []string // baggage keys
	open []group  // groups that were not passed to next yet, the outermost first
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
	var buf [6]slog.Attr
	if found := h.find(ctx, buf[:0]); len(found) > 0 {
		r = r.Clone()
		r.AddAttrs(found...)
	}
	return h.next.Handle(ctx, r)
}

// find appends the attributes from the context of the record.
func (h *traceHandler) find(ctx context.Context, attrs []slog.Attr) []slog.Attr {
	if sc := trace.SpanContextFromContext(ctx); sc.IsValid() {
		attrs = append(attrs, slog.String("trace_id", sc.TraceID().String()), slog.String("span_id", sc.SpanID().String()))
	}
	if len(h.keys) == 0 {
		return attrs
	}
	all := baggage.FromContext(ctx)
	for _, key := range h.keys {
		if value := all.Member(key).Value(); value != "" && len(value) <= words.MaxMember {
			attrs = append(attrs, slog.String(key, value))
		}
	}
	return attrs
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
		return &traceHandler{next: h.next.WithAttrs(attrs), keys: h.keys}
	}
	open := slices.Clone(h.open)
	last := &open[len(open)-1]
	last.attrs = slices.Concat(last.attrs, attrs)
	return &traceHandler{next: h.next, keys: h.keys, open: open}
}

func (h *traceHandler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	return &traceHandler{next: h.next, keys: h.keys, open: append(slices.Clip(h.open), group{name: name})}
}
