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

	"github.com/mcpotel/mcpotel/internal/auditlog"
	"github.com/mcpotel/mcpotel/internal/instrument/settings"
	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/audit"
)

// DefaultToolNameLimit is the number of tool and prompt names that the metrics of one client or server distinguish.
const DefaultToolNameLimit = words.DefaultToolNameLimit

// DefaultSlowThreshold is the duration from which a successful request is logged at Info.
const DefaultSlowThreshold = 5 * time.Second

// config holds the settings of options.
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

// WithTracerProvider sets the provider of spans. Nil and the default mean the global provider, even if the program
// sets the global provider later.
func WithTracerProvider(p trace.TracerProvider) Option {
	return func(c *config) {
		if p != nil {
			c.Tracers = p
		}
	}
}

// WithMeterProvider sets the provider of metrics. Nil and the default mean the global provider, even if the program
// sets the global provider later.
func WithMeterProvider(p metric.MeterProvider) Option {
	return func(c *config) {
		if p != nil {
			c.Meters = p
		}
	}
}

// WithPropagators sets the propagator, which writes the trace context into messages and reads it from them. Nil and the
// default mean the global propagator, even if the program sets the global propagator later. The propagator's keys
// become members of the _meta of messages, without a prefix, as in the semantic conventions: traceparent, tracestate
// and baggage of the W3C's formats, b3, uber-trace-id, or others. Client and server need at least one format in common.
//
//   - The keys that the propagator writes, and all keys of its Fields, belong to the propagator: a program's own member
//     of _meta under such a key is not sent, since it would name another trace. The W3C's three keys always belong to
//     the propagator.
//   - All other keys do not belong to the propagator: progressToken, and names with a prefix, which belong to the
//     protocol, to extensions and to programs. Names that the protocol forbids in _meta are dropped.
//   - In addition to the three keys, at most 64 keys with 8 KiB in total are written, and read.
//   - HTTP headers and the environment of a child process repeat only the keys of Fields.
//   - The propagator sees only the baggage that the other end may have: see [WithBaggageKeys].
//   - If Fields has only the three keys, or none, the propagator does not read other keys.
func WithPropagators(p propagation.TextMapPropagator) Option {
	return func(c *config) {
		if p != nil {
			c.Propagator = p
		}
	}
}

// WithLoggerProvider sends log records to p as OpenTelemetry events: the event name of a record is the name of the
// event, and its context is the context of its span. Nil means the global provider, which is the default without
// [WithLogger]. [WithLogLevel] sets the lowest level; below it, the provider's Enabled is not called.
func WithLoggerProvider(p log.LoggerProvider) Option {
	return func(c *config) {
		if c.Records = p; p == nil {
			c.Records = otel.GetLoggerProvider()
		}
	}
}

// WithLogLevel sets the lowest level of log records for the LoggerProvider. Nil means the default, Info; at Debug
// there are two records for each request. The handler of [WithLogger] has its own level.
func WithLogLevel(l slog.Leveler) Option {
	return func(c *config) {
		if c.RecordLevel = l; l == nil {
			c.RecordLevel = slog.LevelInfo
		}
	}
}

// WithLogger sets a logger for log records, which replaces the global LoggerProvider. Nil changes nothing; slog's
// default logger is never used. Records are logged with the context of their span. Their message and their attribute
// event.name are the name of the event.
//
// The records of a call are written in its caller's goroutine, which waits for the handler. A separate goroutine
// writes the client's other records in order, such as records about the connection and the server's messages, so that
// a slow handler delays no call. Up to 1,024 records and 1 MiB wait; records beyond are dropped and counted. Every
// path calls Enabled, which must be quick.
//
// If the handler panics, the record is lost, and the failure is counted as a panic of a handler.
func WithLogger(l *slog.Logger) Option {
	return func(c *config) {
		if l != nil {
			c.Log = l
		}
	}
}

// WithToolNameLimit sets the number of tool and prompt names that the metrics of each client or server distinguish;
// names beyond the limit are _OTHER. Zero or less means [DefaultToolNameLimit].
func WithToolNameLimit(n int) Option {
	return func(c *config) {
		if n <= 0 {
			n = DefaultToolNameLimit
		}
		c.ToolLimit = n
	}
}

// WithSlowThreshold sets the duration from which a successful request is logged at Info instead of Debug. The default
// is [DefaultSlowThreshold]; zero or less means never.
func WithSlowThreshold(d time.Duration) Option {
	return func(c *config) { c.Slow = d }
}

// WithResourceURIInSpanName adds the URI of a resource to the name of its span. Use it if there are few URIs.
func WithResourceURIInSpanName() Option {
	return func(c *config) { c.URIInName = true }
}

// WithoutClientAddress removes client.address and client.port from a server's spans. By default, spans of requests
// over HTTP have the address of the connection, which may identify a person. Metrics never have it.
func WithoutClientAddress() Option {
	return func(c *config) { c.NoClientAddress = true }
}

// WithoutSessionTransport removes network.transport and network.protocol.version from the durations of sessions. The
// semantic conventions removed both (change 453), but no release has the change yet, so they are present by default.
func WithoutSessionTransport() Option {
	return func(c *config) { c.NoSessionTransport = true }
}

// WithExecuteToolDuration also records gen_ai.execute_tool.duration for the tool calls of clients, in seconds, for
// dashboards of the GenAI conventions. Do not use it if an agent framework records that metric, which would count
// calls twice. It adds one measurement to each call, with the tool's name and the error.type. By default it is off.
func WithExecuteToolDuration() Option {
	return func(c *config) { c.ExecuteTool = true }
}

// WithContextCost records how much of a language model's context each tool takes: the size of its definition, with
// name and description separate from the schema, as gauges in bytes and in estimated tokens, and the size of its
// results as a histogram in bytes. Package mcp/contextcost describes the calculation. By default it is off, because
// it adds four series for each tool and one measurement to each call; the size of the whole list is always a metric.
//
// The gauges describe the latest complete list that the client got, by Tools for example, and are empty without one.
// [WithToolNameLimit] bounds the tools of each client; tools beyond the limit are added up as _OTHER.
func WithContextCost() Option {
	return func(c *config) { c.ContextCost = true }
}

// WithProfileLabels adds profile labels to goroutines: mcp.method.name, gen_ai.tool.name or gen_ai.prompt.name, and
// span_id, the id of the operation's span if that is recorded. A goroutine has the labels while it
//
//   - handles a request, a notification or a task of a server: middleware, the checks of arguments, the handler, and
//     the encoding and sending of the answer;
//   - runs a handler of a client for a request, notification or progress report of the server;
//   - decodes the result of a call, or checks it against the tool's schema.
//
// The labels are set as by [runtime/pprof.Do]: existing labels in the operation's context stay, and are restored
// afterwards; goroutines that a handler starts inherit all labels, and the handler's context has them. CPU and
// goroutine profiles show labels.
//
// The result of a task is decoded without labels, and the adapters for other SDKs set none.
//
// The names are those on metrics: beyond [WithToolNameLimit] they are _OTHER. By default there are no labels, at no
// cost; with labels, each operation takes four more allocations. Pyroscope finds the profile of a span by span_id:
// https://grafana.com/docs/pyroscope/latest/configure-client/trace-span-profiles/go-span-profiles
func WithProfileLabels() Option {
	return func(c *config) { c.ProfileLabels = true }
}

// WithNotificationSpans sets the methods for which a sent or handled notification has a span and a sample of the
// duration. All notifications are counted. The default, and nil, is all methods except progress, message and cancelled.
// A notification of method notifications/cancelled has a span if the call that it cancels has a span. If wanted panics,
// there is no span, and the failure is logged and counted as a panic of a handler.
func WithNotificationSpans(wanted func(method string) bool) Option {
	return func(c *config) {
		if wanted != nil {
			c.Notifications = wanted
		}
	}
}

// WithPublicEndpointFn sets a function that reports whether the sender of a handled message is untrusted with the
// server's traces. The span of such a message starts a new trace, so that the server makes the sampling decision, and
// has links to the sender's span and to the ambient span of the handler. The baggage in the message is ignored.
//
// ctx is the context of the handler: a server's package finds the caller in it, see RequestFrom in package mcpserver.
// The default and nil mean that all senders are trusted, except senders that the server itself does not trust:
// package mcpserver does not trust clients over HTTP without a principal. If untrusted panics, the sender is not
// trusted, and the failure is logged and counted as a panic of a handler.
func WithPublicEndpointFn(untrusted func(ctx context.Context) bool) Option {
	return func(c *config) { c.Untrusted = untrusted }
}

// WithBaggageKeys sets the baggage members that may cross a network: from a client in the messages and the HTTP
// headers of its requests, from a server in its requests to clients. Baggage holds a program's notes about its work,
// such as a user, a tenant or a price, and the other end of a network may be a stranger: by default no member crosses
// a network. "*" means all members. The same keys limit the baggage that servers on a network can pass to the
// handlers of clients.
//
// A server that is a child process, or in the same process, was started by the program or its user and gets all
// baggage, as far as the propagator writes it; so do the parent process of a server and the peer on a Unix socket.
// HTTP to the loopback interface is a network, because any program may listen there. Several servers that need
// different members need separate [Telemetry] values.
func WithBaggageKeys(keys ...string) Option {
	return func(c *config) { c.Baggage = slices.Clone(keys) }
}

// WithBaggageLabel adds the baggage member with this key, such as gen_ai.agent.name, to the durations of operations,
// mcp.client.operation.duration and mcp.server.operation.duration. They then show which agent calls which tool, and
// how fast. By default there is no label. The baggage is that in the context of the call; a server gets it from its
// client, see [WithBaggageKeys].
//
// Choose a key with few values. Each client and server distinguishes the first 32 values; others, and values longer
// than 128 bytes, are _OTHER. The labels share the bound on the series of these metrics with the names of tools: once
// half of the series are in use, every new series has the label _OTHER. If the names of clients become _OTHER, there is
// no label.
func WithBaggageLabel(key string) Option {
	return func(c *config) { c.Label = key }
}

// WithAudit records each tools/call in an audit log: who called which tool, a keyed hash of the arguments, the decision of
// a proxy's policy, and whether the tool ran, did not run, or may have run. The record is a line of the log's file and
// the log record mcp_client.audit.call or mcp_server.audit.call, at Info, which contains the head of the file's chain.
// See https://github.com/mcpotel/mcpotel/blob/main/docs/guides/audit.md.
//
// A call waits for the write to the file, but not for the disk. If the write fails, the call continues, the log record
// has level Error, and mcp_client.audit.losses or mcp_server.audit.losses counts the record.
//
// The default and nil mean no audit. Close the log after all clients and servers of the Telemetry.
func WithAudit(l *audit.Log) Option {
	return func(c *config) { c.Audit = (*auditlog.Log)(l) }
}

// WithOuterToolSpan marks the current span of ctx as the caller's own execute_tool span of the GenAI conventions. A
// tool call under it sets its attributes on that span and starts no span of its own; the caller sets the status. The
// mark has an effect only while that span is the current span.
func WithOuterToolSpan(ctx context.Context) context.Context {
	return settings.WithOuterSpan(ctx)
}
