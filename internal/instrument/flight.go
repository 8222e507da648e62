package instrument

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/instrument/flight"
	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// FlightRecord returns the latest [telemetry.FlightSize] entries of the client's flight recorder, oldest first.
func (c *Client) FlightRecord() []telemetry.FlightEntry {
	if c == nil {
		return nil
	}
	return c.flight.Entries()
}

// Operations returns statistics of the requests that the client has sent and of the requests that it has answered.
func (c *Client) Operations() []telemetry.Operation {
	if c == nil {
		return nil
	}
	return c.operations()
}

// FlightRecord returns the latest [telemetry.FlightSize] entries of the server's flight recorder, oldest first, for all
// clients over this kind of network.
func (s *Server) FlightRecord() []telemetry.FlightEntry {
	if s == nil {
		return nil
	}
	return s.flight.Entries()
}

// Operations returns statistics of the requests that the server has answered and of the requests that it has sent.
func (s *Server) Operations() []telemetry.Operation {
	if s == nil {
		return nil
	}
	return s.operations()
}

// ConnectionFailed logs the flight recorder because a connection to a client failed with this error type.
func (s *Server) ConnectionFailed(errorType string) {
	if s == nil {
		return
	}
	s.flight.Note(flight.Entry{Brief: flight.Brief{
		Kind: flight.Failure, Failed: true, Word: flight.LabelOf(wordOf(errorType)),
	}})
	s.logs.flightRecord(context.Background())
}

func (c *Client) noteTransition(t *Transition) {
	e := flight.Entry{Brief: flight.Brief{
		Kind: flight.Transition, Elapsed: t.Duration, From: uint8(t.From), To: uint8(t.To),
		Word: flight.LabelOf(t.Reason.String()), Out: int64(t.Epoch), In: int64(t.Transition.Attempt),
	}}
	if t.Attempt != (Ref{}) {
		e.Trace = t.Attempt.spanContext().TraceID()
	}
	c.flight.Note(e)
}

func (c *Client) noteExit(x ProcessExit) {
	c.flight.Note(flight.Entry{Brief: flight.Brief{
		Kind: flight.Exit, Word: flight.LabelOf(x.Signal), Failed: x.Code != 0 || x.Signal != "",
		Out: int64(x.PID), In: int64(x.Code),
	}})
}

// entry returns the entry of the dropped response for the flight recorder.
func (d *Drop) entry() flight.Entry {
	e := flight.Entry{Brief: flight.Brief{Kind: flight.Drop, Word: flight.LabelOf(d.Reason), Elapsed: d.Age}}
	e.SetPeerID(d.ID)
	if d.Ref != (Ref{}) {
		e.Trace = d.Ref.spanContext().TraceID()
	}
	return e
}

// startEntry adds the entry of a request. A notification gets its entry at its end, because there may be many
// notifications.
func (op *Op) startEntry() {
	if !op.flight.on || op.notification {
		return
	}
	var e flight.Entry
	op.describe(&e)
	op.flight.entry = op.side.flight.Add(&e)
}

// endEntry completes the entry of an ended operation.
func (op *Op) endEntry(o outcome, r *Result, elapsed time.Duration) {
	if !op.flight.on {
		return
	}
	end := flight.Ending{Elapsed: elapsed, Failed: o.failed, Out: op.bytesOut, In: op.bytesIn, Retries: int(op.retries),
		Round: int(op.round)}
	switch {
	case o.failed:
		end.Word = o.errorType()
	case o.hasCode:
		end.Word = o.statusCode()
	case r.ResultType == resultInputRequired || r.ResultType == resultTask:
		end.Word = words.OneOf(unfinishedResults, r.ResultType)
	}
	if op.notification {
		var e flight.Entry
		op.describe(&e)
		e.Complete(&end)
		op.side.flight.Note(e)
		return
	}
	op.flight.entry = op.side.flight.End(op.flight.entry, &end, op.describe)
}

// unfinishedResults lists the result types that do not end a call.
var unfinishedResults = []string{resultInputRequired, resultTask}

// describe sets the entry's time, subject, direction, trace and ids.
func (op *Op) describe(e *flight.Entry) {
	recorder := &op.side.flight
	switch {
	case !op.progress.start.IsZero():
		e.At = recorder.At(op.progress.start.Add(op.progress.sent))
	case op.progress.sending:
		e.At = op.progress.sent
	default:
		e.At = recorder.Now()
	}
	e.About, e.Direction = op.info.about, op.direction
	switch {
	case op.notification:
		e.Kind = flight.Notification
	case op.direction == telemetry.DirectionReceived:
		e.Kind = flight.Handler
	}
	if op.trace.span != nil {
		e.Trace = op.trace.span.SpanContext().TraceID()
	} else {
		e.Trace = trace.SpanContextFromContext(op.ctx).TraceID()
	}
	if op.direction == telemetry.DirectionReceived {
		if op.ids.hasID {
			e.SetPeerIntID(op.ids.id)
		} else {
			e.SetPeerID(op.ids.peerID)
		}
		return
	}
	e.ID = op.ids.id
	if op.side.keys.corrID != "" && !op.notification {
		e.Name = op.Corr().id
	}
}
