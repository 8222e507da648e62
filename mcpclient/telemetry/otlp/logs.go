package otlp

import (
	"context"
	"log/slog"

	"go.opentelemetry.io/contrib/bridges/otelslog"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/log"
	sdklog "go.opentelemetry.io/otel/sdk/log"
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
	return minLevel{otelslog.NewHandler(telemetry.ScopeName, otelslog.WithLoggerProvider(provider),
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

// promote is a processor that moves the attribute event.name to where OTLP has a field for it, the record's event
// name; slog and its bridge know no such thing. It stands before the processor that exports.
type promote struct{}

var _ sdklog.Processor = promote{}

func (promote) OnEmit(_ context.Context, r *sdklog.Record) error {
	var name string
	r.WalkAttributes(func(kv attribute.KeyValue) bool {
		if kv.Key == eventName && kv.Value.Type() == attribute.STRING {
			name = kv.Value.AsString()
		}
		return name == ""
	})
	if name == "" {
		return nil
	}
	rest := make([]attribute.KeyValue, 0, r.AttributesLen())
	r.WalkAttributes(func(kv attribute.KeyValue) bool {
		if kv.Key != eventName {
			rest = append(rest, kv)
		}
		return true
	})
	r.SetEventName(name)
	r.SetAttributes(rest...)
	return nil
}

// Enabled is false because promote by itself is no reason to make a record.
func (promote) Enabled(context.Context, sdklog.EnabledParameters) bool { return false }
func (promote) Shutdown(context.Context) error                         { return nil }
func (promote) ForceFlush(context.Context) error                       { return nil }
