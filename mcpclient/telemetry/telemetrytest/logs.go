package telemetrytest

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"go.opentelemetry.io/otel/trace"
)

// Record is one log record. Its attributes include the attributes of its logger.
type Record struct {
	Level   slog.Level
	Message string
	Attrs   map[string]slog.Value
	Span    trace.SpanContext // span of the record's context

	problems []string
}

// Event returns the value of event.name.
func (r Record) Event() string { return r.Text("event.name") }

// Text returns an attribute as text, empty if it is missing.
func (r Record) Text(key string) string {
	v, ok := r.Attrs[key]
	if !ok {
		return ""
	}
	return v.String()
}

// recordLog stores records. It is safe for concurrent use.
type recordLog struct {
	mu      sync.Mutex
	records []Record
}

func (l *recordLog) snapshot() []Record {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.records)
}

// handler is a slog.Handler for every level.
type handler struct {
	log   *recordLog
	attrs []slog.Attr
	group string
}

var _ slog.Handler = (*handler)(nil)

// Enabled returns true.
func (h *handler) Enabled(context.Context, slog.Level) bool { return true }

// WithAttrs returns a handler that adds attrs to each record.
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &handler{log: h.log, attrs: slices.Concat(h.attrs, attrs), group: h.group}
}

// WithGroup returns a handler that marks each record: the schema has no groups.
func (h *handler) WithGroup(name string) slog.Handler {
	return &handler{log: h.log, attrs: h.attrs, group: name}
}

// Handle stores r.
func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	rec := Record{
		Level: r.Level, Message: r.Message, Attrs: map[string]slog.Value{}, Span: trace.SpanContextFromContext(ctx),
	}
	if h.group != "" {
		rec.problems = append(rec.problems, fmt.Sprintf("group %q", h.group))
	}
	add := func(a slog.Attr) bool {
		if _, twice := rec.Attrs[a.Key]; twice {
			rec.problems = append(rec.problems, fmt.Sprintf("%s twice", a.Key))
		}
		rec.Attrs[a.Key] = a.Value.Resolve()
		return true
	}
	for _, a := range h.attrs {
		add(a)
	}
	r.Attrs(add)
	h.log.mu.Lock()
	defer h.log.mu.Unlock()
	h.log.records = append(h.log.records, rec)
	return nil
}
