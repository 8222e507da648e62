package telemetry

import "time"

// Limits of what a peer can put on a span or into a log record, in bytes.
const (
	maxName    = 128
	maxURI     = 1024
	maxMessage = 256
)

// End ends the operation. Only the first call counts.
func (op *Op) End(r Result) {
	if op.side == nil || op.left {
		return
	}
	op.left = true
	s := op.side
	if op.counted {
		op.activeInstrument().Add(op.ctx, -1, op.info.active...)
	}
	var elapsed time.Duration
	if op.timed {
		elapsed = op.until().Sub(op.from())
	}
	o := outcomeOf(op.direction, &r)
	op.recordMetrics(o, elapsed)
	if op.recording {
		op.endSpan(o, &r)
	} else if op.span != nil {
		op.span.End()
	}
	if op.notification {
		s.notified(op, o, elapsed)
		return
	}
	op.logStart()
	op.logEnd(o, &r, elapsed)
}

// from is when the duration begins: with the first sending, as waiting for a connection is no part of the operation.
func (op *Op) from() time.Time {
	if !op.sent.IsZero() {
		return op.sent
	}
	return op.start
}

// until is when it ends: with handing over the answer, if there is one to give.
func (op *Op) until() time.Time {
	if !op.answered.IsZero() {
		return op.answered
	}
	return time.Now()
}

func (op *Op) recordMetrics(o outcome, elapsed time.Duration) {
	s := op.side
	if h := op.duration(); op.measured && op.timed && h.Enabled(op.ctx) {
		h.Record(op.ctx, elapsed.Seconds(), s.recordOptions(op.info, op.facts(), o)...)
	}
	answer := KindResponse
	if o.hasCode {
		answer = KindError
	}
	switch {
	case op.direction == Sent && op.bytesIn > 0:
		s.messageSize(op.ctx, Received, answer, op.bytesIn)
	case op.direction == Received && op.accepted:
		s.messageSize(op.ctx, Sent, answer, op.bytesOut)
	}
}
