package instrument

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/instrument/flight"
	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

type streamEnd struct{ kind, errorType string }

// StreamOpened counts and logs an open stream that does not belong to a single request. kind is one of the Stream
// constants. The caller calls ended when the stream has ended, with the reason or, for a normal end, with nil. Only the
// first call of ended counts. An error of type shutdown or cancelled is a normal end, because this side has given up
// the stream. Both functions are safe for concurrent use. A stream has no span, because it may live for weeks.
func (c *Client) StreamOpened(kind string) (ended func(error)) {
	if c == nil {
		return func(error) {}
	}
	return c.streamOpened(kind)
}

// StreamOpened counts and logs an open stream to a client, like [Client.StreamOpened]. Every end counts as normal,
// because a server cannot distinguish a client that has left from a lost one.
func (s *Server) StreamOpened(kind string) (ended func()) {
	if s == nil {
		return func() {}
	}
	end := s.streamOpened(kind)
	return func() { end(nil) }
}

func (s *side) streamOpened(kind string) (ended func(error)) {
	ctx, opened := context.Background(), time.Now()
	kind = words.OneOf(words.StreamKinds, kind)
	s.flight.Note(flight.Entry{Brief: flight.Brief{Kind: flight.Stream, About: flight.SubjectOf(kind, "")}})
	active := s.ins.streams
	counted := active.Enabled(ctx)
	if counted {
		active.Add(ctx, 1, s.metrics.options().stream.At(kind)...)
	}
	var once sync.Once
	ended = func(err error) {
		once.Do(func() {
			if counted {
				active.Add(ctx, -1, s.metrics.options().stream.At(kind)...)
			}
			s.streamClosed(kind, time.Since(opened), err)
		})
	}
	usercode.Pass(func() {
		if s.logs.enabled(ctx, slog.LevelInfo) {
			s.logs.emit(ctx, slog.LevelInfo, s.events.streamOpened, slog.String(s.keys.streamKind, kind))
		}
	}, func() { ended(nil) })
	return ended
}

func (s *side) streamClosed(kind string, lived time.Duration, err error) {
	ctx, errorType := context.Background(), ""
	if err != nil {
		errorType = wordOf(errorTypeOf(err))
	}
	if errorType == names.ErrorShutdown || errorType == names.ErrorCancelled {
		err, errorType = nil, ""
	}
	s.flight.Note(flight.Entry{Brief: flight.Brief{
		Kind: flight.Stream, About: flight.SubjectOf(kind, ""), Word: flight.LabelOf(errorType), Failed: errorType != "",
		Elapsed: lived, Out: 1,
	}})
	if s.ins.stream.Enabled(ctx) {
		s.ins.stream.Record(ctx, lived.Seconds(), s.metrics.options().streamEnd.At(streamEnd{kind, bounded(errorType)})...)
	}
	if !s.logs.enabled(ctx, slog.LevelInfo) {
		return
	}
	var buf [maxFields]slog.Attr
	fields := append(buf[:0], slog.String(s.keys.streamKind, kind), slog.Float64(s.keys.duration, lived.Seconds()))
	if err != nil {
		fields = appendText(append(fields, slog.String(names.KeyErrorType, errorType)), names.KeyExceptionMessage,
			s.textOf(ctx, err))
	}
	s.logs.emit(ctx, slog.LevelInfo, s.events.streamClosed, fields...)
}
