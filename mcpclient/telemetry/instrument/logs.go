package instrument

import (
	"context"
	"log/slog"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

func (s *side) logs(ctx context.Context, l slog.Level) bool { return s.log.Enabled(ctx, l) }

// emit writes the log record of an event that no operation tells of, without waiting for the handler. Callers ask
// logs first, so that no record is built without a reader.
func (s *side) emit(ctx context.Context, l slog.Level, event string, fields ...slog.Attr) {
	write(ctx, s.beside, l, event, fields)
}

// emit writes the log record of an event of the operation. Its goroutine waits for the handler, unless it has others to
// serve.
func (op *Op) emit(l slog.Level, event string, fields ...slog.Attr) {
	log := op.side.log
	if op.beside {
		log = op.side.beside
	}
	write(op.ctx, log, l, event, fields)
}

func write(ctx context.Context, log *slog.Logger, l slog.Level, event string, fields []slog.Attr) {
	all := append(make([]slog.Attr, 0, maxFields), slog.String(names.KeyEventName, event))
	log.LogAttrs(ctx, l, event, append(all, fields...)...)
}

// maxFields is as many as any event has, beside its name.
const maxFields = 16

// logStart logs the start of a request, once: as soon as its id is known.
func (op *Op) logStart() {
	if op.announced || op.notification {
		return
	}
	op.announced = true
	op.logIdentity(slog.LevelDebug, op.requestEvents().start)
	if op.reissue {
		op.logReissue()
	}
}

// logReissue says that the request repeats a lost one. What is repeated has no target.
func (op *Op) logReissue() {
	if s := op.side; s.logs(op.ctx, slog.LevelInfo) {
		fields := appendText([]slog.Attr{slog.String(names.KeyMCPMethodName, op.shownMethod())}, names.KeyJSONRPCRequestID,
			op.requestID())
		op.emit(slog.LevelInfo, op.requestEvents().reissued, appendText(fields, s.keys.corrID, op.corrID())...)
	}
}

// logIdentity logs an event of which there is nothing to tell but the request it is about.
func (op *Op) logIdentity(l slog.Level, event string) {
	if s := op.side; s.logs(op.ctx, l) {
		var buf [maxFields]slog.Attr
		op.emit(l, event, op.identity(buf[:0])...)
	}
}

func (op *Op) requestEvents() *requestEvents {
	if op.direction == telemetry.Sent {
		return &op.side.events.sent
	}
	return &op.side.events.handled
}

// logEnd logs how a request ended: either its stop or its exception.
func (op *Op) logEnd(o outcome, r *Result, elapsed time.Duration) {
	s, events := op.side, op.requestEvents()
	level, event, suppressed := op.stopLevel(elapsed), events.stop, 0
	if o.failed {
		level, event = op.exceptionLevel(o, r), events.exception
		level, suppressed = op.spare(level, event, o)
	}
	if s.logs(op.ctx, level) {
		op.logOutcome(level, event, o, r, elapsed, suppressed)
	}
	if r.ResultType == resultInputRequired && events.inputRequired != "" && s.logs(op.ctx, slog.LevelDebug) {
		op.logRound(events.inputRequired)
	}
	if r.ToolError && events.toolError != "" && s.logs(op.ctx, slog.LevelInfo) {
		op.logToolError(events.toolError, elapsed)
	}
}

// logOutcome writes the record of the end of a request. Like the others here it is no part of logEnd, which has no use
// for the memory of its fields where nothing is logged: 2.6 KiB, for which the stacks of a server's goroutines grew.
//
//go:noinline
func (op *Op) logOutcome(level slog.Level, event string, o outcome, r *Result, elapsed time.Duration, suppressed int) {
	s := op.side
	var buf [maxFields]slog.Attr
	fields := append(op.identity(buf[:0]), slog.Float64(s.keys.duration, elapsed.Seconds()))
	fields = appendText(fields, names.KeyRPCResponseStatusCode, o.statusCode())
	if o.failed {
		fields = append(fields, slog.String(names.KeyErrorType, o.errorType()), slog.String(s.keys.errorKind,
			o.kind(r.Kind)))
		fields = appendText(fields, names.KeyError, op.errorMessage(errorText(r)))
		fields = appendCount(fields, s.keys.suppressed, suppressed)
	} else if r.ResultType != "complete" {
		fields = appendText(fields, s.keys.resultType, truncate(r.ResultType, maxName))
	}
	op.emit(level, event, fields...)
}

// logRound writes that a result wants something of the client.
//
//go:noinline
func (op *Op) logRound(event string) {
	var buf [maxFields]slog.Attr
	op.emit(slog.LevelDebug, event, appendCount(op.identity(buf[:0]), names.KeyMCPClientMRTRRound, op.round)...)
}

// logToolError writes that a tool reports an error.
//
//go:noinline
func (op *Op) logToolError(event string, elapsed time.Duration) {
	var buf [maxFields]slog.Attr
	op.emit(slog.LevelInfo, event,
		append(op.identity(buf[:0]), slog.Float64(op.side.keys.duration, elapsed.Seconds()))...)
}

func (op *Op) stopLevel(elapsed time.Duration) slog.Level {
	if slow := op.side.tel.Slow; slow > 0 && elapsed >= slow {
		return slog.LevelInfo
	}
	return slog.LevelDebug
}

// exceptionLevel is Debug for what the caller wanted or what another record tells, Error for a defect of this side, and
// Warn for everything else.
func (op *Op) exceptionLevel(o outcome, r *Result) slog.Level {
	switch {
	case r.ToolError, r.CallerLeft, r.Expected, r.Told:
		return slog.LevelDebug
	case op.direction == telemetry.Received && o.word == names.ErrorCancelled:
		return slog.LevelDebug
	case op.direction == telemetry.Received && o.code == codeInternalError:
		return slog.LevelError
	}
	return slog.LevelWarn
}

// spare returns the level at which the exception of a peer's request is logged: a peer can send as many bad ones as it
// likes, so beyond what the limiter lets through, what would be a warning is there for debugging only. suppressed says
// how many were since the last warning.
func (op *Op) spare(l slog.Level, event string, o outcome) (_ slog.Level, suppressed int) {
	s := op.side
	if op.direction != telemetry.Received || l != slog.LevelWarn || !s.logs(op.ctx, l) {
		return l, 0
	}
	suppressed, ok := s.limits.allow(limitKey{event, bounded(o.errorType()), telemetry.Received, l}, time.Now())
	if !ok {
		return slog.LevelDebug, 0
	}
	return l, suppressed
}

// identity appends the fields that tell which request a record is about.
func (op *Op) identity(fields []slog.Attr) []slog.Attr {
	fields = append(fields, slog.String(names.KeyMCPMethodName, op.shownMethod()))
	switch op.info.targetKind {
	case Tool:
		fields = appendText(fields, names.KeyGenAIToolName, op.shownTarget())
	case Prompt:
		fields = appendText(fields, names.KeyGenAIPromptName, op.shownTarget())
	}
	fields = appendText(fields, names.KeyJSONRPCRequestID, op.requestID())
	return appendText(fields, op.side.keys.corrID, op.corrID())
}

func appendText(fields []slog.Attr, key, value string) []slog.Attr {
	if value == "" {
		return fields
	}
	return append(fields, slog.String(key, value))
}

// errorText is the text of the error for the log, as long as it is.
func errorText(r *Result) string {
	if r.Err != nil {
		return r.Err.Error()
	}
	return r.Message
}

func appendCount(fields []slog.Attr, key string, n int) []slog.Attr {
	if n == 0 {
		return fields
	}
	return append(fields, slog.Int(key, n))
}
