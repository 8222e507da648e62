package instrument

import (
	"cmp"
	"context"
	"log/slog"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// Op is one request or notification, sent or being handled, from its start to [Op.End]. It is a value that its owner
// keeps and does not share; its methods are not for concurrent use, and do nothing on the zero Op.
type Op struct {
	side   *side
	info   *opInfo
	peer   *Peer
	caller *caller         // of a server; nil if the client has not said what it is called
	ctx    context.Context // with the span; this is how log records and exemplars find it
	span   trace.Span      // nil for none

	start time.Time     // zero if no signal needs the time before the first sending
	sent  time.Duration // the first sending, from the start, or from the base of the flight recorder if there is no start
	entry uint64        // of the flight recorder; zero for none yet

	answered time.Time // when the answer was handed over, or came; zero if that is now, or no signal needs the time

	corr            Corr
	corrText        string // the ids, once they were asked for
	idText          string
	method, target  string // as they are
	uri             string
	id              int64
	peerID          string // the id of what the peer sent, as it is, unless hasID says that it is id
	remote          string // where that came from, over HTTP
	hasID           bool
	direction       telemetry.Direction
	bytesOut        int
	bytesIn         int
	retries         int
	round           int
	exact           bool // info has the names as they are
	notification    bool
	measured        bool // has a sample of the duration
	recording       bool // the span is
	borrowed        bool // the span is the caller's
	counted         bool // among the active ones
	timed           bool
	recorded        bool // by the flight recorder, and requests in the statistics
	announced, left bool // the start was logged; the operation has ended
	sending         bool // has begun
	accepted        bool // sent
	reissue         bool
	waiting         bool // for what comes before the sending
	kept            bool // beyond its answer, for its caller to end
	superseded      bool // by another request: its span ends when it was answered
	beside          bool // log records are written beside it
}

// Started returns when the operation began, or the zero time if no signal needs times.
func (op *Op) Started() time.Time { return op.start }

// Timed reports whether a metric records how long decoding takes. If not, the caller need not read the clock for
// [Op.Decoded].
func (op *Op) Timed() bool { return op.side != nil && op.side.ins.decode.Enabled(op.ctx) }

// Admit says that the message goes to this peer (nil if nothing is known of it yet), and a request under this id.
func (op *Op) Admit(p *Peer, id int64) {
	if op.side == nil {
		return
	}
	op.peer, op.id, op.hasID = p, id, true
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
		if !op.start.IsZero() {
			op.answered = time.Now()
		}
		return
	case op.sending || !op.timed && !op.recorded:
		return
	case op.timed:
		op.sent = time.Since(op.start)
	default: // cheaper than asking for the time of day
		op.sent = op.side.flight.Now()
	}
	op.sending = true
	op.startEntry()
}

// Within returns ctx, which the caller may have changed since the operation began, with the span of the operation.
func (op *Op) Within(ctx context.Context) context.Context {
	if op.side == nil || op.span == nil {
		return ctx
	}
	if !trace.SpanContextFromContext(ctx).Equal(op.span.SpanContext()) {
		ctx = trace.ContextWithSpan(ctx, op.span)
	}
	op.ctx = ctx
	return ctx
}

// Waiting says that the operation begins before its request can be sent. The time until [Op.Sending] is no part of the
// duration, even if the request is never sent.
func (op *Op) Waiting() { op.waiting = true }

// Answered says that the answer to a request has been decoded. What its caller does with it before [Op.End] is no part
// of the duration.
func (op *Op) Answered() {
	op.kept = true
	if !op.start.IsZero() {
		op.answered = time.Now()
	}
}

// Supersede ends a request that another one follows, at the time at which it was answered.
func (op *Op) Supersede(r Result) {
	op.superseded = true
	op.End(r)
}

// AnsweredAt says when the answer came, for an operation that ends after its caller has heard.
func (op *Op) AnsweredAt(at time.Time) { op.answered = at }

// Sent says that the message of this size was accepted for sending, and implies [Op.Sending] for what is sent. Zero is
// a size that is not known. For what is being handled, the message is the answer.
func (op *Op) Sent(bytes int) {
	if op.side == nil {
		return
	}
	op.bytesOut, op.accepted = bytes, true
	if op.direction == telemetry.Received {
		return // the kind of the answer is known at the end
	}
	op.Sending()
	if bytes > 0 {
		op.side.messageSize(op.ctx, telemetry.Sent, op.requestKind(), bytes)
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
		retries.Add(op.ctx, 1, s.options().retry.At(reason)...)
	}
	if s.logs.enabled(op.ctx, slog.LevelDebug) {
		var buf [maxFields]slog.Attr
		op.emit(slog.LevelDebug, names.EventMCPClientSendRetry, append(op.identity(buf[:0]),
			slog.String(names.KeyMCPClientRetryReason, reason), slog.Int(names.KeyMCPClientSendRetries, op.retries))...)
	}
}

// Received says that the answer has this size. It is counted at the end, when its kind is known.
func (op *Op) Received(bytes int) { op.bytesIn = bytes }

// Result says that the answer to a tool call has the tool's result, of this size as JSON.
func (op *Op) Result(bytes int) {
	if s := op.side; s != nil && s.tel.ContextCost && s.tel.ins.toolResult.Enabled(op.ctx) {
		s.tel.ins.toolResult.Record(op.ctx, int64(bytes), s.options().result.At(cmp.Or(op.info.target, names.Other))...)
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
	op.side.ins.decode.Record(op.ctx, d.Seconds(), op.side.options().decode.At(key)...)
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

// Corr returns the correlation id, for the requests that go on with this call.
func (op *Op) Corr() Corr {
	if op.side == nil {
		return Corr{}
	}
	op.corr = op.corr.or()
	return op.corr
}

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

// requestID is the id as text, empty if there is none. The peer's may be as long as it likes.
func (op *Op) requestID() string {
	op.writeIDs()
	return op.idText
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

// corrID is the correlation id as text, empty for what the peer began, which does not tell, and for what a server
// sends.
func (op *Op) corrID() string {
	op.writeIDs()
	return op.corrText
}

// writeIDs makes the texts of the ids, once each is known and a signal needs them. A request's two are parts of one
// string.
func (op *Op) writeIDs() {
	switch {
	case op.direction == telemetry.Received:
		switch {
		case op.idText != "":
		case op.hasID:
			op.idText = strconv.FormatInt(op.id, 10)
		case op.peerID != "":
			op.idText = truncate(op.peerID, words.MaxName)
		}
	case op.notification: // has neither
	case op.side.keys.corrID == "":
		if op.idText == "" && op.hasID {
			op.idText = strconv.FormatInt(op.id, 10)
		}
	case op.corrText == "":
		var buf [corrTextLen + 20]byte
		text := op.Corr().append(buf[:0])
		if op.hasID {
			text = strconv.AppendInt(text, op.id, 10)
		}
		both := idText(text)
		op.corrText, op.idText = both[:corrTextLen], both[corrTextLen:]
	case op.idText == "" && op.hasID:
		op.idText = strconv.FormatInt(op.id, 10)
	}
}
