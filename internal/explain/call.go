package explain

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// operation is a request at one of its ends, or an attempt to connect: what the flight recorder and a span say of it.
type operation struct {
	peer *Peer // nil if only a span tells of it
	span *Span // nil if only the flight recorder does

	side, kind     string // kind is that of a FlightEntry: request, handler, attempt
	method, target string
	id, corr       string
	start          time.Time // when it was sent, or arrived
	took           time.Duration
	pending        bool
	failed         bool
	reason         string // error.type, the code of an answer, or the type of a result
	message        string // with words of the peer
	retries, round int
}

func (o *operation) end() time.Time { return o.start.Add(o.took) }

// name is what the operation is called in a sentence.
func (o *operation) name() string {
	switch {
	case o.kind == kindAttempt:
		return "the attempt to connect"
	case o.target != "" && o.target != names.Other:
		return name(o.method) + " " + name(o.target)
	}
	return name(o.method)
}

// attribute is one of the span's, empty for none.
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

// operations are those of the trace, in the order in which they began.
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

// recorded is an operation as the flight recorder has it. An attempt is noted when it ends.
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

// observed is an operation as its span has it, nil for a span that is none.
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

// merged adds what a span tells: to what the flight recorder has of the same operation, or as one of its own.
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

// owner is the name of the client or server that the span has, empty for none.
func (o *operation) owner() string {
	return cmp.Or(o.attribute(names.KeyMCPClientName), o.attribute(names.KeyMCPServerName))
}

// view is the facts as the judges read them.
type view struct {
	*Facts
	all     []*operation
	subject *operation              // what the question is about; nil if nothing is known
	far     *operation              // its other end, as the server tells of it; nil if that is not seen
	near    []telemetry.FlightEntry // of the subject's peer, while it went on and shortly after

	origin  string // the process that has begun the trace
	between bool   // the trace has several beginnings in different processes: any of them may be a peer's
}

// atMost returns sure, or Likely if the span of an operation may be a peer's: every process that a trace passes through
// may export spans with any content into it. Only spans of the process that began the trace are proof.
func (v *view) atMost(sure Sure, o *operation) Sure {
	if o.span != nil && (v.between || o.span.Process != v.origin) {
		return Likely
	}
	return sure
}

// begun finds the process that began the trace: its spans are those without a parent in the trace.
func (v *view) begun() {
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
		v.between = v.between || !first && s.Process != v.origin
		v.origin, first = s.Process, false
	}
	v.between = v.between || first && len(v.Spans) > 0 // a circle of parents
}

// shortly is how long after a call its end may still be told of.
const shortly = 2 * time.Second

func look(f *Facts) *view {
	v := &view{Facts: f, all: operations(f)}
	v.subject = subjectOf(v.all)
	v.begun()
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

// farOf is the other end of a request, as its server tells of it; nil if that is not seen. Spans name their parent; of
// those that flight recorders alone tell of, it is the first that fits, for a server calls another one later.
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

// belongs reports whether an entry may say something of the subject: it is of the same trace, or about the connection,
// which all traces share.
func (v *view) belongs(e *telemetry.FlightEntry) bool {
	return e.TraceID == "" || v.of(e) || e.Kind == kindTransition || e.Method == "ping"
}

// subjectOf is what went wrong last, or else what is under way, or else what took longest. What failed inside a call
// that failed began later than the call.
func subjectOf(all []*operation) (subject *operation) {
	for i, o := range all {
		if o.wantsInput() && wentOn(o, all[i+1:]) {
			continue
		}
		if subject == nil || rank(o) > rank(subject) || rank(o) == rank(subject) && (rank(o) > 0 || o.took > subject.took) {
			subject = o
		}
	}
	return subject
}

// wentOn reports whether one of the later operations brings the server of a request what it has asked for.
func wentOn(o *operation, later []*operation) bool {
	return slices.ContainsFunc(later, func(l *operation) bool {
		return l.kind == o.kind && l.side == o.side && l.method == o.method && l.target == o.target && l.corr == o.corr &&
			(l.round > o.round || o.kind == kindHandler)
	})
}

// rank is higher for what a question is rather about.
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

// inputRequired is the type of the result of a server that asks for something first.
const inputRequired = "input_required"

// wantsInput reports whether the server has answered by asking for something first. If the client could not give it,
// the request has an error besides.
func (o *operation) wantsInput() bool {
	return o.reason == inputRequired || o.attribute(names.KeyMCPClientResultType) == inputRequired
}

// entry is the first entry near the subject of which is holds; nil for none.
func (v *view) entry(is func(*telemetry.FlightEntry) bool) *telemetry.FlightEntry {
	for i := range v.near {
		if is(&v.near[i]) {
			return &v.near[i]
		}
	}
	return nil
}

// happened is the first entry of a kind near the subject, with one of these reasons if there are any.
func (v *view) happened(kind string, reasons ...string) *telemetry.FlightEntry {
	return v.entry(func(e *telemetry.FlightEntry) bool {
		return e.Kind == kind && (len(reasons) == 0 || slices.Contains(reasons, e.Reason))
	})
}

// client is that of the subject, nil if it is not seen.
func (v *view) client() *Peer {
	if p := v.subject.peer; p != nil && p.Client != nil {
		return p
	}
	return nil
}
