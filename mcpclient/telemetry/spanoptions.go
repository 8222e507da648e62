package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/instrument/settings"
)

// SpanInfo describes a message, a request or a notification, before its span starts.
type SpanInfo struct {
	// Kind is trace.SpanKindClient for a sent message and trace.SpanKindServer for a handled one.
	Kind trace.SpanKind

	Method string // as in the message
	Target string // name of the tool or prompt, as in the message; empty for none
	URI    string // URI of the resource; empty for none
}

// WithFilter limits spans to the messages for which filter returns true. The default and nil mean all messages. The
// filter affects only spans: metrics still count a message without a span, and log records still report it, so error
// rates do not depend on the filter. If a message has no span, spans below the message are children of the surrounding
// span. For example, if the client's span is missing, the server's span is a child of the span of the client's caller.
//
// ctx is the context of the call or of the handler: see [WithSpanAttributesFn]. filter is called for every message,
// in the goroutine that sends or handles it, by many goroutines at the same time, and must be quick. If it panics,
// the message has a span, and the failure is logged and counted as a panic of a handler. [WithNotificationSpans]
// decides about notifications first.
func WithFilter(filter func(ctx context.Context, info SpanInfo) bool) Option {
	return func(c *config) {
		c.Filter = nil
		if filter != nil {
			c.Filter = func(ctx context.Context, i settings.SpanInfo) bool { return filter(ctx, SpanInfo(i)) }
		}
	}
}

// WithSpanAttributesFn sets a function that returns attributes for the span of each message, in addition to the
// attributes of the schema: a tenant, a region, the version of a prompt. The span starts with them, so samplers see
// them. The default and nil mean none. For attributes of one call, see WithSpanAttributes of package mcpclient; for
// attributes of the whole process, see the resource of the SDK.
//
// For a client's call, ctx is the context of the call. For a handled message, ctx is the context of the handler,
// before the span: a server finds the request in it, by RequestFrom of package mcpserver, and the baggage of a
// trusted sender.
//
// A span has at most 32 attributes of the program; the attributes of the call come first. The SDK limits their number
// and length further. If the schema has the same key, the schema's value counts. Metrics never have attributes of the
// program: use [WithBaggageLabel] for that. attributes is called for every message that passes the filter, in the
// goroutine that sends or handles it, by many goroutines at the same time, and must be quick. If it panics, the span
// lacks these attributes, and the failure is logged and counted as a panic of a handler.
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
