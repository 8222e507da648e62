package explain

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// operation is a request as recorded by its client or its server, or an attempt to connect. It combines the data of the
// flight recorder and of the span.
type operation struct {
	peer *Peer // nil if only a span has the operation
	span *Span // nil if only the flight recorder has the operation

	side           string // clientSide or serverSide
	kind           string // FlightEntry.Kind: request, handler or attempt
	method, target string
	id, corr       string
	start          time.Time // when the request was sent or arrived
	took           time.Duration
	pending        bool
	failed         bool
	reason         string // error.type, the code of an answer, or the type of a result
	message        string // error text, which may quote the peer
	retries, round int
}

func (o *operation) end() time.Time { return o.start.Add(o.took) }

// name returns the name of the operation for a sentence.
func (o *operation) name() string {
	switch {
	case o.kind == kindAttempt:
		return "the attempt to connect"
	case o.target != "" && o.target != names.Other:
		return name(o.method) + " " + name(o.target)
	}
	return name(o.method)
}

// attribute returns an attribute of the span, or the empty string.
func (o *operation) attribute(key string) string {
	if o.span == nil {
		return ""
	}
	return o.span.Attributes[key]
}

// Kinds of entries of a flight recorder.
const (
	kindRequest    = "request"
	kindHandler    = "handler"
	kindAttempt    = "attempt"
	kindTransition = "transition"
	kindViolation  = "violation"
	kindDrop       = "drop"
	kindExit       = "exit"
	kindPanic      = "panic"
	kindTask       = "task"
	kindLost       = "lost"
)

// operations returns the operations of the trace in the order of their start.
func operations(f *Facts) []*operation {
	var all []*operation
	for i := range f.Peers {
		p := &f.Peers[i]
		for j := range p.Recent {
			if e := &p.Recent[j]; f.of(e) &&
				(e.Kind == kindRequest || e.Kind == kindHandler || e.Kind == kindAttempt) {
				all = append(all, recorded(p, e))
			}
		}
	}
	for i := range f.Spans {
		if s := observed(&f.Spans[i]); s != nil {
			all = merged(all, s)
		}
	}
	slices.SortStableFunc(all, func(a, b *operation) int { return a.start.Compare(b.start) })
	return all
}

// recorded returns the operation of a flight recorder's entry. The recorder adds an attempt when the attempt ends.
func recorded(p *Peer, e *telemetry.FlightEntry) *operation {
	o := &operation{
		peer: p, side: p.Side(), kind: e.Kind, method: e.Method, target: e.Target, id: e.ID, corr: e.CorrID,
		start: e.Time, took: e.Elapsed, pending: e.Pending, failed: e.Failed, reason: e.Reason,
		retries: e.Retries, round: e.Round,
	}
	if e.Kind == kindAttempt {
		o.start = e.Time.Add(-e.Elapsed)
	}
	return o
}

// observed returns the operation of a span, or nil if the span is not an operation.
func observed(s *Span) *operation {
	a := s.Attributes
	o := &operation{
		span: s, method: a[names.KeyMCPMethodName], target: cmp.Or(a[names.KeyGenAIToolName], a[names.KeyGenAIPromptName]),
		id: a[names.KeyJSONRPCRequestID], corr: a[names.KeyMCPClientCorrID], start: s.Start, took: s.End.Sub(s.Start),
		failed: s.Failed, message: s.Message,
		reason: cmp.Or(a[names.KeyErrorType], a[names.KeyRPCResponseStatusCode], a[names.KeyMCPClientResultType]),
	}
	switch {
	case a[names.KeyMCPClientConnectionAttemptNumber] != "":
		o.kind, o.side = kindAttempt, clientSide
	case o.method == "" || strings.HasPrefix(o.method, "notifications/"):
		return nil
	case s.Kind == "CLIENT":
		o.kind, o.side = kindRequest, clientSide
	case s.Kind == "SERVER":
		o.kind, o.side = kindHandler, serverSide
	default:
		return nil
	}
	if a[names.KeyMCPServerName] != "" {
		o.side = serverSide
	} else if a[names.KeyMCPClientName] != "" {
		o.side = clientSide
	}
	o.retries, o.round = number(a[names.KeyMCPClientSendRetries]), number(a[names.KeyMCPClientMRTRRound])
	return o
}

// merged adds the operation of a span to all: it merges the operation with the flight recorder's record of the same
// operation, or appends it.
func merged(all []*operation, s *operation) []*operation {
	for _, o := range all {
		if o.span == nil && o.side == s.side && o.kind == s.kind && o.id == s.id && (o.corr == s.corr || s.corr == "") &&
			(o.peer.Name == s.owner() || s.owner() == "") &&
			(o.method == s.method || o.method == names.Other || o.kind == kindAttempt) {
			o.span, o.message = s.span, s.message
			return all
		}
	}
	return append(all, s)
}

// owner returns the name of the client or server that recorded the span, or the empty string.
func (o *operation) owner() string {
	return cmp.Or(o.attribute(names.KeyMCPClientName), o.attribute(names.KeyMCPServerName))
}

// view is the facts, prepared for the rules.
type view struct {
	*Facts
	all     []*operation
	subject *operation              // the operation to explain; nil if there is none
	far     *operation              // the server's record of the subject; nil if it is missing
	near    []telemetry.FlightEntry // peer's entries from the start of the subject to shortly after its end

	origin    string // the process that started the trace
	ambiguous bool   // spans without a parent come from several processes, and any of them may be a peer
}

// atMost returns sure, or Likely if a peer may have exported the operation's span. Every process that a trace passes
// through can export spans with any content, so only spans of the process that started the trace prove a cause.
func (v *view) atMost(sure Sure, o *operation) Sure {
	if o.span != nil && (v.ambiguous || o.span.Process != v.origin) {
		return Likely
	}
	return sure
}

// findOrigin finds the process that started the trace: its spans have no parent in the trace.
func (v *view) findOrigin() {
	there := map[string]bool{}
	for i := range v.Spans {
		there[v.Spans[i].ID] = true
	}
	first := true
	for i := range v.Spans {
		s := &v.Spans[i]
		if s.Parent != "" && there[s.Parent] {
			continue
		}
		v.ambiguous = v.ambiguous || !first && s.Process != v.origin
		v.origin, first = s.Process, false
	}
	v.ambiguous = v.ambiguous || first && len(v.Spans) > 0 // no root: the parents form a cycle
}

// shortly is how long after the end of a call its entries may still be recorded.
const shortly = 2 * time.Second

func newView(f *Facts) *view {
	v := &view{Facts: f, all: operations(f)}
	v.subject = subjectOf(v.all)
	v.findOrigin()
	if v.subject == nil {
		return v
	}
	v.far = farOf(v.subject, v.all)
	if p := v.subject.peer; p != nil {
		end := v.subject.end().Add(shortly)
		for _, e := range p.Recent {
			if v.belongs(&e) && !e.Time.Before(v.subject.start) && (!e.Time.After(end) || v.subject.pending) {
				v.near = append(v.near, e)
			}
		}
	}
	return v
}

// farOf returns the server's record of a request, or nil if it is missing. If both sides have spans, the parent
// identifies the record. Otherwise farOf returns the first matching record, because the server's own calls to other
// servers start later.
func farOf(s *operation, all []*operation) (far *operation) {
	for _, o := range all {
		if s.kind != kindRequest || o.side == s.side || o.kind != kindHandler || o.id != s.id ||
			o.method != s.method && o.method != names.Other || o.target != s.target && o.target != names.Other {
			continue
		}
		if s.span != nil && o.span != nil && o.span.Parent == s.span.ID {
			return o
		}
		if far == nil && !o.start.Before(s.start) {
			far = o
		}
	}
	return far
}

// belongs reports whether an entry may concern the subject: it belongs to the same trace, or describes the connection,
// which all traces share.
func (v *view) belongs(e *telemetry.FlightEntry) bool {
	return e.TraceID == "" || v.of(e) || e.Kind == kindTransition || e.Method == "ping"
}

// subjectOf returns the failed operation that started last, or else an operation in flight, or else the longest
// operation. If a call failed because of another operation inside it, the inner operation started later.
func subjectOf(all []*operation) (subject *operation) {
	for i, o := range all {
		if o.wantsInput() && continued(o, all[i+1:]) {
			continue
		}
		if subject == nil || rank(o) > rank(subject) || rank(o) == rank(subject) && (rank(o) > 0 || o.took > subject.took) {
			subject = o
		}
	}
	return subject
}

// continued reports whether a later operation supplied the input that the server of a request had asked for.
func continued(o *operation, later []*operation) bool {
	return slices.ContainsFunc(later, func(l *operation) bool {
		return l.kind == o.kind && l.side == o.side && l.method == o.method && l.target == o.target && l.corr == o.corr &&
			(l.round > o.round || o.kind == kindHandler)
	})
}

// rank is higher for operations that are more likely to be the subject.
func rank(o *operation) int {
	part := o.kind == kindRequest && (o.method == "initialize" || o.method == "server/discover" || o.method == "ping")
	switch {
	case o.kind == kindRequest && o.side == clientSide && o.failed && !part:
		return 5
	case o.kind == kindRequest && o.side == clientSide && (o.pending || o.reason == inputRequired):
		return 4
	case o.kind == kindAttempt && o.failed:
		return 3
	case o.kind == kindHandler && (o.failed || o.pending), part && o.failed:
		return 2
	case o.kind == kindRequest && o.side == clientSide && !part:
		return 1
	}
	return 0
}

// inputRequired is the type of a result that requests input from the client.
const inputRequired = "input_required"

// wantsInput reports whether the server answered with a request for input. If the client could not supply the input,
// the request has an error as well.
func (o *operation) wantsInput() bool {
	return o.reason == inputRequired || o.attribute(names.KeyMCPClientResultType) == inputRequired
}

// entry returns the first entry near the subject for which is() returns true, or nil.
func (v *view) entry(is func(*telemetry.FlightEntry) bool) *telemetry.FlightEntry {
	for i := range v.near {
		if is(&v.near[i]) {
			return &v.near[i]
		}
	}
	return nil
}

// happened returns the first entry of a kind near the subject, with one of the reasons if any are given, or nil.
func (v *view) happened(kind string, reasons ...string) *telemetry.FlightEntry {
	return v.entry(func(e *telemetry.FlightEntry) bool {
		return e.Kind == kind && (len(reasons) == 0 || slices.Contains(reasons, e.Reason))
	})
}

// client returns the client of the subject, or nil if it is unknown.
func (v *view) client() *Peer {
	if p := v.subject.peer; p != nil && p.Client != nil {
		return p
	}
	return nil
}
