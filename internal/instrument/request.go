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

// TargetKind says what a request is aimed at, and so which attribute names the target.
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

// String returns the word that telemetry has for k.
func (k MessageKind) String() string { return words.MessageKinds[k] }

// resultInputRequired is the type of a result that asks the client for something. (specification 2026-07-28,
// basic/patterns/mrtr)
const resultInputRequired = "input_required"

// resultTask is the type of a result that is a task, which goes on. (tasks extension)
const resultTask = "task"

// Request is a request or a notification that is about to be sent.
type Request struct {
	Method     string
	TargetKind TargetKind
	Target     string // name of the tool or prompt
	URI        string // of the resource, if the method has one

	// Stranger says that the target is none of those that the server lists: metrics have it as _OTHER.
	Stranger bool

	// Foreign says that another program has chosen the method: metrics have one that is none of the protocol's as _OTHER.
	Foreign bool

	// Corr is the correlation id of the logical call that this request goes on with; zero starts a new one.
	Corr Corr

	// Link names the request that this one repeats or continues.
	Link Ref

	// Round numbers the requests of a call that bring the server what it asked for in the answer before, from 1.
	Round int

	// Reissue says that the request repeats one that was lost with its connection.
	Reissue bool

	// Notification says that there will be no answer. It is counted, once it is sent; whether it has a span and a
	// duration is for [telemetry.WithNotificationSpans].
	Notification bool

	// Attributes are those of the program for the span, in addition to those of [telemetry.WithSpanAttributesFn].
	Attributes []attribute.KeyValue

	// Beside says that the log records are written beside the operation, as those of all that is handled are: its
	// goroutine has others to serve, who must not wait for a log handler.
	Beside bool

	// Parent, if not zero, takes the place of ctx's span. A notifications/cancelled names the request it is about here,
	// and has a span if that request had one: it is exported if that is.
	Parent Ref
}

// startRequest begins a request. The context that it returns is the one to send it with.
func (s *side) startRequest(ctx context.Context, r Request) (context.Context, Op) {
	ctx = r.Parent.context(ctx)
	op := Op{
		side: s, ctx: ctx, direction: telemetry.Sent,
		method: r.Method, target: r.Target, uri: r.URI, ids: ids{corr: r.Corr}, round: int32(r.Round),
		notification: r.Notification, metric: opMetric{measured: true}, log: opLog{reissue: r.Reissue, beside: r.Beside},
	}
	op.info, op.exact = s.operation(telemetry.Sent, r.TargetKind, r.Method, r.Target, !r.Foreign, !r.Stranger)
	spanned := true
	if r.Notification {
		op.metric.measured = s.traces.spansNotification(ctx, r.Method)
		spanned = op.metric.measured || r.Method == words.MethodCancelled && r.Parent != (Ref{})
	}
	if spanned && op.wantsSpan() {
		op.startSpan(r.TargetKind, r.Attributes, r.Link, Ref{})
	}
	if !op.metric.measured && !op.trace.recording { // the notice of a call that is not exported names the call itself
		op.ctx, op.trace.span = ctx, nil
	}
	usercode.Pass(op.begin, op.abandon)
	return op.ctx, op
}

// Incoming is a request or a notification that has arrived and has a handler.
type Incoming struct {
	Method     string
	TargetKind TargetKind
	Target     string // name of the tool or prompt
	URI        string // of the resource, if the method has one
	ID         string // of the request, as text; empty for one that is an integer, where HasIntID says so

	// IntID is an id that is an integer, if HasIntID says that it is one. Its text is made when a signal needs it.
	IntID    int64
	HasIntID bool

	// Known says that this side serves the method, TargetKnown that it has the target. What it does not know is _OTHER,
	// except the methods of the protocol, and itself only on a span.
	Known, TargetKnown bool

	Notification bool

	// TraceContext is what the sender wrote into _meta. Who has the raw _meta may set Meta in place of
	// TraceContext.Others: what other propagators than the W3C's read is then taken from it, if there are any.
	TraceContext
	Meta []byte

	// Header has the headers of the HTTP request that brought the message, nil for none. They are read if the message
	// names no span and the context has none: for senders that know of HTTP only.
	Header http.Header

	// Untrusted says that the sender is not trusted with this side's traces: its span is linked to and is no parent, and
	// its baggage is not read. What the context has of its own counts, unlike with [telemetry.WithPublicEndpointFn].
	Untrusted bool

	// ClientName and ClientVersion are what a client calls itself; empty if it has not said so.
	ClientName, ClientVersion string

	// RemoteAddr is the address of a client over HTTP, as net/http has it: see [telemetry.WithoutClientAddress].
	RemoteAddr string

	Size int // of the frame in bytes; zero if it is counted elsewhere
	Peer *Peer
}

// startHandler begins the handling of a message, which op becomes. The context that it returns is the one to handle it
// with. The parent of its span is what the sender wrote into the message, with a link to the span of ctx if that is
// another one; or else the span of ctx. For a sender that is not trusted it is the span of ctx, with a link to what the
// sender wrote; where [telemetry.WithPublicEndpointFn] says so there is no parent, and a link to both.
func (s *side) startHandler(ctx context.Context, in *Incoming, op *Op) context.Context {
	from := s.traces.extract(ctx, in)
	ctx = from.ctx
	*op = Op{
		side: s, ctx: ctx, direction: telemetry.Received, peer: in.Peer,
		method: in.Method, target: in.Target, uri: in.URI, bytesIn: in.Size,
		ids:          ids{peerID: in.ID, id: in.IntID, hasID: in.HasIntID},
		trace:        opTrace{remote: in.RemoteAddr},
		notification: in.Notification, metric: opMetric{measured: true}, log: opLog{beside: true},
	}
	op.info, op.exact = s.operation(telemetry.Received, in.TargetKind, in.Method, in.Target, in.Known, in.TargetKnown)
	if in.Notification {
		op.metric.measured = s.traces.spansNotification(ctx, in.Method)
	}
	if op.metric.measured && op.wantsSpan() {
		op.startSpan(in.TargetKind, nil, from.link, from.remote)
	}
	usercode.Pass(op.begin, op.abandon)
	op.startEntry()
	usercode.Pass(op.logStart, op.abandon)
	if in.Untrusted {
		usercode.Pass(func() { op.adviseToJoin(in, from.remote) }, op.abandon)
	}
	if in.Size > 0 {
		kind := KindRequest
		if in.Notification {
			kind = KindNotification
		}
		s.metrics.messageSize(op.ctx, telemetry.Received, kind, in.Size)
	}
	return op.ctx
}

// begin finds out which signals are on, counts the request and reads the clock if one of them needs its duration.
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
	if op.progress.timed || op.flight.on && op.direction == telemetry.Received {
		op.progress.start = time.Now()
	}
}
