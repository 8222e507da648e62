package instrument

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// Op is one request or notification that is sent or handled, from its start to [Op.End]. An Op is a value. Its owner
// keeps it and does not share it. Its methods are not safe for concurrent use. Methods of the zero Op do nothing.
//
// The fields hold facts of the operation and the state of each signal: a span, samples of metrics, log records, and an
// entry of the flight recorder.
type Op struct {
	side *side // nil for the zero Op
	info *opInfo
	peer *Peer           // nil if the peer is not known yet
	ctx  context.Context // contains the span; for log records and exemplars

	method, target, uri string // complete names, without truncation
	ids                 ids
	progress            progress
	trace               opTrace
	flight              opFlight
	bytesOut, bytesIn   int // sizes of the messages in bytes; zero if unknown
	retries, round      int32
	log                 opLog
	metric              opMetric
	audit               *auditEntry // nil if the operation is not audited
	direction           telemetry.Direction
	exact               bool // the names in info equal method and target
	relayed             bool // audit belongs to the operation that relays this request
	continues           bool // an earlier request belongs to the same call
	notification        bool
}

// progress records how far an operation has come, and the times.
type progress struct {
	start time.Time     // zero if no signal needs the time before the first sending
	sent  time.Duration // time of the first sending since start, or since the base of the flight recorder if start is zero
	// answered is the time at which the answer was sent or arrived. It is zero if no signal needs it, or if it equals the
	// end of the operation.
	answered time.Time
	timed    bool // a signal needs the duration
	waiting  bool // the operation waits for something before it can send
	sending  bool // sending has begun
	accepted bool // the transport accepted the message
	ended    bool
}

// opTrace holds the span of an operation and the state that only the span needs.
type opTrace struct {
	span       trace.Span // nil for none
	caller     *caller    // the server's client; nil if the client has sent no name
	remote     string     // address of the sender over HTTP
	recording  bool       // the span is recording
	borrowed   bool       // the span belongs to the caller
	kept       bool       // the span stays open after the answer, until the caller ends the operation
	superseded bool       // another request follows: the span ends at the time of the answer
}

// opMetric holds the state of an operation's metrics.
type opMetric struct {
	measured bool // the duration is recorded
	counted  bool // the operation is counted as active
}

// opLog holds the state of an operation's log records.
type opLog struct {
	announced bool // the start was logged
	reissue   bool // the request repeats a lost request
	beside    bool // the operation's goroutine does not wait for the log handler
}

// opFlight holds the entry of an operation in the flight recorder.
type opFlight struct {
	entry uint64 // number of the entry; zero before there is one
	on    bool   // the operation has an entry
}

// Started returns the start of the operation, or the zero time if no signal needs times.
func (op *Op) Started() time.Time { return op.progress.start }

// Timed reports whether a metric records the duration of decoding. If it does not, the caller can skip reading the
// clock for [Op.Decoded].
func (op *Op) Timed() bool { return op.side != nil && op.side.ins.decode.Enabled(op.ctx) }

// Admit sets the receiver of the message and the id of the request. p is nil if the peer is not known yet.
func (op *Op) Admit(p *Peer, id int64) {
	if op.side == nil {
		return
	}
	op.peer, op.ids.id, op.ids.hasID = p, id, true
	op.logStart()
}

// Meet is [Op.Admit] for callers that do not know the id.
func (op *Op) Meet(p *Peer) {
	if op.side == nil {
		return
	}
	op.peer = p
	op.logStart()
}

// Sending records the time just before a message is passed to the transport. For a sent request or notification, the
// duration starts at the first Sending: it excludes the wait for a connection, and includes the wait for room in the
// queue. For a handled request, the message is the answer: duration and span end at this time, because the peer may
// receive the answer and end its own span before the transport's Send returns here.
func (op *Op) Sending() {
	switch {
	case op.direction == telemetry.DirectionReceived:
		if !op.progress.start.IsZero() {
			op.progress.answered = time.Now()
		}
		return
	case op.progress.sending || !op.progress.timed && !op.flight.on:
		return
	case op.progress.timed:
		op.progress.sent = time.Since(op.progress.start)
	default: // cheaper than reading the time of day
		op.progress.sent = op.side.flight.Now()
	}
	op.progress.sending = true
	op.startEntry()
}

// Within returns ctx with the span of the operation. The caller may have changed ctx since the start.
func (op *Op) Within(ctx context.Context) context.Context {
	if op.side == nil || op.trace.span == nil {
		return ctx
	}
	if !trace.SpanContextFromContext(ctx).Equal(op.trace.span.SpanContext()) {
		ctx = trace.ContextWithSpan(ctx, op.trace.span)
	}
	op.ctx = ctx
	return ctx
}

// Waiting marks an operation that starts before its request can be sent. The time until [Op.Sending] does not count
// towards the duration, even if the request is never sent.
func (op *Op) Waiting() { op.progress.waiting = true }

// Answered marks the moment at which the answer to a request is decoded. The duration excludes the caller's work
// between Answered and [Op.End].
func (op *Op) Answered() {
	op.trace.kept = true
	if !op.progress.start.IsZero() {
		op.progress.answered = time.Now()
	}
}

// Supersede ends the operation of a request after which another request follows. The operation ends at the time of the
// first request's answer.
func (op *Op) Supersede(r Result) {
	op.trace.superseded = true
	op.End(r)
}

// AnsweredAt sets the time of the answer, for an operation that ends after its caller has received the result.
func (op *Op) AnsweredAt(at time.Time) { op.progress.answered = at }

// Sent records that the transport has accepted a message of this size. For a sent message, Sent also calls
// [Op.Sending]. Zero means an unknown size. For a handled request, the message is the answer.
func (op *Op) Sent(bytes int) {
	if op.side == nil {
		return
	}
	op.bytesOut, op.progress.accepted = bytes, true
	if op.direction == telemetry.DirectionReceived {
		return // the kind of the answer is known at the end
	}
	op.Sending()
	if bytes > 0 {
		op.side.metrics.messageSize(op.ctx, telemetry.DirectionSent, op.requestKind(), bytes)
	}
}

// Retry records that a client's message could not be sent and will be retried.
func (op *Op) Retry(reason string) {
	if op.side == nil || op.side.ins.retries == nil {
		return
	}
	op.retries++
	reason = words.OneOf(words.RetryReasons, reason)
	s, retries := op.side, op.side.ins.retries
	if retries.Enabled(op.ctx) {
		retries.Add(op.ctx, 1, s.metrics.options().retry.At(reason)...)
	}
	if s.logs.enabled(op.ctx, slog.LevelDebug) {
		var buf [maxFields]slog.Attr
		op.emit(slog.LevelDebug, names.EventMCPClientSendRetry, append(op.identity(buf[:0]),
			slog.String(names.KeyMCPClientRetryReason, reason), slog.Int(names.KeyMCPClientSendRetries, int(op.retries)))...)
	}
}

// Received sets the size of the answer in bytes. The size is recorded at the end, when the kind of the answer is known.
func (op *Op) Received(bytes int) { op.bytesIn = bytes }

// Result records the size in bytes of a tool's result as JSON, in the answer to a tool call.
func (op *Op) Result(bytes int) {
	if s := op.side; s != nil && s.tel.ContextCost && s.tel.ins.toolResult.Enabled(op.ctx) {
		s.tel.ins.toolResult.Record(op.ctx, int64(bytes),
			s.metrics.options().result.At(cmp.Or(op.info.target, names.Other))...)
	}
}

// Decoded records the duration of decoding the received message. err is the error of decoding, or nil.
func (op *Op) Decoded(d time.Duration, err error) {
	if !op.Timed() {
		return
	}
	key := decodeKey{kind: op.requestKind()}
	if op.direction == telemetry.DirectionSent {
		key.kind = KindResponse
	}
	if err != nil {
		key.errorType = bounded(errorTypeOf(err))
	}
	op.side.ins.decode.Record(op.ctx, d.Seconds(), op.side.metrics.options().decode.At(key)...)
}

// Ref returns the name of the operation's span. If the operation has no span, Ref returns the name of the surrounding
// span.
func (op *Op) Ref() Ref {
	if op.side == nil {
		return Ref{}
	}
	return newRef(trace.SpanContextFromContext(op.ctx))
}

// RefFrom returns the name of the current span of ctx.
func RefFrom(ctx context.Context) Ref { return newRef(trace.SpanContextFromContext(ctx)) }

// requestKind returns the kind of the operation's first message.
func (op *Op) requestKind() MessageKind {
	if op.notification {
		return KindNotification
	}
	return KindRequest
}

// facts returns the facts of the connection. If the peer is not known, it returns the facts of the network.
func (op *Op) facts() *knownFacts {
	if op.peer == nil {
		return op.side.base
	}
	return op.peer.facts
}

// duration returns the histogram for the operation.
func (op *Op) duration() metric.Float64Histogram {
	if op.direction == telemetry.DirectionSent {
		return op.side.tel.ins.clientDuration
	}
	return op.side.tel.ins.serverDuration
}

// activeInstrument returns the counter of active operations. It returns nil for a notification.
func (op *Op) activeInstrument() metric.Int64UpDownCounter {
	switch {
	case op.notification: // is not counted as active
		return nil
	case op.direction == telemetry.DirectionSent:
		return op.side.ins.active
	}
	return op.side.ins.handlers
}

// shownMethod and shownTarget return the full names, truncated to a limit. The strings do not share memory with a
// frame.
func (op *Op) shownMethod() string {
	if op.exact {
		return op.info.method
	}
	return truncate(op.method, words.MaxName)
}

func (op *Op) shownTarget() string {
	if op.exact {
		return op.info.target
	}
	return truncate(op.target, words.MaxName)
}
