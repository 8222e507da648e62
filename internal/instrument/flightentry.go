package instrument

import (
	"slices"
	"strconv"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// flightKinds are the kinds of entries as words.
var flightKinds = []string{
	flownRequest: "request", flownHandler: "handler", flownNotification: "notification", flownAttempt: "attempt",
	flownTransition: "transition", flownBackoff: "backoff", flownViolation: "violation", flownDrop: "drop",
	flownLost: "lost", flownPanic: "panic", flownExit: "exit", flownStream: "stream", flownSession: "session",
	flownTask: "task", flownFailure: "failure",
}

// entries returns the entries from the one with that number on, 0 being the first ever, in the order in which they
// happened to begin.
func (f *flight) entries() []telemetry.FlightEntry {
	some, _ := f.snapshot(0)
	all := make([]telemetry.FlightEntry, len(some))
	for i := range some {
		all[i] = some[i].show(f.base)
	}
	return all
}

// snapshot returns a copy of the entries from a number on, and the number of the next.
func (f *flight) snapshot(from uint64) ([]entry, uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.copyFrom(from), f.next
}

// copyFrom is the copy of a snapshot, with mu held.
func (f *flight) copyFrom(from uint64) []entry {
	if f.next > telemetry.FlightSize {
		from = max(from, f.next-telemetry.FlightSize)
	}
	some := make([]entry, 0, f.next-from)
	for n := from; n < f.next; n++ {
		e := entry{brief: f.ring[n%telemetry.FlightSize]}
		if f.traces != nil {
			e.trace = (*f.traces)[n%telemetry.FlightSize]
		}
		some = append(some, e)
	}
	slices.SortStableFunc(some, func(a, b entry) int { return int(min(1, max(-1, a.at-b.at))) })
	return some
}

// show returns the entry as users see it.
func (e *entry) show(base time.Time) telemetry.FlightEntry {
	method, target := e.about.names()
	s := telemetry.FlightEntry{
		Time: base.Add(e.at), Kind: flightKinds[e.kind], Method: method, Target: target,
		Pending: !e.ended, Failed: e.failed, Reason: e.word.String(), Elapsed: e.elapsed,
		Retries: int(e.retries), Round: int(e.round),
	}
	if e.count > 1 {
		s.Count = int(e.count)
	}
	if e.trace.IsValid() {
		s.TraceID = e.trace.String()
	}
	if corr := (Corr{e.name}); e.peerIDLen == 0 && corr != (Corr{}) {
		s.CorrID = corr.String()
	}
	switch {
	case e.peerIDLen > 0:
		s.ID = truncate(string(e.name[:e.peerIDLen]), len(e.name))
	case e.id > 0:
		s.ID = strconv.FormatInt(e.id, 10)
	}
	e.showNumbers(&s)
	return s
}

// showNumbers gives the two numbers of an entry their names.
func (e *entry) showNumbers(s *telemetry.FlightEntry) {
	switch e.kind {
	case flownRequest, flownHandler, flownNotification:
		s.Direction, s.BytesSent, s.BytesReceived = e.direction.String(), int(e.out), int(e.in)
	case flownTransition:
		s.From, s.To = connstate.State(e.from).String(), connstate.State(e.to).String()
		s.Epoch, s.Attempt = e.out, e.in
	case flownAttempt, flownBackoff:
		s.Attempt = e.in
	case flownViolation:
		s.Direction, s.Size, s.Limit = e.direction.String(), e.out, e.in
	case flownDrop, flownLost:
		s.Direction = telemetry.Received.String()
	case flownExit:
		s.PID, s.Code = e.out, e.in
	case flownStream:
		s.Closed = e.out != 0
	}
}
