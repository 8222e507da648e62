package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/instrument/settings"
)

// SpanInfo describes a message, a request or a notification, before its span starts.
type SpanInfo struct {
	// Kind is trace.SpanKindClient for a message that is sent and trace.SpanKindServer for one that is handled.
	Kind trace.SpanKind

	Method string // as it is in the message
	Target string // the name of the tool or prompt that the message is about, as it is there; empty for none
	URI    string // of the resource that the message is about, empty for none
}

// WithFilter sets which messages have a span: those for which filter returns true. The default and nil mean all. It
// concerns spans alone. Metrics still count a message without a span and log records still report it, so that no rate
// of errors depends on the filter. What is called below such a message belongs to the span around it: a server's spans
// to the span of the client's caller, a handler's spans to the client's span.
//
// ctx is the context of the call, or of the handler: see [WithSpanAttributesFn]. filter is called for every message, in
// the goroutine that sends or handles it, from many at once, and must be quick. If it panics, the message has a span,
// and the panic is logged and counted as that of a handler. [WithNotificationSpans] decides about notifications first.
func WithFilter(filter func(ctx context.Context, info SpanInfo) bool) Option {
	return func(c *config) {
		c.Filter = nil
		if filter != nil {
			c.Filter = func(ctx context.Context, i settings.SpanInfo) bool { return filter(ctx, SpanInfo(i)) }
		}
	}
}

// WithSpanAttributesFn sets a function that returns attributes for the span of each message, in addition to those of
// the schema: a tenant, a region, the version of a prompt. The span starts with them, so samplers see them. The default
// and nil mean none. For the attributes of one call see WithSpanAttributes of package mcpclient; for those of a whole
// process see the resource of the SDK.
//
// ctx is the context of the call of a client. For a message that is handled it is the context of the handler, before
// the span: a server finds the request in it, by RequestFrom of package mcpserver, and the baggage of a sender that it
// trusts.
//
// A span takes the first 32 attributes of the program, those of the call first; the SDK limits their number and length
// further. Where a key is one of the schema's, the schema's value counts. No attribute of the program is put on a
// metric: see [WithBaggageLabel] for that. attributes is called for every message that the filter lets have a span, in
// the goroutine that sends or handles it, from many at once, and must be quick. If it panics, the span has no such
// attributes, and the panic is logged and counted as that of a handler.
func WithSpanAttributesFn(attributes func(ctx context.Context, info SpanInfo) []attribute.KeyValue) Option {
	return func(c *config) {
		c.SpanAttributes = nil
		if attributes != nil {
			c.SpanAttributes = func(ctx context.Context, i settings.SpanInfo) []attribute.KeyValue {
				return attributes(ctx, SpanInfo(i))
			}
		}
	}
}
