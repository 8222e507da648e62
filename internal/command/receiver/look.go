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
)

const (
	maxCandidates = 10              // traces that one look reads
	maxParts      = 5               // results of a query
	again         = 2 * time.Second // between two looks for a trace that has not arrived yet
)

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
	linked   string            // id of a trace that cannot be read; empty for none
	missing  []string          // evidence that could not be read
	failures map[string]string // the last error of each source; empty after an answer
}

// parts queries the parts of the number behind the alert.
func (l *look) parts(ctx context.Context) {
	if l.row.query != nil && l.Metrics != nil {
		found, err := l.Metrics.Query(ctx, l.row.query(l.subject))
		l.fails(ctx, "Prometheus", err)
		slices.SortStableFunc(found, func(a, b prom.Series) int { return cmp.Compare(b.Value(), a.Value()) })
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
		l.unread(ctx)
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
	if l.found == nil {
		l.missing = append(l.missing, "a trace of "+l.who()+" in the time of the alert")
	}
}

// unread finds a trace of an exemplar that people can open, without a source from which it could be read.
func (l *look) unread(ctx context.Context) {
	if l.Metrics == nil || l.Links.Trace == "" {
		return
	}
	for _, ids := range [][]string{l.ofMetric(ctx), l.exemplars(ctx, "", l.selector())} {
		for _, id := range ids {
			if id, ok := traceID(id); ok {
				l.linked = id
				return
			}
		}
	}
}

// ofMetric returns the ids of exemplars of the row's metric.
func (l *look) ofMetric(ctx context.Context) []string {
	if l.row.metric == "" {
		return nil
	}
	return l.exemplars(ctx, strings.Replace(l.row.metric, "mcp_client_", "mcp_"+l.end()+"_", 1), l.labelled())
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
		l.consider(ctx, l.ofMetric(ctx))
		l.consider(ctx, l.exemplars(ctx, "", l.selector()))
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

// exemplars returns the ids of the traces of exemplars, the newest first.
func (l *look) exemplars(ctx context.Context, metric string, labels prom.Labels) (ids []string) {
	found, err := l.Metrics.MCPExemplars(ctx, metric, labels, l.since, time.Now())
	l.fails(ctx, "the exemplars of Prometheus", err)
	for _, e := range found {
		ids = append(ids, e.Labels["trace_id"])
	}
	return ids
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

// traceID validates the id of a trace. Jaeger may omit leading zeros.
func traceID(text string) (id string, ok bool) {
	id = strings.ToLower(text)
	if id == "" || len(id) > 32 || strings.Trim(id, "0123456789abcdef") != "" {
		return "", false
	}
	return strings.Repeat("0", 32-len(id)) + id, true
}
