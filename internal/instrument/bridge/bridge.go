// Package bridge emits slog records as OpenTelemetry log records. The attribute event.name becomes the event name,
// attributes become OpenTelemetry values, and the trace comes from the context. Package instrument emits the records of
// clients and servers through bridge, and package otlp emits the records of the user's program through it.
package bridge

import (
	"context"
	"log/slog"
	"slices"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/log"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// New returns a handler that emits records of at least the level to the logger. The handler does not ask the logger
// about records below the level.
func New(to log.Logger, level slog.Leveler) slog.Handler { return &handler{to: to, level: level} }

// handler is immutable.
type handler struct {
	to    log.Logger
	level slog.Leveler
	attrs []slog.Attr // attributes outside of all groups
	open  []group     // open groups, outermost first
}

// group is one call of WithGroup, with the attributes that later calls of WithAttrs added to the group.
type group struct {
	name  string
	attrs []slog.Attr
}

func (h *handler) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= h.level.Level() && h.to.Enabled(ctx, log.EnabledParameters{Severity: severity(l)})
}

func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	var out log.Record
	out.SetTimestamp(r.Time)
	out.SetBody(attribute.StringValue(r.Message))
	out.SetSeverity(severity(r.Level))
	out.SetSeverityText(r.Level.String())
	all := make([]attribute.KeyValue, 0, len(h.attrs)+r.NumAttrs())
	for _, a := range h.attrs {
		all = appendTop(all, &out, a)
	}
	if len(h.open) == 0 {
		r.Attrs(func(a slog.Attr) bool {
			all = appendTop(all, &out, a)
			return true
		})
	} else {
		all = appendTop(all, &out, h.nested(r))
	}
	out.AddAttributes(all...)
	h.to.Emit(ctx, out)
	return nil
}

// nested returns the attributes that the record has inside the open groups.
func (h *handler) nested(r slog.Record) slog.Attr {
	inner := make([]slog.Attr, 0, r.NumAttrs())
	r.Attrs(func(a slog.Attr) bool {
		inner = append(inner, a)
		return true
	})
	for _, g := range slices.Backward(h.open) {
		inner = []slog.Attr{slog.GroupAttrs(g.name, slices.Concat(g.attrs, inner)...)}
	}
	return inner[0]
}

// appendTop appends an attribute of the record itself. The event name becomes a separate field of out, and so does the
// first error, from which the SDK derives the attributes exception.type and exception.message.
func appendTop(all []attribute.KeyValue, out *log.Record, a slog.Attr) []attribute.KeyValue {
	v := a.Value.Resolve()
	if a.Key == names.KeyEventName && v.Kind() == slog.KindString {
		out.SetEventName(v.String())
		return all
	}
	if v.Kind() == slog.KindAny && out.Err() == nil {
		if err, ok := v.Any().(error); ok {
			out.SetErr(err)
			return all
		}
	}
	return appendAttr(all, a.Key, v, maxDepth)
}

func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	if len(attrs) == 0 {
		return h
	}
	with := *h
	if len(h.open) == 0 {
		with.attrs = slices.Concat(h.attrs, attrs)
		return &with
	}
	with.open = slices.Clone(h.open)
	last := &with.open[len(with.open)-1]
	last.attrs = slices.Concat(last.attrs, attrs)
	return &with
}

func (h *handler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	with := *h
	with.open = append(slices.Clip(h.open), group{name: name})
	return &with
}

// severity returns the severity for a level. Each named level or severity is four above the one before.
func severity(l slog.Level) log.Severity { return log.Severity(l-slog.LevelDebug) + log.SeverityDebug }
