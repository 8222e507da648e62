package receiver

import (
	"cmp"
	"slices"

	"github.com/mcpotel/mcpotel/internal/explain"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// The functions of this file read the flight recorders of clients and servers, which have an operation before its spans
// arrive.

// recorded returns the ids of the subject's operations in the flight recorders: those in flight, the oldest first, and
// then the failed ones, the newest first.
func (l *look) recorded() (ids []string) {
	name := cmp.Or(l.labels["mcp_client_name"], l.labels["mcp_server_name"])
	var failed []string
	for i := range l.peers {
		p := &l.peers[i]
		if p.Name != name {
			continue
		}
		for _, e := range p.Recent {
			switch id := cmp.Or(e.TraceID, e.CorrID); {
			case e.Pending:
				ids = append(ids, id)
			case e.Failed && !e.Time.Before(l.since):
				failed = append(failed, id)
			}
		}
	}
	slices.Reverse(failed)
	return append(ids, failed...)
}

// isPartial reports whether the spans of a trace have not arrived yet. An operation in flight has no span, and without a
// source of spans there are none.
func (l *look) isPartial(f *explain.Facts) bool {
	return len(l.Sources.Spans) > 0 && len(f.Spans) == 0 && linkable(f) &&
		!slices.ContainsFunc(f.Peers, func(p explain.Peer) bool {
			return slices.ContainsFunc(p.Recent, func(e telemetry.FlightEntry) bool {
				return e.Pending && e.TraceID == f.TraceID
			})
		})
}

// recordedSpans returns the operations of a trace in the flight recorders in the form of spans.
func (l *look) recordedSpans(f *explain.Facts) (all []explain.Span) {
	for i := range f.Peers {
		p := &f.Peers[i]
		for _, e := range p.Recent {
			if e.TraceID != f.TraceID && e.CorrID != f.TraceID || e.Method == "" && e.Kind != "attempt" {
				continue
			}
			s := explain.Span{Service: firstOf(l.services()), Start: e.Time, End: e.Time.Add(e.Elapsed), Failed: e.Failed,
				Attributes: map[string]string{"mcp_" + p.Side() + ".name": p.Name, names.KeyMCPMethodName: e.Method,
					names.KeyGenAIToolName: e.Target}}
			if e.Failed {
				s.Attributes[names.KeyErrorType] = e.Reason
			}
			if e.Kind == "attempt" {
				s.Attributes[names.KeyMCPClientConnectionAttemptNumber] = "1" // the recorder has no number
			}
			all = append(all, s)
		}
	}
	return all
}

// linkable reports whether the id of the facts is the id of a trace, and not the correlation id of a call without a
// trace.
func linkable(f *explain.Facts) bool {
	return len(f.Spans) > 0 || slices.ContainsFunc(f.Peers, func(p explain.Peer) bool {
		return slices.ContainsFunc(p.Recent, func(e telemetry.FlightEntry) bool { return e.TraceID == f.TraceID })
	})
}
