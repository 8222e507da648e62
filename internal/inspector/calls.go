package inspector

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/internal/explain"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// call is a call or an attempt to connect, from a flight recorder or from a source of spans.
type call struct {
	time  time.Time
	facts explain.Facts
	span  string // name of the matching span; empty if a flight recorder has the call
}

// Bounds of a search for calls in a source of spans.
const (
	maxTraces = 100            // number of traces to read
	maxSearch = 2 * patience   // time for all traces
	lookBack  = 24 * time.Hour // age of the oldest trace
	maxName   = 2 * maxLine    // bytes of a name in a request
)

// calls returns the calls of all sources that match f, the newest first, up to limit. It does not request traces that a
// flight recorder already has. missing lists the sources that did not answer.
func (in *inspector) calls(ctx context.Context, f filter, limit int) (all []call, missing []string) {
	peers, missing := in.peers(ctx)
	seen := map[string]bool{}
	for _, h := range happenings(peers, f) {
		id := h.id()
		if id != "" && seen[id] || !h.operation() {
			continue
		}
		if seen[id] = true; len(all) == limit {
			break
		}
		all = append(all, call{time: h.entry.Time, facts: knownOf(peers, &h)})
	}
	for _, s := range in.sources.Spans {
		found, err := in.search(ctx, s, peers, f, limit, seen)
		if err != nil {
			missing = append(missing, s.Name()+": "+line(err.Error()))
		}
		all = append(all, found...)
	}
	slices.SortStableFunc(all, func(a, b call) int { return b.time.Compare(a.time) })
	return all[:min(len(all), limit)], missing
}

// knownOf returns the flight recorders' facts about the trace of h.
func knownOf(peers []explain.Peer, h *happening) explain.Facts {
	id := h.id()
	if id == "" {
		return alone(h, nil)
	}
	return explain.Facts{TraceID: id, Peers: having(peers, id)}
}

// having returns the peers with entries of a trace.
func having(peers []explain.Peer, id string) (all []explain.Peer) {
	for _, p := range peers {
		if p.Has(id) {
			all = append(all, p)
		}
	}
	return all
}

// search returns the calls in the traces of a source that match f, except seen ones.
func (in *inspector) search(ctx context.Context, s Spans, peers []explain.Peer, f filter, limit int,
	seen map[string]bool) (all []call, err error) {
	ctx, cancel := context.WithTimeout(ctx, maxSearch)
	defer cancel()
	q := Query{Failed: f.failed, Since: time.Now().Add(-lookBack)}
	if len(f.tool) <= maxName {
		q.Tool = f.tool
	}
	ids, err := within(ctx, func(ctx context.Context) ([]string, error) { return s.Recent(ctx, q) })
	if err != nil {
		return nil, err
	}
	for _, id := range ids[:min(len(ids), maxTraces)] {
		if len(all) == limit {
			break
		}
		if seen[id] {
			continue
		}
		seen[id] = true
		spans, err := within(ctx, func(ctx context.Context) ([]explain.Span, error) { return s.Trace(ctx, id) })
		if err != nil {
			return all, err
		}
		if i := slices.IndexFunc(spans, func(x explain.Span) bool { return f.wantsSpan(&x) }); i >= 0 && !ownTrace(spans) {
			all = append(all, call{time: spans[i].Start, span: spans[i].Name,
				facts: explain.Facts{TraceID: id, Spans: spans, Peers: having(peers, id)}})
		}
	}
	return all, nil
}

// wantsSpan reports whether the filter selects a span.
func (f *filter) wantsSpan(s *explain.Span) bool {
	owner := cmp.Or(s.Attributes[names.KeyMCPClientName], s.Attributes[names.KeyMCPServerName])
	return (!f.failed || s.Failed) && (f.tool == "" || line(f.tool) == line(s.Attributes[names.KeyGenAIToolName])) &&
		(f.peer == "" || strings.EqualFold(line(f.peer), line(owner)))
}

// ownTrace reports whether a trace is a call of this server's own tools. This server records no spans, so such a trace
// has no server spans. Another server therefore cannot hide its calls behind the names of these tools.
func ownTrace(spans []explain.Span) bool {
	own := false
	for i := range spans {
		if spans[i].Kind == "SERVER" {
			return false
		}
		own = own || spans[i].Kind == "CLIENT" && slices.Contains(toolNames, spans[i].Attributes[names.KeyGenAIToolName])
	}
	return own
}

// line returns the call as a line of a list.
func (c *call) line() traceLine {
	x := explain.Explain(&c.facts)
	l := traceLine{TraceID: c.facts.TraceID, Time: c.time, Peer: x.Peer, Operation: x.Operation, Outcome: x.Outcome}
	if l.Operation == "" { // the trace has no MCP span
		l.Operation, l.Outcome = fmt.Sprintf("%q", line(c.span)), explain.Failed
	}
	switch {
	case len(x.Causes) > 0:
		l.Cause, l.Text = x.Causes[0].ID, x.Causes[0].Text
	case c.span != "" && x.Outcome != explain.Failed:
		l.Text = fmt.Sprintf("The span %q of this trace failed.", line(c.span))
	}
	return l
}
