package otlp

import (
	"context"
	"log/slog"

	"go.opentelemetry.io/contrib/bridges/otelslog"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/log"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// newLogger fans one record out to the console and to OTLP. Either handler may be nil.
func newLogger(console, export slog.Handler) *slog.Logger {
	switch {
	case console == nil && export == nil:
		return slog.New(slog.DiscardHandler)
	case console == nil:
		return slog.New(export)
	case export == nil:
		return slog.New(console)
	}
	return slog.New(slog.NewMultiHandler(console, export))
}

// newExport is the handler in front of the log provider. The bridge filters nothing by itself: without minLevel every
// debug record would be exported.
func newExport(provider log.LoggerProvider, level slog.Leveler) slog.Handler {
	return minLevel{otelslog.NewHandler(telemetry.ScopeName, otelslog.WithLoggerProvider(promoting{provider}),
		otelslog.WithSchemaURL(semconv.SchemaURL)), level}
}

type minLevel struct {
	slog.Handler
	level slog.Leveler
}

func (h minLevel) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= h.level.Level() && h.Handler.Enabled(ctx, level)
}

func (h minLevel) WithAttrs(attrs []slog.Attr) slog.Handler {
	return minLevel{h.Handler.WithAttrs(attrs), h.level}
}

func (h minLevel) WithGroup(name string) slog.Handler {
	return minLevel{h.Handler.WithGroup(name), h.level}
}

const eventName = "event.name"

// promoting is a provider whose loggers move the attribute event.name to where OTLP has a field for it, the record's
// event name; slog and its bridge know no such thing.
type promoting struct{ log.LoggerProvider }

func (p promoting) Logger(name string, opts ...log.LoggerOption) log.Logger {
	return promoter{p.LoggerProvider.Logger(name, opts...)}
}

type promoter struct{ log.Logger }

// Emit emits a record without the attribute, if the record has it: attributes can only be added to one.
func (p promoter) Emit(ctx context.Context, r log.Record) {
	var name string
	rest := make([]attribute.KeyValue, 0, r.AttributesLen())
	r.WalkAttributes(func(kv attribute.KeyValue) bool {
		if kv.Key == eventName && kv.Value.Type() == attribute.STRING {
			name = kv.Value.AsString()
		} else {
			rest = append(rest, kv)
		}
		return true
	})
	if name == "" {
		p.Logger.Emit(ctx, r)
		return
	}
	var named log.Record
	named.SetEventName(name)
	named.SetTimestamp(r.Timestamp())
	named.SetObservedTimestamp(r.ObservedTimestamp())
	named.SetSeverity(r.Severity())
	named.SetSeverityText(r.SeverityText())
	named.SetBody(r.Body())
	named.SetErr(r.Err())
	named.AddAttributes(rest...)
	p.Logger.Emit(ctx, named)
}
