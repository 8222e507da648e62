package receiver

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/internal/command/prom"
	"github.com/mcpotel/mcpotel/internal/explain"
	"github.com/mcpotel/mcpotel/internal/inspector"
	"github.com/mcpotel/mcpotel/internal/unit"
	"github.com/mcpotel/mcpotel/internal/visible"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// Evidence is the telemetry that explains alerts. It is safe for concurrent use.
type Evidence struct {
	Sources inspector.Sources
	Metrics *prom.Client // nil for none
	Links   Links
}

const (
	maxCandidates = 10              // traces that one look reads
	maxParts      = 5               // results of a query
	again         = 2 * time.Second // between two looks for a trace that has not arrived yet
)

// Explain returns the message about a firing alert. It looks for a trace that shows the cause until it finds one or ctx
// ends: spans arrive later than the metrics behind an alert. The message lists the missing evidence.
func (e *Evidence) Explain(ctx context.Context, a *Alert) *Message {
	r := known(a.Name())
	if r == nil {
		r = &unknown
	}
	l := &look{Evidence: e, row: r, subject: subjectOf(a, r, time.Now()), read: map[string]bool{},
		failures: map[string]string{}}
	if ctx.Err() == nil {
		l.parts(ctx)
		l.findTrace(ctx)
	} else {
		l.missing = append(l.missing, "a search: the time for the alerts of the request was over; lower max_alerts")
	}
	m := newMessage(a)
	l.conclude(m, a)
	m.Missing = append(m.Missing, l.missing...)
	if text := e.Links.unlinked(a); text != "" {
		m.Missing = append(m.Missing, text)
	}
	m.Runbook = e.Links.runbook(a)
	return m.bounded()
}

// look is one search for the evidence of an alert.
type look struct {
	*Evidence
	row *row
	subject

	results  []prom.Series     // of the row's query, the largest first
	patterns []pattern         // of the spans that show the cause
	peers    []explain.Peer    // clients and servers of the sources
	read     map[string]bool   // ids of the traces that do not show the cause
	found    *explain.Facts    // the facts of the best trace; nil for none
	rank     int               // index of the pattern of found; len(patterns) if it shows only who is affected
	partial  bool              // found has spans that no source has yet, so that the explanation may be less exact
	missing  []string          // evidence that could not be read
	failures map[string]string // the last error of each source; empty after an answer
}

// parts queries the parts of the number behind the alert.
func (l *look) parts(ctx context.Context) {
	if l.row.query != nil && l.Metrics != nil {
		found, err := l.Metrics.Query(ctx, l.row.query(l.subject))
		l.fails(ctx, "Prometheus", err)
		slices.SortStableFunc(found, func(a, b prom.Series) int {
			if a.Value() > b.Value() {
				return -1
			}
			return 1
		})
		l.results = found[:min(len(found), maxParts)]
	}
	if l.row.shows != nil {
		l.patterns = l.row.shows(l.subject, l.partLabels())
	}
	l.rank = len(l.patterns) + 1
}

// partLabels returns the labels of the results.
func (l *look) partLabels() (all []map[string]string) {
	for _, s := range l.results {
		all = append(all, s.Labels)
	}
	return all
}

// fails records whether a source has failed. The end of the time is no failure of a source that has answered before.
func (l *look) fails(ctx context.Context, source string, err error) {
	if err == nil {
		l.failures[source] = ""
	} else if _, answered := l.failures[source]; !answered || ctx.Err() == nil {
		l.failures[source] = err.Error()
	}
}

// findTrace looks for a trace until it finds one that shows the cause, or ctx ends.
func (l *look) findTrace(ctx context.Context) {
	if len(l.Sources.Spans)+len(l.Sources.Peers) == 0 {
		l.missing = append(l.missing, "traces: no source of traces is configured")
		return
	}
	for {
		if l.once(ctx); l.enough() {
			break
		}
		select {
		case <-time.After(again):
			continue
		case <-ctx.Done():
		}
		break
	}
	for _, source := range sortedKeys(l.failures) {
		if text := l.failures[source]; text != "" {
			l.missing = append(l.missing, source+": "+text)
		}
	}
	if l.found == nil {
		l.missing = append(l.missing, "a trace of "+l.who()+" in the time of the alert")
	}
}

// enough reports whether the found trace shows the cause, if a trace can show it.
func (l *look) enough() bool {
	return l.found != nil && !l.partial && (l.rank < len(l.patterns) || len(l.patterns) == 0)
}

// best reports whether no other trace can be better than the found one.
func (l *look) best() bool { return l.rank == 0 && !l.partial }

// once looks for a trace: in the flight recorders, by exemplars, and by searches.
func (l *look) once(ctx context.Context) {
	clear(l.read)
	peers, missing := l.Sources.Look(ctx)
	l.peers = peers
	l.fails(ctx, "the debug pages", joined(missing))
	l.consider(ctx, l.recorded())
	if l.Metrics != nil {
		if l.row.metric != "" {
			l.exemplars(ctx, strings.Replace(l.row.metric, "mcp_client_", "mcp_"+l.end()+"_", 1), l.subject.labelled())
		}
		l.exemplars(ctx, "", l.selector())
	}
	for _, p := range l.patterns {
		l.search(ctx, p)
	}
	if l.found == nil || len(l.patterns) == 0 {
		l.search(ctx, pattern{})
	}
}

// joined returns the texts as an error, or nil.
func joined(texts []string) error {
	if len(texts) == 0 {
		return nil
	}
	return fmt.Errorf("%s", strings.Join(texts, "; "))
}

// end returns client or server.
func (s subject) end() string {
	if s.server() {
		return "server"
	}
	return "client"
}

// labelled returns all labels of the alert that its metric has as well.
func (s subject) labelled() prom.Labels {
	all := s.selector()
	for key, value := range s.labels {
		if value != "" && (strings.HasPrefix(key, "mcp_") || strings.HasPrefix(key, "gen_ai_")) {
			all[key] = value
		}
	}
	return all
}

// recorded returns the ids of the subject's operations in the flight recorders: those in flight, the oldest first, and
// then the failed ones, the newest first.
func (l *look) recorded() (ids []string) {
	name := l.labels["mcp_client_name"] + l.labels["mcp_server_name"]
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

// exemplars considers the traces of exemplars.
func (l *look) exemplars(ctx context.Context, metric string, labels prom.Labels) {
	found, err := l.Metrics.MCPExemplars(ctx, metric, labels, l.since, l.until)
	l.fails(ctx, "the exemplars of Prometheus", err)
	var ids []string
	for _, e := range found {
		ids = append(ids, e.Labels["trace_id"])
	}
	l.consider(ctx, ids)
}

// search considers the traces with spans of a pattern.
func (l *look) search(ctx context.Context, p pattern) {
	if l.enough() {
		return
	}
	services := l.services()
	if services == nil {
		services = []string{""}
	}
	for _, service := range services {
		q := inspector.Query{Service: service, Attributes: l.searched(p), Failed: p.failed, AtLeast: p.atLeast,
			Since: l.since}
		for _, s := range l.Sources.Spans {
			ids, err := s.Recent(ctx, q)
			l.fails(ctx, s.Name(), err)
			l.consider(ctx, ids)
		}
	}
}

// consider reads traces, and keeps the one that shows the cause best.
func (l *look) consider(ctx context.Context, ids []string) {
	n := 0
	for _, id := range ids {
		if l.best() || n == maxCandidates || ctx.Err() != nil {
			return
		}
		id, ok := traceID(id)
		if !ok || l.read[id] {
			continue
		}
		n++
		l.read[id] = true
		facts := l.Sources.Facts(ctx, id, l.peers)
		rank, partial := l.ranked(&facts), l.isPartial(&facts)
		if rank < l.rank || rank == l.rank && l.partial && !partial {
			l.rank, l.found, l.partial = rank, &facts, partial
		}
	}
}

// ranked returns the index of the first pattern of a trace, len(patterns) if the trace only belongs to the subject, and
// more if it does not.
func (l *look) ranked(f *explain.Facts) int {
	spans := append(slices.Clone(f.Spans), l.recordedSpans(f)...)
	for i, p := range append(slices.Clone(l.patterns), pattern{}) {
		if slices.ContainsFunc(spans, func(s explain.Span) bool { return l.matches(p, &s) }) {
			return i
		}
	}
	return len(l.patterns) + 1
}

// isPartial reports whether the spans of a trace have not arrived yet. An operation in flight has no span, and without a
// source of spans there are none.
func (l *look) isPartial(f *explain.Facts) bool {
	return len(l.Sources.Spans) > 0 && len(f.Spans) == 0 && linkable(f) &&
		!slices.ContainsFunc(f.Peers, func(p explain.Peer) bool {
			return slices.ContainsFunc(p.Recent, func(e telemetry.FlightEntry) bool { return e.Pending && e.TraceID == f.TraceID })
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

// traceID validates the id of a trace. Jaeger may omit leading zeros.
func traceID(text string) (id string, ok bool) {
	id = strings.ToLower(text)
	if id == "" || len(id) > 32 || strings.Trim(id, "0123456789abcdef") != "" {
		return "", false
	}
	return strings.Repeat("0", 32-len(id)) + id, true
}

// conclude adds the causes and the link to the trace to a message.
func (l *look) conclude(m *Message, a *Alert) {
	var own []explain.Cause
	if l.row.cause != nil {
		if c := l.row.cause(l.subject, l.partLabels()); c != nil {
			c.Evidence = append(l.evidence(a), c.Evidence...)
			own = append(own, *c)
		}
	}
	if l.found == nil {
		m.Causes = own
		m.Trace = l.Links.search(firstOf(l.services()), l.attributes(), l.since, l.until)
		return
	}
	x := explain.Explain(l.found)
	shows := l.rank < len(l.patterns) || x.Outcome == explain.UnderWay
	if linkable(l.found) {
		m.Trace = l.Links.trace(l.found.TraceID, shows)
	}
	if m.Trace == nil {
		m.Missing = append(m.Missing, "a page of the trace "+l.found.TraceID)
	}
	if x.Operation != "" {
		m.Operation = x.Operation
		if x.Peer != "" {
			m.Operation += " of " + x.Peer
		}
		m.Operation += " " + strings.ReplaceAll(string(x.Outcome), "_", " ")
	}
	m.Missing = append(m.Missing, x.Missing...)
	m.Quotes = x.Quotes
	switch {
	case !shows:
		m.Causes, m.Quotes = own, nil
		if len(l.patterns) > 0 {
			m.Missing = append(m.Missing, "a trace that shows the cause")
		}
	case l.row.traced:
		m.Causes = merged(x.Causes, own)
	default:
		m.Causes = merged(own, x.Causes)
	}
}

// merged returns the causes of both lists. A cause that both have keeps the evidence of both.
func merged(first, second []explain.Cause) []explain.Cause {
	for _, c := range second {
		if i := slices.IndexFunc(first, func(f explain.Cause) bool { return f.ID == c.ID }); i >= 0 {
			first[i].Evidence = append(first[i].Evidence, c.Evidence...)
		} else {
			first = append(first, c)
		}
	}
	return first
}

// evidence returns the evidence of the metrics.
func (l *look) evidence(a *Alert) (all []string) {
	text := "the alert fires since " + a.StartsAt.UTC().Format(time.DateTime) + " UTC"
	if summary := a.Annotations["summary"]; summary != "" {
		text += fmt.Sprintf(": %q", visible.Short(summary, maxText/2))
	}
	all = append(all, text)
	for _, s := range l.results {
		var parts []string
		for _, key := range sortedKeys(s.Labels) {
			parts = append(parts, key+"="+visible.Word(s.Labels[key], maxName))
		}
		all = append(all, "metrics: "+unit.Number(s.Value())+" with "+strings.Join(parts, ", "))
	}
	return all
}

func firstOf(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return all[0]
}
