package telemetry

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/log"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/instrument/settings"
	"github.com/mcpotel/mcpotel/internal/instrument/words"
)

// DefaultToolNameLimit is how many tool and prompt names the metrics of one client or server tell apart.
const DefaultToolNameLimit = words.DefaultToolNameLimit

// DefaultSlowThreshold is the duration from which on a request that succeeded is logged at Info.
const DefaultSlowThreshold = 5 * time.Second

// config is what options set.
type config struct{ settings.Settings[Redactor] }

func newConfig(opts []Option) *config {
	c := &config{settings.Settings[Redactor]{
		Tracers:    otel.GetTracerProvider(),
		Meters:     otel.GetMeterProvider(),
		Propagator: otel.GetTextMapPropagator(),
		ToolLimit:  DefaultToolNameLimit,
		Slow:       DefaultSlowThreshold,

		RecordLevel: slog.LevelInfo,
	}}
	for _, o := range opts {
		o(c)
	}
	if c.Records == nil && c.Log == nil {
		c.Records = otel.GetLoggerProvider()
	}
	return c
}

// An Option configures [New].
type Option func(*config)

// WithTracerProvider sets where spans go. Nil and the default mean the global provider, whenever it is set.
func WithTracerProvider(p trace.TracerProvider) Option {
	return func(c *config) {
		if p != nil {
			c.Tracers = p
		}
	}
}

// WithMeterProvider sets where metrics go. Nil and the default mean the global provider, whenever it is set.
func WithMeterProvider(p metric.MeterProvider) Option {
	return func(c *config) {
		if p != nil {
			c.Meters = p
		}
	}
}

// WithPropagators sets what writes the trace context into messages and reads it from them. Nil and the default mean the
// global propagator, whenever it is set. Its keys go into the _meta of messages unprefixed, as the conventions have it:
// traceparent, tracestate and baggage of the W3C's formats, b3, uber-trace-id, or others. Both ends need one in common.
//
//   - What the propagator writes, and each key of its Fields, is its own: a program's member of _meta under that key is
//     not sent, since it would name another trace. Those three keys are a propagator's always.
//   - All else is not the propagator's: progressToken, and names with a prefix, which are the protocol's, those of
//     extensions and of programs. Names that the protocol does not allow in _meta are left out.
//   - Of other keys than the three, at most 64 with 8 KiB in all are written, and read.
//   - Headers of HTTP and the environment of a child process repeat only the keys of Fields.
//   - It sees only the baggage that the other end may have: see [WithBaggageKeys].
//   - A propagator whose Fields are those three, or none, is not asked for other keys when a message is read.
func WithPropagators(p propagation.TextMapPropagator) Option {
	return func(c *config) {
		if p != nil {
			c.Propagator = p
		}
	}
}

// WithLoggerProvider sets where log records go as OpenTelemetry events: the name of the event is the record's event
// name, and the context of the span that the record belongs to is the record's. Nil means the global provider, which is
// the default without [WithLogger]. [WithLogLevel] sets the lowest level, and the provider is not asked below it.
func WithLoggerProvider(p log.LoggerProvider) Option {
	return func(c *config) {
		if c.Records = p; p == nil {
			c.Records = otel.GetLoggerProvider()
		}
	}
}

// WithLogLevel sets the lowest level of the log records for the LoggerProvider. Nil means the default, Info: at Debug
// there are two records for each request. The handler of [WithLogger] has a level of its own.
func WithLogLevel(l slog.Leveler) Option {
	return func(c *config) {
		if c.RecordLevel = l; l == nil {
			c.RecordLevel = slog.LevelInfo
		}
	}
}

// WithLogger sets a logger for log records, which replaces the global LoggerProvider. Nil changes nothing; slog's
// default logger is never used. Records are logged with the context of the span they belong to, and have the
// name of the event as their message and in the attribute event.name.
//
// The records of a call are written in its caller's goroutine, which waits for the handler. A client's other records,
// of its connection and of what the server says, are written by a goroutine of their own, in order, so that a handler
// that is slow delays no call; up to 1,024 records and 1 MiB wait, those beyond are counted. Enabled is asked on all
// paths and must be quick.
//
// If the handler panics, there is no record, and that is counted as a panic of a handler.
func WithLogger(l *slog.Logger) Option {
	return func(c *config) {
		if l != nil {
			c.Log = l
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
		c.ToolLimit = n
	}
}

// WithSlowThreshold sets the duration from which on a request that succeeded is logged at Info instead of Debug. The
// default is [DefaultSlowThreshold]; zero or less means never.
func WithSlowThreshold(d time.Duration) Option {
	return func(c *config) { c.Slow = d }
}

// WithResourceURIInSpanName puts the URI of a resource into the name of its span. Use it where URIs are few.
func WithResourceURIInSpanName() Option {
	return func(c *config) { c.URIInName = true }
}

// WithoutClientAddress leaves client.address and client.port out of a server's spans. Where they are there, which is
// over HTTP, they are the address of the connection, a person's perhaps, and no metric has them.
func WithoutClientAddress() Option {
	return func(c *config) { c.NoClientAddress = true }
}

// WithoutSessionTransport leaves network.transport and network.protocol.version out of the durations of sessions. The
// conventions have dropped both (change 453) in no release yet, and until one is out they are there by default.
func WithoutSessionTransport() Option {
	return func(c *config) { c.NoSessionTransport = true }
}

// WithExecuteToolDuration records gen_ai.execute_tool.duration for the tool calls of clients too, in seconds: what
// dashboards of the GenAI conventions show. Use it where no framework of agents records that metric, which would count
// calls twice. It is one more measurement for each call, with the tool's name and the error.type; there is none by
// default.
func WithExecuteToolDuration() Option {
	return func(c *config) { c.ExecuteTool = true }
}

// WithContextCost records what each tool takes of the context of a language model: the size of its definition, name and
// description apart from the schema, as gauges in bytes and in estimated tokens, and the size of its results, as a
// histogram in bytes. See package mcp/contextcost for what counts. There is none of it by default, because it is four
// series for each tool and one more measurement for each call; the size of the whole list is a metric always.
//
// The gauges are of the list that the client has got last, as a whole, by Tools for example: of a list that was never
// got, nothing is known. [WithToolNameLimit] bounds the tools of each client; those beyond are added up as _OTHER.
func WithContextCost() Option {
	return func(c *config) { c.ContextCost = true }
}

// WithProfileLabels says in profiles whose work a sample is, by the labels mcp.method.name, gen_ai.tool.name or
// gen_ai.prompt.name, and span_id, the id of the operation's span if that is recorded. A goroutine has them while it
//
//   - handles a request, a notification or a task of a server: middleware, the checks of arguments, the handler, and
//     the encoding and sending of the answer;
//   - runs a handler of a client, for what the server asks, notifies or reports as progress;
//   - decodes the result of a call, or checks it against the tool's schema.
//
// They are set as by [runtime/pprof.Do]: labels in the context of the operation stay, and are those that the goroutine
// has afterwards; goroutines that a handler starts inherit all of them, and the handler's context has them. CPU and
// goroutine profiles show labels.
//
// The result of a task is decoded without labels, and the adapters for other SDKs set none.
//
// Names are those of metrics: beyond [WithToolNameLimit] they are _OTHER. By default there are no labels, which costs
// nothing; an operation with labels takes four allocations more. Pyroscope finds the profile of a span by span_id:
// https://grafana.com/docs/pyroscope/latest/configure-client/trace-span-profiles/go-span-profiles
func WithProfileLabels() Option {
	return func(c *config) { c.ProfileLabels = true }
}

// WithNotificationSpans says for which methods a notification, sent or handled, gets a span and a sample of the
// duration; all are counted. The default and nil mean all but progress, message and cancelled. A cancelled notification
// gets its span from the call it ends. If wanted panics, there is none, and that is logged and counted as that of a
// handler.
func WithNotificationSpans(wanted func(method string) bool) Option {
	return func(c *config) {
		if wanted != nil {
			c.Notifications = wanted
		}
	}
}

// WithPublicEndpointFn says of each message that a server handles whether its sender is not trusted with the server's
// traces. The span of such a message begins a trace of its own, so that it is the server that decides whether it is
// sampled, and has links to the span that the sender names and to that around the handler; the baggage in the message
// is not read. ctx is that of the handler: a server's package tells from it who asks, see RequestFrom in package
// mcpserver. The default and nil mean that all are trusted, but for those whom the server itself does not trust, as
// package mcpserver does not trust clients over HTTP without a principal. If
// untrusted panics, the sender is not trusted, and that is logged and counted as a panic of a handler.
func WithPublicEndpointFn(untrusted func(ctx context.Context) bool) Option {
	return func(c *config) { c.Untrusted = untrusted }
}

// WithBaggageKeys says which members of the baggage go over a network: from a client in the messages and the HTTP
// header of its requests, from a server in what it asks of clients. Baggage is what a program notes about its work for
// all that it calls in turn, such as a user, a tenant or a price, and the other end of a network may be a stranger: by
// default no member goes there. "*" means all. What servers on a network write into their messages reaches the handlers
// of clients by the same keys.
//
// A server that is a child process, or in the same process, was started by the program or its user and gets all of it,
// as far as the propagator writes it; so does the program that started a server, and who has a Unix socket. HTTP to the
// loopback is a network, because nothing tells who listens there. Several servers that are to get different members
// need a [Telemetry] each.
func WithBaggageKeys(keys ...string) Option {
	return func(c *config) { c.Baggage = slices.Clone(keys) }
}

// WithBaggageLabel gives the durations of operations, mcp.client.operation.duration and mcp.server.operation.duration,
// the member of the baggage with this key, such as gen_ai.agent.name: which agent calls which tool, and how fast. There
// is none by default. The baggage is that in the context of the call; a server has it from its client, see
// [WithBaggageKeys].
//
// Choose a key of few values. 32 of them are told apart for each client and server, the first that come; others, and
// those of more than 128 bytes, are _OTHER. They share the places for the names of tools, and have half of them at
// most: beyond that all values are _OTHER, before names of tools are. Where names of clients fold, there is no label.
func WithBaggageLabel(key string) Option {
	return func(c *config) { c.Label = key }
}

// WithOuterToolSpan marks the current span of ctx as the caller's own execute_tool span of the GenAI conventions. A
// tool call under it sets its attributes on that span, whose status stays with the caller, and opens none of its own.
// The mark counts only while that span is the current one.
func WithOuterToolSpan(ctx context.Context) context.Context {
	return settings.WithOuterSpan(ctx)
}
