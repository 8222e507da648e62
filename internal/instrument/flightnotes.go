package instrument

import (
	"context"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// What goes into the flight recorder besides requests, and who may read it.

// FlightRecord returns what is in the flight recorder of the client: its latest [telemetry.FlightSize] entries, the
// oldest first.
func (c *Client) FlightRecord() []telemetry.FlightEntry {
	if c == nil {
		return nil
	}
	return c.flight.entries()
}

// Operations returns statistics of the requests that the client has sent, and of those that it has answered.
func (c *Client) Operations() []telemetry.Operation {
	if c == nil {
		return nil
	}
	return c.operations()
}

// FlightRecord returns what is in the flight recorder of the server: its latest [telemetry.FlightSize] entries over
// this kind of network, the oldest first, whichever clients they are of.
func (s *Server) FlightRecord() []telemetry.FlightEntry {
	if s == nil {
		return nil
	}
	return s.flight.entries()
}

// Operations returns statistics of the requests that the server has answered, and of those that it has sent.
func (s *Server) Operations() []telemetry.Operation {
	if s == nil {
		return nil
	}
	return s.operations()
}

// ConnectionFailed puts the flight recorder into the log because a connection to a client broke, with that error type.
func (s *Server) ConnectionFailed(errorType string) {
	if s == nil {
		return
	}
	s.flight.note(entry{brief: brief{kind: flownFailure, failed: true, word: labelOf(wordOf(errorType))}})
	s.logFlight(context.Background())
}

func (f *flight) transition(t *Transition) {
	e := entry{brief: brief{
		kind: flownTransition, elapsed: t.Duration, from: uint8(t.From), to: uint8(t.To), word: labelOf(t.Reason.String()),
		out: int64(t.Epoch), in: int64(t.Transition.Attempt),
	}}
	if t.Attempt != (Ref{}) {
		e.trace = t.Attempt.spanContext().TraceID()
	}
	f.note(e)
}

func (f *flight) dropped(d *Drop) {
	e := entry{brief: brief{kind: flownDrop, word: labelOf(d.Reason), elapsed: d.Age}}
	e.peerIDLen = uint8(copy(e.name[:], d.ID))
	if d.Ref != (Ref{}) {
		e.trace = d.Ref.spanContext().TraceID()
	}
	f.note(e)
}

func (f *flight) exit(x ProcessExit) {
	f.note(entry{brief: brief{
		kind: flownExit, word: labelOf(x.Signal), failed: x.Code != 0 || x.Signal != "", out: int64(x.PID), in: int64(x.Code),
	}})
}

func (f *flight) stream(kind string) {
	f.note(entry{brief: brief{kind: flownStream, about: subjectOf(kind, "")}})
}

func (f *flight) streamClosed(kind, errorType string, lived time.Duration) {
	f.note(entry{brief: brief{
		kind: flownStream, about: subjectOf(kind, ""), word: labelOf(errorType), failed: errorType != "",
		elapsed: lived, out: 1,
	}})
}
