package telemetry

import (
	"context"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// DefaultToolNameLimit is how many tool and prompt names the metrics of one client or server tell apart.
const DefaultToolNameLimit = 200

// DefaultSlowThreshold is the duration from which on a request that succeeded is logged at Info.
const DefaultSlowThreshold = 5 * time.Second

// config is what options set.
type config struct {
	tracers       trace.TracerProvider
	meters        metric.MeterProvider
	propagator    propagation.TextMapPropagator
	log           *slog.Logger
	toolLimit     int
	slow          time.Duration
	uriInName     bool
	notifications func(method string) bool
	keep          Redactor                       // nil for no content
	untrusted     func(ctx context.Context) bool // nil for never
}

func newConfig(opts []Option) config {
	c := config{
		tracers:       otel.GetTracerProvider(),
		meters:        otel.GetMeterProvider(),
		propagator:    otel.GetTextMapPropagator(),
		log:           discard,
		toolLimit:     DefaultToolNameLimit,
		slow:          DefaultSlowThreshold,
		notifications: quietNotifications,
	}
	for _, o := range opts {
		o(&c)
	}
	return c
}

// quietNotifications leaves out the notifications that come in numbers, and the one that belongs to a call.
func quietNotifications(method string) bool {
	switch method {
	case methodProgress, methodMessage, methodCancelled:
		return false
	}
	return true
}

// An Option configures [New].
type Option func(*config)

// WithTracerProvider sets where spans go. Nil and the default mean the global provider, whenever it is set.
func WithTracerProvider(p trace.TracerProvider) Option {
	return func(c *config) {
		if p != nil {
			c.tracers = p
		}
	}
}

// WithMeterProvider sets where metrics go. Nil and the default mean the global provider, whenever it is set.
func WithMeterProvider(p metric.MeterProvider) Option {
	return func(c *config) {
		if p != nil {
			c.meters = p
		}
	}
}

// WithPropagators sets what writes the trace context into messages and reads it from them. Nil and the default mean the
// global propagator, whenever it is set. Of what it writes, traceparent, tracestate and baggage go out: the
// specification reserves no other keys. A propagator without baggage keeps baggage from the server.
func WithPropagators(p propagation.TextMapPropagator) Option {
	return func(c *config) {
		if p != nil {
			c.propagator = p
		}
	}
}

// WithLogger sets where log records go. Nil and the default mean nowhere; slog's default logger is never used. Records
// are logged with the context of the span they belong to.
func WithLogger(l *slog.Logger) Option {
	return func(c *config) {
		if l != nil {
			c.log = l
		}
	}
}

// WithToolNameLimit sets how many tool and prompt names the metrics of each client or server tell apart; those beyond
// are _OTHER. Zero or less means [DefaultToolNameLimit].
func WithToolNameLimit(n int) Option {
	return func(c *config) {
		if n <= 0 {
			n = DefaultToolNameLimit
		}
		c.toolLimit = n
	}
}

// WithSlowThreshold sets the duration from which on a request that succeeded is logged at Info instead of Debug. The
// default is [DefaultSlowThreshold]; zero or less means never.
func WithSlowThreshold(d time.Duration) Option {
	return func(c *config) { c.slow = d }
}

// WithResourceURIInSpanName puts the URI of a resource into the name of its span. Use it where URIs are few.
func WithResourceURIInSpanName() Option {
	return func(c *config) { c.uriInName = true }
}

// WithNotificationSpans says for which methods a notification, sent or handled, gets a span and a sample of the
// duration; all are counted. The default and nil mean all but progress, message and cancelled. A cancelled notification
// gets its span from the call it ends.
func WithNotificationSpans(wanted func(method string) bool) Option {
	return func(c *config) {
		if wanted != nil {
			c.notifications = wanted
		}
	}
}

// WithPublicEndpointFn says of each message that a server handles whether its sender is not trusted with the server's
// traces. The span of such a message begins a trace of its own, so that it is the server that decides whether it is
// sampled, and has links to the span that the sender names and to that around the handler; the baggage in the message is
// not read. ctx is that of the handler: a server's package tells from it who asks, see RequestFrom in package mcpserver.
// The default and nil mean that everybody is trusted.
func WithPublicEndpointFn(untrusted func(ctx context.Context) bool) Option {
	return func(c *config) { c.untrusted = untrusted }
}

// outerToolSpan is the context key of [WithOuterToolSpan].
type outerToolSpan struct{}

// WithOuterToolSpan marks the current span of ctx as the caller's own execute_tool span of the GenAI conventions. A tool
// call under it sets its attributes on that span, whose status stays with the caller, and opens none of its own. The
// mark counts only while that span is the current one.
func WithOuterToolSpan(ctx context.Context) context.Context {
	return context.WithValue(ctx, outerToolSpan{}, trace.SpanFromContext(ctx))
}

// outerSpan returns the span that [WithOuterToolSpan] marked, nil if it is not the current one.
func outerSpan(ctx context.Context) trace.Span {
	marked, ok := ctx.Value(outerToolSpan{}).(trace.Span)
	if !ok || !marked.IsRecording() || !marked.SpanContext().Equal(trace.SpanContextFromContext(ctx)) {
		return nil
	}
	return marked
}
