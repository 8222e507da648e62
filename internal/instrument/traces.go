package instrument

import (
	"context"
	"slices"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/instrument/settings"
	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// traces starts and ends the spans of a side, and reads and writes the trace context of its messages.
type traces struct {
	side  *side
	scrub func(telemetry.Content) []byte // see Redacting; nil for nothing
}

// spansNotification asks the user's function, if there is one, whether a notification has a span.
func (t *traces) spansNotification(ctx context.Context, method string) (wanted bool) {
	usercode.Run(func() { wanted = t.side.tel.Notifications(method) }, t.side.failed(ctx, "notification spans"))
	return wanted
}

// maxUserAttributes bounds the attributes of the program on one span.
const maxUserAttributes = 32

// spanInfo describes the operation to functions of the program.
func (op *Op) spanInfo() settings.SpanInfo {
	kind := trace.SpanKindClient
	if op.direction == telemetry.Received {
		kind = trace.SpanKindServer
	}
	return settings.SpanInfo{Kind: kind, Method: op.method, Target: op.target, URI: op.uri}
}

// wantsSpan asks the program's filter: see [telemetry.WithFilter].
func (op *Op) wantsSpan() bool {
	filter := op.side.tel.Filter
	if filter == nil {
		return true
	}
	wanted := true
	usercode.Run(func() { wanted = filter(op.ctx, op.spanInfo()) }, op.side.failed(op.ctx, "span filter"))
	return wanted
}

// userAttributes returns the attributes of the program for the operation's span: those of the call, and those of
// [telemetry.WithSpanAttributesFn].
func (op *Op) userAttributes(ofCall []attribute.KeyValue) []attribute.KeyValue {
	if of := op.side.tel.SpanAttributes; of != nil {
		var more []attribute.KeyValue
		usercode.Run(func() { more = of(op.ctx, op.spanInfo()) }, op.side.failed(op.ctx, "span attributes"))
		ofCall = slices.Concat(ofCall, more)
	}
	return ofCall[:min(len(ofCall), maxUserAttributes)]
}
