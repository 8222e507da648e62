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

// Op is one request or notification, sent or being handled, from its start to [Op.End]. It is a value that its owner
// keeps and does not share; its methods are not for concurrent use, and do nothing on the zero Op.
//
// The fields of an Op are facts of the operation, and what each signal keeps of it: a span, samples of metrics, log
// records, and an entry of the flight recorder.
type Op struct {
	side *side // nil for the zero Op
	info *opInfo
	peer *Peer           // nil if nothing is known of the peer
	ctx  context.Context // with the span; log records and exemplars find the span there

	method, target, uri string // in full
	ids                 ids
	progress            progress
	trace               opTrace
	flight              opFlight
	bytesOut, bytesIn   int // sizes of the messages; zero if not known
	retries, round      int32
	log                 opLog
	metric              opMetric
	direction           telemetry.Direction
	exact               bool // the names of info are method and target
	notification        bool
}

// progress is how far an operation has come, and when.
type progress struct {
	start    time.Time     // zero if no signal needs the time before the first sending
	sent     time.Duration // the first sending, from start; without a start, from the base of the flight recorder
	answered time.Time     // when the answer was sent or came; zero if that is now, or if no signal needs the time
	timed    bool          // a signal needs the duration
	waiting  bool          // for something that comes before the sending
	sending  bool          // sending has begun
	accepted bool          // the message was accepted for sending
	ended    bool
}

// opTrace is the span of an operation, and what only the span has.
type opTrace struct {
	span       trace.Span // nil for none
	caller     *caller    // the client of a server; nil if the client has not named itself
	remote     string     // address of the sender, over HTTP
	recording  bool       // the span records
	borrowed   bool       // the span is the caller's
	kept       bool       // beyond the answer, for the caller to end
	superseded bool       // another request follows: the span ends when this one was answered
}

// opMetric is what metrics keep of an operation.
type opMetric struct {
	measured bool // has a sample of the duration
	counted  bool // is among the active operations
}

// opLog is what log records need of an operation.
type opLog struct {
	announced bool // the start was logged
	reissue   bool // the request repeats one that was lost
	beside    bool // the goroutine of the operation does not wait for the handler
}

// opFlight is the entry of an operation in the flight recorder.
type opFlight struct {
	entry uint64 // number of the entry; zero for none yet
	on    bool   // the operation has an entry
}

// Started returns when the operation began, or the zero time if no signal needs times.
func (op *Op) Started() time.Time { return op.progress.start }

// Timed reports whether a metric records how long decoding takes. If not, the caller need not read the clock for
// [Op.Decoded].
func (op *Op) Timed() bool { return op.side != nil && op.side.ins.decode.Enabled(op.ctx) }

// Admit says that the message goes to this peer (nil if nothing is known of it yet), and a request under this id.
func (op *Op) Admit(p *Peer, id int64) {
	if op.side == nil {
		return
	}
	op.peer, op.ids.id, op.ids.hasID = p, id, true
	op.logStart()
}

// Meet is [Op.Admit] for those who are not told the id.
func (op *Op) Meet(p *Peer) {
	if op.side == nil {
		return
	}
	op.peer = p
	op.logStart()
}

// Sending says that the message is about to be handed over for sending. The duration of what is sent runs from the
// first time: waiting for a connection is no part of it, waiting for room is. For what is being handled the message is
// the answer, and duration and span end there: the peer that has it may end its own before this side gets to the next
// line.
func (op *Op) Sending() {
	switch {
	case op.direction == telemetry.Received:
		if !op.progress.start.IsZero() {
			op.progress.answered = time.Now()
		}
		return
	case op.progress.sending || !op.progress.timed && !op.flight.on:
		return
	case op.progress.timed:
		op.progress.sent = time.Since(op.progress.start)
	default: // cheaper than asking for the time of day
		op.progress.sent = op.side.flight.Now()
	}
	op.progress.sending = true
	op.startEntry()
}

// Within returns ctx, which the caller may have changed since the operation began, with the span of the operation.
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

// Waiting says that the operation begins before its request can be sent. The time until [Op.Sending] is no part of the
// duration, even if the request is never sent.
func (op *Op) Waiting() { op.progress.waiting = true }

// Answered says that the answer to a request has been decoded. What its caller does with it before [Op.End] is no part
// of the duration.
func (op *Op) Answered() {
	op.trace.kept = true
	if !op.progress.start.IsZero() {
		op.progress.answered = time.Now()
	}
}

// Supersede ends a request that another one follows, at the time at which it was answered.
func (op *Op) Supersede(r Result) {
	op.trace.superseded = true
	op.End(r)
}

// AnsweredAt says when the answer came, for an operation that ends after its caller has heard.
func (op *Op) AnsweredAt(at time.Time) { op.progress.answered = at }

// Sent says that the message of this size was accepted for sending, and implies [Op.Sending] for what is sent. Zero is
// a size that is not known. For what is being handled, the message is the answer.
func (op *Op) Sent(bytes int) {
	if op.side == nil {
		return
	}
	op.bytesOut, op.progress.accepted = bytes, true
	if op.direction == telemetry.Received {
		return // the kind of the answer is known at the end
	}
	op.Sending()
	if bytes > 0 {
		op.side.metrics.messageSize(op.ctx, telemetry.Sent, op.requestKind(), bytes)
	}
}

// Retry says that a client's message could not be sent and will be tried again.
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

// Received says that the answer has this size. It is counted at the end, when its kind is known.
func (op *Op) Received(bytes int) { op.bytesIn = bytes }

// Result says that the answer to a tool call has the tool's result, of this size as JSON.
func (op *Op) Result(bytes int) {
	if s := op.side; s != nil && s.tel.ContextCost && s.tel.ins.toolResult.Enabled(op.ctx) {
		s.tel.ins.toolResult.Record(op.ctx, int64(bytes),
			s.metrics.options().result.At(cmp.Or(op.info.target, names.Other))...)
	}
}

// Decoded says how long it took to decode the message that came in, and with what error.
func (op *Op) Decoded(d time.Duration, err error) {
	if !op.Timed() {
		return
	}
	key := decodeKey{kind: op.requestKind()}
	if op.direction == telemetry.Sent {
		key.kind = KindResponse
	}
	if err != nil {
		key.errorType = bounded(errorTypeOf(err))
	}
	op.side.ins.decode.Record(op.ctx, d.Seconds(), op.side.metrics.options().decode.At(key)...)
}

// Ref names the operation's span, or the span around it if it has none of its own.
func (op *Op) Ref() Ref {
	if op.side == nil {
		return Ref{}
	}
	return newRef(trace.SpanContextFromContext(op.ctx))
}

// RefFrom names the current span of ctx.
func RefFrom(ctx context.Context) Ref { return newRef(trace.SpanContextFromContext(ctx)) }

// requestKind is the kind of the message that the operation began with.
func (op *Op) requestKind() MessageKind {
	if op.notification {
		return KindNotification
	}
	return KindRequest
}

// facts is what is known of the connection.
func (op *Op) facts() *knownFacts {
	if op.peer == nil {
		return op.side.base
	}
	return op.peer.facts
}

// duration is the histogram for the operation.
func (op *Op) duration() metric.Float64Histogram {
	if op.direction == telemetry.Sent {
		return op.side.tel.ins.clientDuration
	}
	return op.side.tel.ins.serverDuration
}

// activeInstrument is what counts the operation while it lasts, nil for none.
func (op *Op) activeInstrument() metric.Int64UpDownCounter {
	switch {
	case op.notification: // has neither
		return nil
	case op.direction == telemetry.Sent:
		return op.side.ins.active
	}
	return op.side.ins.handlers
}

// shownMethod and shownTarget are the names as they are, but for their length. They are no part of a frame.
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
