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
	if !op.start.IsZero() {
		elapsed = time.Since(op.start) - op.sent // waiting for a connection is no part of it
	}
	o := outcomeOf(op.direction, &r)
	op.recordMetrics(o, elapsed)
	op.land(o, &r, elapsed)
	if op.recording {
		op.endSpan(o, &r)
	} else if op.span != nil {
		op.span.End()
	}
	if op.notification {
		s.notified(op, o, elapsed)
		return
	}
	s.count(op.info, o, elapsed)
	op.logStart()
	op.logEnd(o, &r, elapsed)
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
	case op.direction == Received && op.bytesOut > 0:
		s.messageSize(op.ctx, Sent, answer, op.bytesOut)
	}
}
