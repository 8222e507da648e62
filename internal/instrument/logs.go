package instrument

import (
	"context"
	"log/slog"
	"time"

	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// logging is where the records of a side go. It is made for the first record that is enabled.
type logging struct {
	log    *slog.Logger // has the side's name and instance; its callers wait for the handler
	beside *slog.Logger // the same through the teller, for records that no goroutine should wait for
	teller teller
}

// logs reports whether records of the level are read.
func (s *side) logs(ctx context.Context, l slog.Level) bool {
	if s.tel.ours {
		return s.tel.handler.Enabled(ctx, l)
	}
	return s.loggers().log.Enabled(ctx, l)
}

// loggers returns the side's loggers.
func (s *side) loggers() *logging {
	if made := s.logging.Load(); made != nil {
		return made
	}
	whose := append(make([]slog.Attr, 0, 3), slog.String(s.keys.name, s.name), slog.String(s.keys.instance, s.instance))
	if s.group != "" {
		whose = append(whose, slog.String(s.keys.group, s.group))
	}
	h := usercode.LogHandler(s.tel.handler, func(*usercode.Failure) { s.countPanic(context.Background(), "logger") })
	made := &logging{log: slog.New(h.WithAttrs(whose))}
	made.teller.side = s
	made.beside = slog.New(tellerHandler{made.log.Handler(), &made.teller})
	s.logging.CompareAndSwap(nil, made)
	return s.logging.Load()
}

// flushLog waits until the teller's records are written, or until ctx ends, and then returns its cause.
func (s *side) flushLog(ctx context.Context) error {
	if made := s.logging.Load(); made != nil {
		return made.teller.flush(ctx)
	}
	return nil
}

// sideHandler is the handler of [Client.Logger]. It makes the loggers of the side when a record is read, not before.
type sideHandler struct{ s *side }

func (h sideHandler) Enabled(ctx context.Context, l slog.Level) bool { return h.s.logs(ctx, l) }

func (h sideHandler) Handle(ctx context.Context, r slog.Record) error { return h.full().Handle(ctx, r) }

func (h sideHandler) WithAttrs(attrs []slog.Attr) slog.Handler { return h.full().WithAttrs(attrs) }

func (h sideHandler) WithGroup(name string) slog.Handler { return h.full().WithGroup(name) }

func (h sideHandler) full() slog.Handler { return h.s.loggers().log.Handler() }

// emit writes the log record of an event that no operation tells of, without waiting for the handler. Callers ask
// logs first, so that no record is built without a reader.
func (s *side) emit(ctx context.Context, l slog.Level, event string, fields ...slog.Attr) {
	write(ctx, s.loggers().beside, l, event, fields)
}

// emit writes the log record of an event of the operation. Its goroutine waits for the handler, unless it has others to
// serve.
func (op *Op) emit(l slog.Level, event string, fields ...slog.Attr) {
	log := op.side.loggers().log
	if op.beside {
		log = op.side.loggers().beside
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
	if op.reissue && op.hasID { // or it was never made
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
	if r.ToolError && events.toolError != "" {
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
			o.kind(r.Kind)), slog.String(names.KeyExceptionType, exceptionType(o, r)))
		if s.keys.safeToRetry != "" && op.direction == telemetry.Sent {
			fields = append(fields, slog.Bool(s.keys.safeToRetry, r.Unsent))
		}
		fields = appendText(fields, names.KeyExceptionMessage, op.errorMessage(errorText(r)))
		fields = appendCount(fields, s.keys.suppressed, suppressed)
	} else if r.ResultType != "complete" {
		fields = appendText(fields, s.keys.resultType, truncate(r.ResultType, words.MaxName))
	}
	op.emit(level, event, fields...)
}

// exceptionType returns the type of the error that ended a request. Where only an answer says that the request failed,
// there is no Go value, and the type is error.type.
func exceptionType(o outcome, r *Result) string {
	if r.Err == nil {
		return o.errorType()
	}
	return truncate(errorTypeOf(r.Err), words.MaxName)
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
	s := op.side
	suppressed, ok := s.logsFailure(op.ctx, slog.LevelInfo, event, op.info.method, names.ErrorToolError)
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

// exceptionLevel is Debug for what the caller wanted or what another record tells, Error for a defect of this side, and
// Warn for everything else.
func (op *Op) exceptionLevel(o outcome, r *Result) slog.Level {
	switch {
	case r.ToolError, r.CallerLeft, r.Told, o.word == names.ErrorUnsupported:
		return slog.LevelDebug
	case op.direction == telemetry.Received && o.word == names.ErrorCancelled:
		return slog.LevelDebug
	case op.direction == telemetry.Received && o.word == "" && o.code == codeInternalError:
		return slog.LevelError
	}
	return slog.LevelWarn
}

// logsFailure reports whether a failure is logged at this level: if the log wants the level, and the limiter lets the
// record through. All records of failures pass it, since each call fails while a server is down, and a peer can send as
// many bad requests as it likes. suppressed says how many failures like it had no record since the last that had one.
func (s *side) logsFailure(ctx context.Context, l slog.Level, event, method, errorType string) (suppressed int,
	ok bool) {
	return s.allows(ctx, limitKey{event: event, method: method, reason: bounded(errorType), level: l})
}

// allows reports whether a record with this key is logged: if the log wants its level, and the limiter lets it through.
func (s *side) allows(ctx context.Context, key limitKey) (suppressed int, ok bool) {
	if !s.logs(ctx, key.level) {
		return 0, false
	}
	return s.limits.allow(key, time.Now())
}

// spare returns the level at which the exception of a request is logged: Debug for what the limiter does not let
// through.
func (op *Op) spare(l slog.Level, event string, o outcome) (_ slog.Level, suppressed int) {
	if l <= slog.LevelDebug {
		return l, 0
	}
	suppressed, ok := op.side.logsFailure(op.ctx, l, event, op.info.method, o.errorType())
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
