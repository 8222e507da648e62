package telemetry

import (
	"slices"
	"strconv"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/connstate"
)

// FlightEntry is an entry of a flight recorder: something that happened, as sizes, names and ids. Which fields are there
// depends on the kind. Names are those that metrics have, of which there are so many: others are _OTHER.
type FlightEntry struct {
	// Time is when it happened, for a request when it was sent or arrived.
	Time time.Time `json:"time"`

	// Kind is what happened:
	//
	//	request       was sent, and Pending or ended
	//	handler       answers a request of the peer, or did
	//	notification  was sent or received; not those of progress, log messages and cancellation
	//	attempt       to connect ended; Attempt numbers it
	//	transition    of the connection, From a state To another, in which it was for the time Elapsed
	//	backoff       began, to last for the time Elapsed
	//	violation     of the protocol by a frame of Size, above the Limit if that was the rule
	//	drop          of a response that nobody waited for, which came the time Elapsed after the end of its call
	//	lost          notification, which reached no handler
	//	panic         of a handler
	//	exit          of the server's process, PID, with Code or by the signal that is the Reason
	//	stream        that serves no single request opened, or was Closed
	//	session       ended
	//	task          ended, with the status that is the Reason
	//	failure       of a server's connection
	Kind string `json:"kind"`

	Direction string `json:"direction,omitempty"` // of the message: sent or received
	Method    string `json:"method,omitempty"`
	Target    string `json:"target,omitempty"` // tool or prompt
	ID        string `json:"id,omitempty"`     // of the request; of one that the peer gave, up to 16 bytes
	TraceID   string `json:"trace_id,omitempty"`
	CorrID    string `json:"corr_id,omitempty"`

	Pending bool          `json:"pending,omitempty"` // it has not ended
	Failed  bool          `json:"failed,omitempty"`
	Reason  string        `json:"reason,omitempty"` // error.type if it failed, or another word
	Elapsed time.Duration `json:"elapsed_ns,omitempty"`
	Count   int           `json:"count,omitempty"` // how often it happened in a row, if more than once; the rest is of the last time

	BytesSent     int `json:"bytes_sent,omitempty"`
	BytesReceived int `json:"bytes_received,omitempty"`
	Retries       int `json:"retries,omitempty"` // of sending
	Round         int `json:"round,omitempty"`   // of a call that brings the server what it asked for

	From    string `json:"from,omitempty"`
	To      string `json:"to,omitempty"`
	Epoch   int64  `json:"epoch,omitempty"`
	Attempt int64  `json:"attempt,omitempty"`
	Size    int64  `json:"size,omitempty"`
	Limit   int64  `json:"limit,omitempty"`
	PID     int64  `json:"pid,omitempty"`
	Code    int64  `json:"code,omitempty"`
	Closed  bool   `json:"closed,omitempty"`
}

// flightKinds are the kinds of entries as words.
var flightKinds = []string{
	flownRequest: "request", flownHandler: "handler", flownNotification: "notification", flownAttempt: "attempt",
	flownTransition: "transition", flownBackoff: "backoff", flownViolation: "violation", flownDrop: "drop",
	flownLost: "lost", flownPanic: "panic", flownExit: "exit", flownStream: "stream", flownSession: "session",
	flownTask: "task", flownFailure: "failure",
}

// entries returns the entries from the one with that number on, 0 being the first ever, in the order in which they
// happened to begin.
func (f *flight) entries() []FlightEntry {
	some, _ := f.snapshot(0)
	all := make([]FlightEntry, len(some))
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
	if f.next > FlightSize {
		from = max(from, f.next-FlightSize)
	}
	some := make([]entry, 0, f.next-from)
	for n := from; n < f.next; n++ {
		some = append(some, f.ring[n%FlightSize])
	}
	slices.SortStableFunc(some, func(a, b entry) int { return int(min(1, max(-1, a.at-b.at))) })
	return some
}

// show returns the entry as users see it.
func (e *entry) show(base time.Time) FlightEntry {
	s := FlightEntry{
		Time: base.Add(e.at), Kind: flightKinds[e.kind], Method: e.method.String(), Target: e.target.String(),
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
func (e *entry) showNumbers(s *FlightEntry) {
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
		s.Direction = Received.String()
	case flownExit:
		s.PID, s.Code = e.out, e.in
	case flownStream:
		s.Closed = e.out != 0
	}
}
