package instrument

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/mcpotel/mcpotel/internal/instrument/flight"
	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// Peer is the other end of one negotiated connection. It is immutable. A nil Peer stands for a peer that is not known
// yet.
type Peer struct {
	side      *side
	facts     *knownFacts
	sessionID string // on spans only
}

func (s *side) peer(f Facts, sessionID string) *Peer {
	return &Peer{side: s, facts: s.facts.intern(f), sessionID: truncate(sessionID, words.MaxName)}
}

// SessionEnd records the end of the session with this peer: its duration and error type. errorType is empty if one side
// has ended the session normally. Only protocol versions before 2026-07-28 have sessions.
func (p *Peer) SessionEnd(d time.Duration, errorType string) {
	if p != nil {
		p.side.sessionEnd(p.facts, d, errorType)
	}
}

func (s *side) sessionEnd(f *knownFacts, d time.Duration, errorType string) {
	ctx := context.Background()
	if errorType != "" {
		errorType = words.OneOf(words.SessionErrors, errorType)
	}
	s.flight.Note(flight.Entry{Brief: flight.Brief{
		Kind: flight.Session, Elapsed: d, Word: flight.LabelOf(errorType), Failed: errorType != "",
	}})
	if s.ins.session.Enabled(ctx) {
		group := []attribute.KeyValue{optional(names.KeyErrorType, errorType)}
		own := slices.Concat(s.metrics.onNetwork(group), f.attrs[telemetry.DirectionSent])
		if s.tel.NoSessionTransport {
			own = slices.DeleteFunc(own, func(a attribute.KeyValue) bool {
				return a.Key == names.KeyNetworkTransport || a.Key == names.KeyNetworkProtocolVersion
			})
		}
		opts := s.metrics.place(&s.places.session, measured{own: own, group: group}).Recording
		s.ins.session.Record(ctx, d.Seconds(), opts...)
	}
	if s.logs.enabled(ctx, slog.LevelInfo) {
		var buf [maxFields]slog.Attr
		fields := append(buf[:0], slog.Float64(s.keys.duration, d.Seconds()))
		fields = appendText(fields, names.KeyMCPProtocolVersion, f.MCPVersion)
		s.logs.emit(ctx, slog.LevelInfo, s.events.sessionEnd, appendText(fields, names.KeyErrorType, errorType)...)
	}
}
