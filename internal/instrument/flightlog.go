package instrument

import (
	"context"
	"log/slog"
	"strconv"
	"time"
)

// A connection that fails puts the flight recorder into the log: what is new since the last time, as one record, whose
// text has a line for each entry. Connections that fail again and again do so once in flightEvery; what is left out
// then is in the next record, if it is still among the latest entries.
const (
	flightEvery = time.Minute
	maxFlight   = 16 << 10 // bytes of the text; the latest entries are in it
)

// flightLogged is when a flight recorder was in the log last.
type flightLogged struct {
	next       uint64 // the first entry that was not there
	at         time.Time
	suppressed int // records that came too soon after that
}

// logFlight writes the record.
func (s *side) logFlight(ctx context.Context) {
	if !s.logs(ctx, slog.LevelInfo) {
		return
	}
	now := time.Now()
	some, suppressed, ok := s.flight.toLog(now)
	if !ok {
		return
	}
	text, entries := flightText(some, now.Sub(s.flight.base))
	var buf [maxFields]slog.Attr
	fields := append(buf[:0], slog.String(s.keys.flightText, text), slog.Int(s.keys.flightEntries, entries))
	fields = appendCount(fields, s.keys.flightOmitted, len(some)-entries)
	s.emit(ctx, slog.LevelInfo, s.events.flight, appendCount(fields, s.keys.suppressed, suppressed)...)
}

// toLog returns the entries that are not in the log yet, and how often that was refused since the last time, because it
// would have been too soon.
func (f *flight) toLog(now time.Time) (some []entry, suppressed int, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	last := f.logged
	switch {
	case last == nil:
		last = &flightLogged{}
	case now.Sub(last.at) < flightEvery:
		last.suppressed++
		return nil, 0, false
	}
	some, suppressed = f.copyFrom(last.next), last.suppressed
	f.logged = &flightLogged{next: f.next, at: now}
	return some, suppressed, len(some) > 0
}

// flightText returns the latest entries as text, as many as there is room for, the oldest first.
func flightText(some []entry, now time.Duration) (text string, entries int) {
	lines := make([][]byte, 0, len(some))
	size := 0
	for i := len(some) - 1; i >= 0; i-- {
		line := some[i].appendLine(nil, now)
		if size += len(line) + 1; size > maxFlight {
			break
		}
		lines = append(lines, line)
	}
	b := make([]byte, 0, min(size, maxFlight))
	for i := len(lines) - 1; i >= 0; i-- {
		b = append(b, lines[i]...)
		if i > 0 {
			b = append(b, '\n')
		}
	}
	return string(b), len(lines)
}

// appendLine appends what an entry says, with its time relative to now:
//
//	-2.104s request tools/call add 1.2ms id=41 sent=203 received=96 trace=4bf92f3577b34da6a3ce929d0e0e4736
//	-0.302s request tools/call crash pending id=42 trace=00f067aa0ba902b7a3ce929d0e0e4736
//	-0.001s transition ready to backoff: transport_down after 12.3s epoch=1 attempt=0
func (e *entry) appendLine(b []byte, now time.Duration) []byte {
	s := e.show(time.Time{})
	b = strconv.AppendFloat(b, (e.at - now).Seconds(), 'f', 3, 64)
	b = append(b, "s "...)
	b = append(b, s.Kind...)
	word := func(text string) {
		if text != "" {
			b = append(append(b, ' '), text...)
		}
	}
	number := func(name string, n int64) {
		if n != 0 {
			b = strconv.AppendInt(append(append(append(b, ' '), name...), '='), n, 10)
		}
	}
	if e.kind == flownNotification || e.kind == flownViolation {
		word(s.Direction)
	}
	word(s.Method)
	word(s.Target)
	if s.From != "" {
		word(s.From + " to " + s.To + ":")
	}
	if s.Pending {
		word("pending")
	}
	if s.Failed {
		word("failed:")
	}
	if s.Closed {
		word("closed")
	}
	word(s.Reason)
	if s.Elapsed > 0 {
		if e.kind == flownTransition {
			word("after")
		}
		word(s.Elapsed.Round(elapsedDigits(s.Elapsed)).String())
	}
	if s.ID != "" {
		word("id=" + s.ID)
	}
	number("sent", int64(s.BytesSent))
	number("received", int64(s.BytesReceived))
	number("retries", int64(s.Retries))
	number("round", int64(s.Round))
	number("epoch", s.Epoch)
	number("attempt", s.Attempt)
	number("size", s.Size)
	number("limit", s.Limit)
	number("pid", s.PID)
	if e.kind == flownExit {
		word("code=" + strconv.FormatInt(s.Code, 10))
	}
	number("times", int64(s.Count))
	if s.TraceID != "" {
		word("trace=" + s.TraceID)
	}
	return b
}

// elapsedDigits is the precision with which a duration is shown: three digits and more.
func elapsedDigits(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 10_000 {
		unit *= 10
	}
	return unit
}
