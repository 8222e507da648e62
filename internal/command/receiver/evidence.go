package receiver

import (
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
)

// Evidence is the telemetry that explains alerts. It is safe for concurrent use.
type Evidence struct {
	Sources inspector.Sources
	Metrics *prom.Client // nil for none
	Links   Links
}

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
	for _, source := range sortedKeys(l.failures) {
		if text := l.failures[source]; text != "" {
			l.missing = append(l.missing, source+": "+text)
		}
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

// conclude adds the causes and the link to the trace to a message.
func (l *look) conclude(m *Message, a *Alert) {
	var own []explain.Cause
	if l.row.cause != nil {
		if c := l.row.cause(l.subject, l.partLabels()); c != nil {
			c.Evidence = append(l.evidence(a), c.Evidence...)
			own = append(own, *c)
		}
	}
	if l.found == nil && l.linked != "" {
		m.Causes, m.Trace = own, l.Links.trace(l.linked, false)
		return
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
