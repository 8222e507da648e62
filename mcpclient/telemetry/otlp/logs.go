package otlp

import (
	"log/slog"

	"go.opentelemetry.io/otel/log"

	"github.com/mcpotel/mcpotel/internal/instrument/bridge"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
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

// newExport returns the handler in front of the log provider.
func newExport(provider log.LoggerProvider, level slog.Leveler) slog.Handler {
	return bridge.New(provider.Logger(telemetry.ScopeName, log.WithInstrumentationVersion(telemetry.Version),
		log.WithSchemaURL(names.SchemaURL)), level)
}
