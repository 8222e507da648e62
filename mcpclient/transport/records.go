package transport

import (
	"context"
	"log/slog"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// record logs an event of the telemetry schema at debug level.
func record(l *slog.Logger, event string, fields ...slog.Attr) {
	ctx := context.Background()
	if !l.Enabled(ctx, slog.LevelDebug) {
		return
	}
	l.LogAttrs(ctx, slog.LevelDebug, event, append(fields, slog.String(names.KeyEventName, event))...)
}

// withoutBody returns the text of an error without the body of the response, which is content.
func withoutBody(e *RequestError) string {
	if e.Status == 0 {
		return e.Error()
	}
	return (&RequestError{Reason: e.Reason, Status: e.Status}).Error()
}
