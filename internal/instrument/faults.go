package instrument

import (
	"context"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"log/slog"
	"time"

	"github.com/mcpotel/mcpotel/internal/instrument/flight"
	"github.com/mcpotel/mcpotel/internal/instrument/records"
	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// Violation is a frame that violates the protocol.
type Violation struct {
	Reason    string // one of the reasons of internal/jsonrpc
	Size      int    // frame size in bytes, as far as the frame was read
	Limit     int    // limit of the frame size in bytes if the frame exceeds it; otherwise zero
	Direction telemetry.Direction
	Head      []byte // beginning of the frame, if available; telemetry contains only its hash
}

// maxHead is the number of bytes of a frame that are hashed. They contain the envelope, and little of the content.
const maxHead = 64

// headHash returns a hash of a frame's beginning. It identifies frames with equal beginnings and reveals no content.
func headHash(head []byte) string {
	if len(head) == 0 {
		return ""
	}
	h := fnv.New32a()
	_, _ = h.Write(head[:min(len(head), maxHead)]) // never fails
	return hex.EncodeToString(h.Sum(nil))
}

func (s *side) violation(v Violation) {
	ctx := context.Background()
	v.Reason = words.OneOf(words.ViolationReasons, v.Reason)
	s.flight.Note(flight.Entry{Brief: flight.Brief{
		Kind: flight.Violation, Failed: true, Word: flight.LabelOf(v.Reason), Direction: v.Direction,
		Out: int64(v.Size), In: int64(v.Limit),
	}})
	if s.ins.violations.Enabled(ctx) {
		s.ins.violations.Add(ctx, 1, s.metrics.options().violation.At(violationKey{v.Reason, v.Direction})...)
	}
	suppressed, ok := s.logs.allows(ctx, records.Key{
		Event: s.events.violation, Reason: v.Reason, Direction: v.Direction, Level: slog.LevelWarn,
	})
	if !ok {
		return
	}
	var buf [maxFields]slog.Attr
	fields := append(buf[:0],
		slog.String(s.keys.violationReason, v.Reason),
		slog.String(s.keys.direction, v.Direction.String()),
		slog.Int(s.keys.frameSize, v.Size))
	fields = appendCount(fields, s.keys.frameLimit, v.Limit)
	fields = appendText(fields, s.keys.frameHash, headHash(v.Head))
	fields = appendCount(fields, s.keys.suppressed, suppressed)
	s.logs.emit(ctx, slog.LevelWarn, s.events.violation, fields...)
}

// Drop is a response for which no call waits.
type Drop struct {
	Reason string        // one of the Drop constants
	ID     string        // as text; empty for none
	Age    time.Duration // time since the answered call has ended; zero if there is no such call
	Ref    Ref           // span of the answered call
}

func (s *side) drop(d Drop) {
	ctx := d.Ref.context(context.Background())
	d.Reason = words.OneOf(words.DropReasons, d.Reason)
	s.flight.Note(d.entry())
	if s.ins.dropped.Enabled(ctx) {
		s.ins.dropped.Add(ctx, 1, s.metrics.options().drop.At(d.Reason)...)
	}
	level := slog.LevelInfo
	if d.Reason == names.DropUnknownID {
		level = slog.LevelWarn
	}
	suppressed, ok := s.logs.allows(ctx, records.Key{
		Event: s.events.dropped, Reason: d.Reason, Direction: telemetry.DirectionReceived, Level: level,
	})
	if !ok {
		return
	}
	var buf [maxFields]slog.Attr
	fields := append(buf[:0], slog.String(s.keys.dropReason, d.Reason))
	fields = appendText(fields, names.KeyJSONRPCRequestID, truncate(d.ID, words.MaxName))
	if d.Age > 0 {
		fields = append(fields, slog.Float64(s.keys.dropAge, d.Age.Seconds()))
	}
	fields = appendCount(fields, s.keys.suppressed, suppressed)
	s.logs.emit(ctx, level, s.events.dropped, fields...)
}

// maxStack bounds a logged stack trace, in bytes.
const maxStack = 16 << 10

// countPanic counts a failure of user code: a panic, or the end of its goroutine. The caller logs the failure.
// countPanic returns the method as a metric label.
func (s *side) countPanic(ctx context.Context, method string) (label string) {
	label = s.methodLabel(method, true)
	s.flight.Note(flight.Entry{Brief: flight.Brief{Kind: flight.Panic, About: flight.SubjectOf(label, ""), Failed: true}})
	if s.ins.panics.Enabled(ctx) {
		s.ins.panics.Add(ctx, 1, s.metrics.options().panic.At(label)...)
	}
	return label
}

func (s *side) panicked(ctx context.Context, method string, value any, stack []byte) {
	label := s.countPanic(ctx, method)
	suppressed, ok := s.logs.allowsFailure(ctx, slog.LevelError, s.events.panicked, label, names.ErrorPanic)
	if !ok {
		return
	}
	var buf [maxFields]slog.Attr
	fields := append(buf[:0],
		slog.String(names.KeyMCPMethodName, truncate(method, words.MaxName)),
		slog.String(names.KeyExceptionType, fmt.Sprintf("%T", value)),
		slog.String(names.KeyExceptionMessage, truncate(fmt.Sprint(value), words.MaxMessage)),
		slog.String(names.KeyExceptionStacktrace, truncate(string(stack), maxStack)))
	s.logs.emit(ctx, slog.LevelError, s.events.panicked, appendCount(fields, s.keys.suppressed, suppressed)...)
}
