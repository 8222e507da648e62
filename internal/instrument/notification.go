package instrument

import (
	"context"
	"log/slog"
	"time"

	"github.com/mcpotel/mcpotel/internal/instrument/flight"
	"github.com/mcpotel/mcpotel/internal/instrument/records"
	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// notified counts and logs a notification that a handler has handled or that the transport has accepted.
func (s *side) notified(op *Op, o outcome, elapsed time.Duration) {
	if op.direction == telemetry.DirectionSent && !op.progress.accepted {
		return
	}
	s.metrics.countNotification(op.ctx, op.direction, op.info.method)
	if !s.logs.enabled(op.ctx, slog.LevelDebug) {
		return
	}
	event := s.events.notificationSent
	var buf [maxFields]slog.Attr
	fields := append(buf[:0], slog.String(names.KeyMCPMethodName, op.shownMethod()))
	if op.direction == telemetry.DirectionReceived {
		event = s.events.notification
		fields = append(fields, slog.Float64(s.keys.duration, elapsed.Seconds()))
		fields = appendText(fields, names.KeyErrorType, o.errorType())
	}
	op.emit(slog.LevelDebug, event, fields...)
}

// notification counts and logs a notification that has neither a handler nor an operation.
func (s *side) notification(d telemetry.Direction, method string) {
	ctx, label := context.Background(), s.methodLabel(method, false)
	if s.traces.spansNotification(ctx, method) {
		s.flight.Note(flight.Entry{Brief: flight.Brief{
			Kind: flight.Notification, About: flight.SubjectOf(label, ""), Direction: d,
		}})
	}
	s.metrics.countNotification(ctx, d, label)
	if !s.logs.enabled(ctx, slog.LevelDebug) {
		return
	}
	event := s.events.notification
	if d == telemetry.DirectionSent {
		event = s.events.notificationSent
	}
	s.logs.emit(ctx, slog.LevelDebug, event, slog.String(names.KeyMCPMethodName, truncate(method, words.MaxName)))
}

type lostKey struct{ method, reason string }

// dropNotification counts and logs a notification that reached no handler, or that was not sent.
func (s *side) dropNotification(d telemetry.Direction, method, reason string) {
	ctx := context.Background()
	reason = words.OneOf(words.DropReasons, reason)
	label := s.methodLabel(method, false)
	s.flight.Note(flight.Entry{Brief: flight.Brief{
		Kind: flight.Lost, About: flight.SubjectOf(label, ""), Word: flight.LabelOf(reason),
		Failed: reason != names.DropCoalesced,
	}})
	if s.ins.lost.Enabled(ctx) {
		s.ins.lost.Add(ctx, 1, s.metrics.options().lost.At(lostKey{label, reason})...)
	}
	level := slog.LevelWarn
	if reason == names.DropCoalesced || reason == names.DropNoStream {
		level = slog.LevelDebug
	}
	suppressed, ok := s.logs.allows(ctx, records.Key{
		Event: s.events.notificationDropped, Reason: reason, Direction: d, Level: level,
	})
	if !ok {
		return
	}
	var buf [maxFields]slog.Attr
	fields := append(buf[:0], slog.String(names.KeyMCPMethodName, truncate(method, words.MaxName)),
		slog.String(s.keys.dropReason, reason))
	s.logs.emit(ctx, level, s.events.notificationDropped, appendCount(fields, s.keys.suppressed, suppressed)...)
}
