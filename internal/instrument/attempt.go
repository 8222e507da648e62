package instrument

import (
	"context"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/instrument/flight"
	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// AttemptStart describes an attempt to connect that is about to start.
type AttemptStart struct {
	Number    int  // number of the attempt since the connection was last ready, from 1
	Reconnect bool // the client was ready before

	// Parent, if not zero, replaces the span of ctx as the parent. The first attempt has a Parent, because it belongs to
	// the caller that wants the connection.
	Parent Ref

	// Previous names the span of the preceding attempt. An attempt with a Previous belongs to no caller's request, so it
	// starts its own trace, with a link to that span. One trace for all attempts could last for weeks.
	Previous Ref
}

// Attempt is one attempt to connect, from opening the transport to the end of the negotiation. An Attempt is a value;
// its owner keeps it and does not share it. Methods of the zero Attempt do nothing.
type Attempt struct {
	client *Client
	ctx    context.Context
	span   trace.Span
	kind   string
	number int
	start  time.Time
	server implementation
	ended  bool
}

type attemptKey struct{ kind, errorType string }

// StartAttempt starts an attempt to connect. The returned context is for the requests of the negotiation: their spans
// become children of the attempt's span. The context must not be used after the attempt.
func (c *Client) StartAttempt(ctx context.Context, a AttemptStart) (context.Context, Attempt) {
	if c == nil {
		return ctx, Attempt{}
	}
	kind := words.AttemptKinds[0]
	if a.Reconnect {
		kind = words.AttemptKinds[1]
	}
	opts := []trace.SpanStartOption{trace.WithAttributes(present(c.identify([]attribute.KeyValue{
		attribute.Int(names.KeyMCPClientConnectionAttemptNumber, a.Number),
		attribute.String(names.KeyMCPClientConnectionAttemptKind, kind),
		c.transport(),
	})...)...)}
	ctx = a.Parent.context(ctx)
	if a.Previous != (Ref{}) {
		opts = append(opts, trace.WithNewRoot(), trace.WithLinks(trace.Link{SpanContext: a.Previous.spanContext()}))
	}
	ctx, span := c.tel.tracer.Start(ctx, names.SpanMCPClientConnect, opts...)
	return ctx, Attempt{client: c, ctx: ctx, span: span, kind: kind, number: a.Number, start: time.Now()}
}

// Ref names the attempt's span.
func (a *Attempt) Ref() Ref {
	if a.client == nil {
		return Ref{}
	}
	return newRef(a.span.SpanContext())
}

// TraceContext returns the trace context of the attempt's span, for propagation to the server.
func (a *Attempt) TraceContext() TraceContext {
	if a.client == nil {
		return TraceContext{}
	}
	return a.client.traces.inject(a.ctx)
}

// Ready ends the attempt because the connection to p is ready. name and version are the server's, as sent in the
// negotiation; they are empty if the server sent none. A metric shows them while the client is ready.
func (a *Attempt) Ready(p *Peer, name, version string) {
	if a.client != nil && !a.ended {
		a.server = newImplementation(name, version)
		if p != nil {
			a.server.protocol = p.facts.MCPVersion
		}
		a.client.setServer(a.server)
		a.end(slog.LevelInfo, nil)
	}
}

// End ends the attempt with the reason why the connection is not ready. A nil err means that the attempt has succeeded;
// unlike Ready, End does not record the server. Only the first call of Ready, End or ProbeLost counts.
func (a *Attempt) End(err error) {
	level := slog.LevelInfo
	if err != nil {
		level = slog.LevelWarn
	}
	a.end(level, err)
}

// ProbeLost ends the attempt because the connection ended during the probe, as with servers that know only the legacy
// era. Span, metric and flight recorder record no failure, and the log record is not a warning, because the client
// immediately tries again without a probe.
func (a *Attempt) ProbeLost(err error) { a.end(slog.LevelInfo, err) }

func (a *Attempt) end(level slog.Level, err error) {
	c := a.client
	if c == nil || a.ended {
		return
	}
	a.ended = true
	elapsed := time.Since(a.start)
	errorType := "" // empty unless the attempt failed
	failed := level == slog.LevelWarn
	if failed {
		errorType = wordOf(errorTypeOf(err))
	}
	c.flight.Note(flight.Entry{Brief: flight.Brief{
		Kind: flight.Attempt, Elapsed: elapsed, Word: flight.LabelOf(errorType), Failed: failed,
		In: int64(a.number),
	}, Trace: a.span.SpanContext().TraceID()})
	a.endSpan(failed, errorType, err)
	if c.tel.ins.attempt.Enabled(a.ctx) { // after the end of the span, because exemplars depend on it
		c.tel.ins.attempt.Record(a.ctx, elapsed.Seconds(),
			c.metrics.options().attempt.At(attemptKey{a.kind, bounded(errorType)})...)
	}
	if !c.logs.enabled(a.ctx, level) {
		return
	}
	var buf [maxFields]slog.Attr
	fields := append(buf[:0],
		slog.Int(names.KeyMCPClientConnectionAttemptNumber, a.number),
		slog.String(names.KeyMCPClientConnectionAttemptKind, a.kind),
		slog.Float64(names.KeyMCPClientDuration, elapsed.Seconds()))
	if err != nil {
		fields = appendText(append(fields, slog.String(names.KeyErrorType, wordOf(errorTypeOf(err)))),
			names.KeyExceptionMessage, c.textOf(a.ctx, err))
	}
	fields = appendText(fields, names.KeyMCPClientServerName, a.server.name)
	fields = appendText(fields, names.KeyMCPClientServerVersion, a.server.version)
	c.logs.emit(a.ctx, level, names.EventMCPClientConnectionAttempt, fields...)
}

func (a *Attempt) endSpan(failed bool, errorType string, err error) {
	defer a.span.End() // deferred, because the user's redactor may panic or end the goroutine
	if !a.span.IsRecording() {
		return
	}
	a.span.SetAttributes(present(optional(names.KeyMCPClientServerName, a.server.name),
		optional(names.KeyMCPClientServerVersion, a.server.version))...)
	if failed {
		a.span.SetAttributes(attribute.String(names.KeyErrorType, errorType))
		a.span.SetStatus(codes.Error, a.client.textOf(a.ctx, err))
	}
}
