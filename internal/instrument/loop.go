package instrument

import (
	"cmp"
	"context"
	"log/slog"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/baggage"

	"github.com/mcpotel/mcpotel/internal/instrument/records"
	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// Loop describes a loop of tool calls.
type Loop struct {
	Kind  string // one of the Loop constants of package names
	Calls int    // number of calls in the loop, including the current one if it was made
}

// ConversationOf returns the id of the conversation in the baggage of ctx. It is empty if there is none.
func ConversationOf(ctx context.Context) string {
	b := baggage.FromContext(ctx)
	if b.Len() == 0 {
		return "" // a shortcut, because most contexts have no baggage
	}
	return b.Member(names.KeyGenAIConversationID).Value()
}

// Loops counts and logs that the call has returned nothing new, like the calls before it. The caller calls it before
// [Op.End].
func (op *Op) Loops(l Loop) {
	s := op.side
	if s == nil {
		return
	}
	l.Kind = words.OneOf(words.LoopKinds, l.Kind)
	op.setLoop(l)
	if counter := s.tel.ins.toolLoops; counter.Enabled(op.ctx) {
		counter.Add(op.ctx, 1, s.metrics.options().loop.At(loopKey{cmp.Or(op.info.target, names.Other), l.Kind})...)
	}
	suppressed, ok := s.logs.allows(op.ctx, records.Key{
		Event: names.EventMCPClientToolLoop, Reason: l.Kind, Direction: telemetry.DirectionSent, Level: slog.LevelWarn,
	})
	if !ok {
		return
	}
	var buf [maxFields]slog.Attr
	fields := append(op.identity(buf[:0]), slog.String(names.KeyMCPClientLoopKind, l.Kind),
		slog.Int(names.KeyMCPClientLoopCalls, l.Calls))
	op.emit(slog.LevelWarn, names.EventMCPClientToolLoop, appendCount(fields, s.keys.suppressed, suppressed)...)
}

// Stopped records that the call is not made, because it would continue the loop. The result passed to [Op.End] must
// have the type [names.ErrorLoop].
func (op *Op) Stopped(l Loop) {
	if op.side != nil {
		l.Kind = words.OneOf(words.LoopKinds, l.Kind)
		op.setLoop(l)
	}
}

func (op *Op) setLoop(l Loop) {
	if op.trace.recording {
		op.trace.span.SetAttributes(attribute.String(names.KeyMCPClientLoopKind, l.Kind),
			attribute.Int(names.KeyMCPClientLoopCalls, l.Calls))
	}
}
