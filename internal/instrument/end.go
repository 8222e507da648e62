package instrument

import (
	"cmp"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// End ends the operation. Only the first call counts.
func (op *Op) End(r Result) {
	if op.side == nil || op.progress.ended {
		return
	}
	op.progress.ended = true
	s := op.side
	if op.metric.counted {
		op.activeInstrument().Add(op.ctx, -1, s.metrics.activeOptions(op.info)...)
	}
	elapsed := op.elapsed()
	o := outcomeOf(op.direction, &r)
	op.endEntry(o, &r, elapsed)
	op.conclude(o, &r, elapsed)
	if op.audit != nil {
		op.endAudit(o, &r)
	}
	if op.notification {
		s.notified(op, o, elapsed)
		return
	}
	s.count(op.info, o, elapsed)
	op.logStart()
	op.logEnd(o, &r, elapsed)
}

// conclude ends the span before it records the metrics, because exemplars depend on the final state of the span.
func (op *Op) conclude(o outcome, r *Result, elapsed time.Duration) {
	defer op.recordMetrics(o, elapsed)
	if op.trace.recording {
		op.endSpan(o, r)
	} else if op.trace.span != nil {
		op.trace.span.End()
	}
}

// abandon ends an operation if user code has panicked, or has ended its goroutine, at the start of the operation.
func (op *Op) abandon() { op.End(Result{ErrorType: names.ErrorPanic}) }

// elapsed returns the time from the first sending, or else from the start, until the answer was decoded. The wait for a
// connection does not count: the time of a request that waited and was never sent is zero. A handled request ends when
// its answer is passed to the transport. elapsed returns zero if no signal needs the time.
func (op *Op) elapsed() time.Duration {
	switch {
	case op.progress.waiting && !op.progress.sending:
		return 0
	case !op.progress.answered.IsZero() && !op.progress.start.IsZero():
		return op.progress.answered.Sub(op.progress.start) - op.progress.sent
	case !op.progress.start.IsZero():
		return time.Since(op.progress.start) - op.progress.sent
	case op.progress.sending:
		return op.side.flight.Now() - op.progress.sent
	}
	return 0
}

// executes reports whether the operation is a tool call for which the duration metric of the GenAI conventions is also
// recorded.
func (op *Op) executes() bool {
	return op.side.tel.ExecuteTool && op.direction == telemetry.DirectionSent && op.info.targetKind == Tool
}

func (op *Op) recordMetrics(o outcome, elapsed time.Duration) {
	s := op.side
	if h := op.duration(); op.metric.measured && op.progress.timed && h.Enabled(op.ctx) {
		e := ending{op.facts(), o, s.metrics.label(op.ctx)}
		h.Record(op.ctx, elapsed.Seconds(), s.metrics.recordOptions(op.info, e)...)
	}
	if op.executes() && op.progress.timed && s.tel.ins.executeTool.Enabled(op.ctx) {
		s.tel.ins.executeTool.Record(op.ctx, elapsed.Seconds(),
			s.metrics.options().execution.At(executionKey{cmp.Or(op.info.target, names.Other), bounded(o.errorType())})...)
	}
	answer := KindResponse
	if o.hasCode {
		answer = KindError
	}
	switch {
	case op.direction == telemetry.DirectionSent && op.bytesIn > 0:
		s.metrics.messageSize(op.ctx, telemetry.DirectionReceived, answer, op.bytesIn)
	case op.direction == telemetry.DirectionReceived && op.bytesOut > 0:
		s.metrics.messageSize(op.ctx, telemetry.DirectionSent, answer, op.bytesOut)
	}
}
