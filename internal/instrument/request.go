package instrument

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// TargetKind is the kind of a request's target. It decides which attribute contains the target.
type TargetKind uint8

const (
	NoTarget TargetKind = iota
	Tool                // gen_ai.tool.name
	Prompt              // gen_ai.prompt.name
)

// MessageKind is the kind of a JSON-RPC message.
type MessageKind uint8

const (
	KindRequest MessageKind = iota
	KindResponse
	KindError
	KindNotification
)

// String returns the value of k in telemetry.
func (k MessageKind) String() string { return words.MessageKinds[k] }

// resultInputRequired is the type of a result that asks the client for input. (specification 2026-07-28,
// basic/patterns/mrtr)
const resultInputRequired = "input_required"

// resultTask is the type of a result that names a running task. (tasks extension)
const resultTask = "task"

// Request is a request or a notification that is about to be sent.
type Request struct {
	Method     string
	TargetKind TargetKind
	Target     string // name of the tool or prompt
	URI        string // URI of the resource if the method has one

	// Stranger means that the server does not list the target, so metrics record it as _OTHER.
	Stranger bool

	// Foreign means that another program has chosen the method, so metrics record a method outside of the protocol as
	// _OTHER.
	Foreign bool

	// Corr is the correlation id of the logical call that this request continues; zero starts a new call.
	Corr Corr

	// Link is the span of the request that this request repeats or continues.
	Link Ref

	// Round is the number of the round in a call, from 1. In each round, a request brings input that the server has asked
	// for. Zero means that the request brings no input.
	Round int

	// Reissue means that the request repeats a request that was lost with its connection.
	Reissue bool

	// Notification means that there is no answer. A sent notification is counted. [telemetry.WithNotificationSpans]
	// decides whether it has a span and a duration.
	Notification bool

	// Attributes holds attributes of the program for the span, in addition to those from
	// [telemetry.WithSpanAttributesFn].
	Attributes []attribute.KeyValue

	// Continues means that an earlier request belongs to the same call, even if Corr is zero.
	Continues bool

	// Params holds the params of a tools/call, for the audit. It is needed only if [Client.Audits] reports true.
	Params []byte

	// Beside means that a separate goroutine writes the log records, as for handled messages. The operation's own
	// goroutine also serves other operations, which must not wait for a log handler.
	Beside bool

	// Parent, if not zero, replaces the span of ctx as the parent. For notifications/cancelled, Parent is the span of the
	// cancelled request. The notification has a span if that request has one, so that both are exported or neither.
	Parent Ref
}

// startRequest starts a request. The returned context is for sending it.
func (s *side) startRequest(ctx context.Context, r Request) (context.Context, Op) {
	ctx = r.Parent.context(ctx)
	op := Op{
		side: s, ctx: ctx, direction: telemetry.DirectionSent,
		method: r.Method, target: r.Target, uri: r.URI, ids: ids{corr: r.Corr}, round: int32(r.Round),
		notification: r.Notification, metric: opMetric{measured: true}, log: opLog{reissue: r.Reissue, beside: r.Beside},
	}
	op.info, op.exact = s.operation(telemetry.DirectionSent, r.TargetKind, r.Method, r.Target, !r.Foreign, !r.Stranger)
	spanned := true
	if r.Notification {
		op.metric.measured = s.traces.spansNotification(ctx, r.Method)
		spanned = op.metric.measured || r.Method == words.MethodCancelled && r.Parent != (Ref{})
	}
	if spanned && op.wantsSpan() {
		op.startSpan(r.TargetKind, r.Attributes, r.Link, Ref{})
	}
	if !op.metric.measured && !op.trace.recording { // an unexported notification names the cancelled request itself
		op.ctx, op.trace.span = ctx, nil
	}
	if s.tel.Audit != nil && r.Method == words.MethodCallTool {
		op.auditSent(ctx, &r)
	}
	usercode.Pass(op.begin, op.abandon)
	return op.ctx, op
}

// Incoming is a received request or notification that has a handler.
type Incoming struct {
	Method     string
	TargetKind TargetKind
	Target     string // name of the tool or prompt
	URI        string // URI of the resource if the method has one
	ID         string // id of the request, as text; empty if the id is an integer and HasIntID is set

	// IntID is the id if the id is an integer and HasIntID is set. Its text is created when a signal needs it.
	IntID    int64
	HasIntID bool

	// Known means that this side serves the method. TargetKnown means that this side has the target. Metrics record
	// unknown names as _OTHER, except methods of the protocol. Spans keep the real name.
	Known, TargetKnown bool

	Notification bool

	// TraceContext holds the fields that the sender has written into _meta. A caller that has the raw _meta may set Meta
	// in place of TraceContext.Others. Fields for propagators other than the W3C's are then read from Meta, if there are
	// such propagators.
	TraceContext
	Meta []byte

	// Header holds the headers of the HTTP request that brought the message. It may be nil. The headers count only if
	// neither the message nor the context names a span, for senders that propagate only over HTTP.
	Header http.Header

	// Untrusted means that the sender may not extend this side's traces. The sender's span becomes a link instead of the
	// parent, and the sender's baggage is ignored. Unlike with [telemetry.WithPublicEndpointFn], the span and the baggage
	// of the context are still used.
	Untrusted bool

	// ClientName and ClientVersion are the name and version that the client has sent for itself. They may be empty.
	ClientName, ClientVersion string

	// RemoteAddr is the address of an HTTP client, as in net/http: see [telemetry.WithoutClientAddress].
	RemoteAddr string

	// Principal is the authenticated user of the sender, for the audit. It may be empty.
	Principal string

	// Params holds the params of a tools/call, for the audit. It is needed only if Audits reports true.
	Params []byte

	// ReportsTool means that the handler calls [Op.ToolBegins] before it runs the tool of a tools/call, or that
	// [Server.Relays] is called.
	ReportsTool bool

	Size int // frame size in bytes; zero if the size is recorded elsewhere
	Peer *Peer
}

// startHandler starts the handling of a message and stores its operation in op. The returned context is for the
// handler.
//
// The parent of the new span is the span that the message names. On a server, if ctx has another span, the new span
// links to that one. If the message names no span, the parent is the span of ctx. For an untrusted sender, the parent
// is the span of ctx, with a link to the span that the message names. If [telemetry.WithPublicEndpointFn] distrusts the
// sender, the new span has no parent and links to both.
func (s *side) startHandler(ctx context.Context, in *Incoming, op *Op) context.Context {
	from := s.traces.extract(ctx, in)
	ctx = from.ctx
	*op = Op{
		side: s, ctx: ctx, direction: telemetry.DirectionReceived, peer: in.Peer,
		method: in.Method, target: in.Target, uri: in.URI, bytesIn: in.Size,
		ids:          ids{peerID: in.ID, id: in.IntID, hasID: in.HasIntID},
		trace:        opTrace{remote: in.RemoteAddr},
		notification: in.Notification, metric: opMetric{measured: true}, log: opLog{beside: true},
	}
	op.info, op.exact = s.operation(telemetry.DirectionReceived, in.TargetKind, in.Method, in.Target, in.Known,
		in.TargetKnown)
	if in.Notification {
		op.metric.measured = s.traces.spansNotification(ctx, in.Method)
	}
	if op.metric.measured && op.wantsSpan() {
		op.startSpan(in.TargetKind, nil, from.link, from.remote)
	}
	if s.tel.Audit != nil && in.Method == words.MethodCallTool && !in.Notification {
		op.auditHandled(in)
	}
	usercode.Pass(op.begin, op.abandon)
	op.startEntry()
	usercode.Pass(op.logStart, op.abandon)
	if in.Untrusted {
		usercode.Pass(func() { op.logJoinAdvice(in, from.remote) }, op.abandon)
	}
	if in.Size > 0 {
		kind := KindRequest
		if in.Notification {
			kind = KindNotification
		}
		s.metrics.messageSize(op.ctx, telemetry.DirectionReceived, kind, in.Size)
	}
	return op.ctx
}

// begin determines the enabled signals, counts the request, and reads the clock if a signal needs the duration.
func (op *Op) begin() {
	s := op.side
	if active := op.activeInstrument(); active != nil && active.Enabled(op.ctx) {
		active.Add(op.ctx, 1, s.metrics.activeOptions(op.info)...)
		op.metric.counted = true
	}
	level := slog.LevelWarn
	if op.notification {
		level = slog.LevelDebug
	}
	op.flight.on = op.metric.measured
	op.progress.timed = op.trace.recording || op.metric.measured && op.duration().Enabled(op.ctx) ||
		s.logs.enabled(op.ctx, level) || op.executes()
	if op.progress.timed || op.flight.on && op.direction == telemetry.DirectionReceived {
		op.progress.start = time.Now()
	}
}
