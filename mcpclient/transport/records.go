package transport

import (
	"context"
	"log/slog"
)

// The events and fields of the telemetry schema that a transport writes. (package telemetry)
const (
	stderrEvent         = "mcp_client.process.stderr"
	streamRefusedEvent  = "mcp_client.stream.refused"
	messageRefusedEvent = "mcp_client.message.refused"

	keyStderrLine  = "mcp_client.process.stderr.line"
	keyStreamKind  = "mcp_client.stream.kind"
	keyMessageKind = "mcp_client.message.kind"
	keyMethod      = "mcp.method.name"
	keyError       = "error"
)

// record writes one at debug level.
func record(l *slog.Logger, event string, fields ...slog.Attr) {
	ctx := context.Background()
	if !l.Enabled(ctx, slog.LevelDebug) {
		return
	}
	l.LogAttrs(ctx, slog.LevelDebug, event, append(fields, slog.String("event.name", event))...)
}

// withoutBody is the text of an error without what the server says about it, which is content.
func withoutBody(e *RequestError) string {
	if e.Status == 0 {
		return e.Error()
	}
	return (&RequestError{Reason: e.Reason, Status: e.Status}).Error()
}
