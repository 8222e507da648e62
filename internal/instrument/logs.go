package instrument

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/mcpotel/mcpotel/internal/instrument/records"
	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// logs writes the log records of a side, within the limits for each event and reason.
type logs struct {
	side *side
	made atomic.Pointer[loggers] // nil before the first enabled record
}

// loggers holds the destinations of the records, and the limiter.
type loggers struct {
	log     *slog.Logger // adds the side's name and instance; its callers wait for the handler
	beside  *slog.Logger // like log, but through the queue, for records that no goroutine should wait for
	queue   records.Queue
	limiter records.Limiter
}

// enabled reports whether the log handler accepts records of the level.
func (l *logs) enabled(ctx context.Context, level slog.Level) bool {
	if l.side.tel.ours {
		return l.side.tel.handler.Enabled(ctx, level)
	}
	return l.loggers().log.Enabled(ctx, level)
}

// loggers returns the side's loggers.
func (l *logs) loggers() *loggers {
	if made := l.made.Load(); made != nil {
		return made
	}
	s := l.side
	attrs := append(make([]slog.Attr, 0, 3), slog.String(s.keys.name, s.name), slog.String(s.keys.instance, s.instance))
	if s.group != "" {
		attrs = append(attrs, slog.String(s.keys.group, s.group))
	}
	h := usercode.LogHandler(s.tel.handler, func(*usercode.Failure) { s.countPanic(context.Background(), "logger") })
	made := &loggers{log: slog.New(h.WithAttrs(attrs))}
	made.queue.Init(l)
	made.beside = slog.New(made.queue.Handler(made.log.Handler()))
	l.made.CompareAndSwap(nil, made)
	return l.made.Load()
}

// emit writes the log record of an event outside of an operation, without waiting for the handler. To build no record
// in vain, callers check enabled or allows first.
func (l *logs) emit(ctx context.Context, level slog.Level, event string, fields ...slog.Attr) {
	write(ctx, l.loggers().beside, level, event, fields)
}

func write(ctx context.Context, log *slog.Logger, level slog.Level, event string, fields []slog.Attr) {
	all := append(make([]slog.Attr, 0, maxFields), slog.String(names.KeyEventName, event))
	log.LogAttrs(ctx, level, event, append(all, fields...)...)
}

// maxFields is the largest number of fields of an event, without its name.
const maxFields = 16

func appendText(fields []slog.Attr, key, value string) []slog.Attr {
	if value == "" {
		return fields
	}
	return append(fields, slog.String(key, value))
}

func appendCount(fields []slog.Attr, key string, n int) []slog.Attr {
	if n == 0 {
		return fields
	}
	return append(fields, slog.Int(key, n))
}

// allows reports whether the caller may write a record with this key: the log handler accepts its level, and the
// limiter does not suppress it. suppressed is the number of suppressed records with this key since the last written
// one.
func (l *logs) allows(ctx context.Context, key records.Key) (suppressed int, ok bool) {
	if !l.enabled(ctx, key.Level) {
		return 0, false
	}
	return l.loggers().limiter.Allow(key, time.Now())
}

// allowsFailure is like allows, for a failure of a method. All records of failures are limited, because each call fails
// while a server is down, and a peer can send any number of bad requests.
func (l *logs) allowsFailure(ctx context.Context, level slog.Level, event, method, errorType string) (suppressed int,
	ok bool) {
	return l.allows(ctx, records.Key{Event: event, Method: method, Reason: bounded(errorType), Level: level})
}

// flightRecord logs the new entries of the flight recorder.
func (l *logs) flightRecord(ctx context.Context) {
	if !l.enabled(ctx, slog.LevelInfo) {
		return
	}
	r, ok := l.side.flight.Report(time.Now())
	if !ok {
		return
	}
	var buf [maxFields]slog.Attr
	fields := append(buf[:0], slog.String(l.side.keys.flightText, r.Text), slog.Int(l.side.keys.flightEntries, r.Entries))
	fields = appendCount(fields, l.side.keys.flightOmitted, r.Omitted)
	l.emit(ctx, slog.LevelInfo, l.side.events.flight, appendCount(fields, l.side.keys.suppressed, r.Suppressed)...)
}

// flush logs, for each key, how many records were suppressed since the last written one. It skips loops: a record of a
// loop names the tool, and the limiter does not store the tool.
func (l *logs) flush() {
	made := l.made.Load()
	if made == nil {
		return
	}
	ctx := context.Background()
	for k, n := range made.limiter.Flush() {
		if k.Event == names.EventMCPClientToolLoop {
			continue
		}
		if k.Method != "" {
			l.flushFailures(k, n)
			continue
		}
		reason := l.side.keys.dropReason
		fields := []slog.Attr{slog.Int(l.side.keys.suppressed, n)}
		switch k.Event {
		case l.side.events.violation:
			reason = l.side.keys.violationReason
			fields = append(fields, slog.String(l.side.keys.direction, k.Direction.String()))
		case names.EventMCPClientToolChanged:
			reason = names.KeyMCPClientToolChangeKind
		case names.EventMCPClientChangeGap:
			reason = names.KeyMCPClientGapCause
		case names.EventMCPServerPolicyDecided:
			reason = names.KeyMCPServerPolicyDecision
		case names.EventMCPServerRequestRefused:
			reason = names.KeyMCPServerRefusalReason
		}
		if l.enabled(ctx, k.Level) {
			l.emit(ctx, k.Level, k.Event, append(fields, slog.String(reason, k.Reason))...)
		}
	}
}

// flushFailures logs how many failures of one kind have no record. If Debug is enabled, every exception has a record:
// see [Op.limitLevel].
func (l *logs) flushFailures(k records.Key, n int) {
	ctx := context.Background()
	exception := k.Event == l.side.events.handled.exception || k.Event == l.side.events.sent.exception
	if l.enabled(ctx, slog.LevelWarn) && !(exception && l.enabled(ctx, slog.LevelDebug)) {
		l.emit(ctx, slog.LevelWarn, l.side.events.logLost, slog.String(names.KeyMCPMethodName, k.Method),
			slog.String(names.KeyErrorType, k.Reason), slog.Int(l.side.keys.suppressed, n))
	}
}

// wait waits until the queued records are written. If ctx ends first, wait returns its cause.
func (l *logs) wait(ctx context.Context) error {
	if made := l.made.Load(); made != nil {
		return made.queue.Flush(ctx)
	}
	return nil
}

// QueueLimits, RunningQueues, StartWriting and ReportLost implement [records.Owner].
func (l *logs) QueueLimits() (queued, bytes int) {
	if l.side.which == telemetry.SideServer {
		return records.MaxRecordsOfServer, records.MaxBytesOfServer
	}
	return records.MaxRecords, records.MaxBytes
}

func (l *logs) RunningQueues() *records.Set { return &l.side.tel.queues }

func (l *logs) StartWriting() { l.side.setLabels(context.Background()) }

func (l *logs) ReportLost(n int) {
	if ctx := context.Background(); l.enabled(ctx, slog.LevelWarn) {
		l.emit(ctx, slog.LevelWarn, l.side.events.logLost, slog.Int(l.side.keys.suppressed, n))
	}
}

// logsHandler is the handler of [Client.Logger]. It creates the loggers of the side when they are first needed.
type logsHandler struct{ l *logs }

func (h logsHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.l.enabled(ctx, level)
}

func (h logsHandler) Handle(ctx context.Context, r slog.Record) error { return h.full().Handle(ctx, r) }

func (h logsHandler) WithAttrs(attrs []slog.Attr) slog.Handler { return h.full().WithAttrs(attrs) }

func (h logsHandler) WithGroup(name string) slog.Handler { return h.full().WithGroup(name) }

func (h logsHandler) full() slog.Handler { return h.l.loggers().log.Handler() }
