package instrument

import (
	"context"
	"log/slog"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// InjectedFault describes a fault that a fault plan has injected on purpose: see package chaos.
type InjectedFault struct {
	Kind         string // one of the Fault constants of package names
	Method, Tool string // method and tool of the message; Method is empty for an attempt to connect
}

// Injected logs an injected fault with the logger that a client gives to its transport. If the fault concerns a
// message, Injected also sets an attribute on the span in ctx, which is the span of the request. l may be nil.
func Injected(ctx context.Context, l *slog.Logger, f InjectedFault) {
	if f.Method != "" {
		trace.SpanFromContext(ctx).SetAttributes(attribute.String(names.KeyMCPClientFaultKind, f.Kind))
	}
	if l == nil || !l.Enabled(ctx, slog.LevelInfo) {
		return
	}
	fields := make([]slog.Attr, 0, 4)
	for _, a := range [...]struct{ key, value string }{
		{names.KeyEventName, names.EventMCPClientFaultInjected}, {names.KeyMCPClientFaultKind, f.Kind},
		{names.KeyMCPMethodName, f.Method}, {names.KeyGenAIToolName, f.Tool},
	} {
		if a.value != "" {
			fields = append(fields, slog.String(a.key, a.value))
		}
	}
	l.LogAttrs(ctx, slog.LevelInfo, names.EventMCPClientFaultInjected, fields...)
}
