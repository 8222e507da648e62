package instrument

import (
	"log/slog"
	"time"

	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// emit writes the log record of an event of the operation. The goroutine waits for the log handler, unless the
// goroutine also serves other operations.
func (op *Op) emit(level slog.Level, event string, fields ...slog.Attr) {
	made := op.side.logs.loggers()
	log := made.log
	if op.log.beside {
		log = made.beside
	}
	write(op.ctx, log, level, event, fields)
}

// logStart logs the start of a request once its id is known.
func (op *Op) logStart() {
	if op.log.announced || op.notification {
		return
	}
	op.log.announced = true
	op.logIdentity(slog.LevelDebug, op.requestEvents().start)
	if op.log.reissue && op.ids.hasID { // a request without an id was never sent
		op.logReissue()
	}
}

// logReissue logs that the request repeats a lost request. Repeated requests have no target.
func (op *Op) logReissue() {
	if s := op.side; s.logs.enabled(op.ctx, slog.LevelInfo) {
		fields := appendText([]slog.Attr{slog.String(names.KeyMCPMethodName, op.shownMethod())}, names.KeyJSONRPCRequestID,
			op.requestID())
		op.emit(slog.LevelInfo, op.requestEvents().reissued, appendText(fields, s.keys.corrID, op.corrID())...)
	}
}

// logIdentity logs an event whose only fields are the identity of its request.
func (op *Op) logIdentity(l slog.Level, event string) {
	if s := op.side; s.logs.enabled(op.ctx, l) {
		var buf [maxFields]slog.Attr
		op.emit(l, event, op.identity(buf[:0])...)
	}
}

func (op *Op) requestEvents() *requestEvents {
	if op.direction == telemetry.DirectionSent {
		return &op.side.events.sent
	}
	return &op.side.events.handled
}

// logEnd logs the end of a request: its stop or its exception.
func (op *Op) logEnd(o outcome, r *Result, elapsed time.Duration) {
	s, events := op.side, op.requestEvents()
	level, event, suppressed := op.stopLevel(elapsed), events.stop, 0
	if o.failed {
		level, event = op.exceptionLevel(o, r), events.exception
		level, suppressed = op.limitLevel(level, event, o)
	}
	if s.logs.enabled(op.ctx, level) {
		op.logOutcome(level, event, o, r, elapsed, suppressed)
	}
	if r.ResultType == resultInputRequired && events.inputRequired != "" && s.logs.enabled(op.ctx, slog.LevelDebug) {
		op.logRound(events.inputRequired)
	}
	if r.ToolError && events.toolError != "" {
		op.logToolError(events.toolError, elapsed)
	}
}

// logOutcome writes the record of the end of a request. Like logRound and logToolError, it is not inlined into logEnd.
// The fields of an inlined logOutcome took 2.6 KiB of stack, so the stacks of a server's goroutines grew even when
// nothing was logged.
//
//go:noinline
func (op *Op) logOutcome(level slog.Level, event string, o outcome, r *Result, elapsed time.Duration, suppressed int) {
	s := op.side
	var buf [maxFields]slog.Attr
	fields := append(op.identity(buf[:0]), slog.Float64(s.keys.duration, elapsed.Seconds()))
	fields = appendText(fields, names.KeyRPCResponseStatusCode, o.statusCode())
	if o.failed {
		fields = append(fields, slog.String(names.KeyErrorType, o.errorType()), slog.String(s.keys.errorKind,
			o.kind(r.Kind)), slog.String(names.KeyExceptionType, exceptionType(o, r)))
		if s.keys.safeToRetry != "" && op.direction == telemetry.DirectionSent {
			fields = append(fields, slog.Bool(s.keys.safeToRetry, r.Unsent))
		}
		fields = appendText(fields, names.KeyExceptionMessage, op.errorMessage(errorText(r)))
		fields = appendCount(fields, s.keys.suppressed, suppressed)
	} else if r.ResultType != "complete" {
		fields = appendText(fields, s.keys.resultType, truncate(r.ResultType, words.MaxName))
	}
	op.emit(level, event, fields...)
}

// exceptionType returns the type of the error that ended a request. If only an answer reports the failure, there is no
// Go value, and the type is error.type.
func exceptionType(o outcome, r *Result) string {
	if r.Err == nil {
		return o.errorType()
	}
	return truncate(errorTypeOf(r.Err), words.MaxName)
}

// logRound logs that a result requires input from the client.
//
//go:noinline
func (op *Op) logRound(event string) {
	var buf [maxFields]slog.Attr
	op.emit(slog.LevelDebug, event, appendCount(op.identity(buf[:0]), names.KeyMCPClientMRTRRound, int(op.round))...)
}

// logToolError logs that a tool has reported an error in its result.
//
//go:noinline
func (op *Op) logToolError(event string, elapsed time.Duration) {
	s := op.side
	suppressed, ok := s.logs.allowsFailure(op.ctx, slog.LevelInfo, event, op.info.method, names.ErrorToolError)
	if !ok {
		return
	}
	var buf [maxFields]slog.Attr
	fields := append(op.identity(buf[:0]), slog.Float64(s.keys.duration, elapsed.Seconds()))
	op.emit(slog.LevelInfo, event, appendCount(fields, s.keys.suppressed, suppressed)...)
}

func (op *Op) stopLevel(elapsed time.Duration) slog.Level {
	if slow := op.side.tel.Slow; slow > 0 && elapsed >= slow {
		return slog.LevelInfo
	}
	return slog.LevelDebug
}

// exceptionLevel returns Debug if the caller has ended the operation or another record reports the error, Error for a
// defect of this side, and Warn otherwise.
func (op *Op) exceptionLevel(o outcome, r *Result) slog.Level {
	switch {
	case r.ToolError, r.CallerLeft, r.Told, o.word == names.ErrorUnsupported:
		return slog.LevelDebug
	case op.direction == telemetry.DirectionReceived && o.word == names.ErrorCancelled:
		return slog.LevelDebug
	case op.direction == telemetry.DirectionReceived && o.word == "" && o.code == codeInternalError:
		return slog.LevelError
	}
	return slog.LevelWarn
}

// limitLevel returns the level for a request's exception record. It is Debug if the limiter suppresses the record.
func (op *Op) limitLevel(l slog.Level, event string, o outcome) (_ slog.Level, suppressed int) {
	if l <= slog.LevelDebug {
		return l, 0
	}
	suppressed, ok := op.side.logs.allowsFailure(op.ctx, l, event, op.info.method, o.errorType())
	if !ok {
		return slog.LevelDebug, 0
	}
	return l, suppressed
}

// identity appends the fields that identify the request of a record.
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

// errorText returns the full text of the error for the log.
func errorText(r *Result) string {
	if r.Err != nil {
		return r.Err.Error()
	}
	return r.Message
}
