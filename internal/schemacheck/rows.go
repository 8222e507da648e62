package schemacheck

import (
	"fmt"
	"slices"

	"github.com/mcpotel/mcpotel/internal/instrument/schema"
)

// Set is a set of rows of the schema: texts such as "metric mcp_client.tombstone.kept with mcp_client.name".
type Set map[string]bool

func (s Set) add(format string, args ...any) { s[fmt.Sprintf(format, args...)] = true }

// Sorted returns the rows in sorted order.
func (s Set) Sorted() []string {
	rows := make([]string, 0, len(s))
	for r := range s {
		rows = append(rows, r)
	}
	slices.Sort(rows)
	return rows
}

// Missing returns the rows of s that are not in the other set, sorted.
func (s Set) Missing(from Set) []string {
	return slices.DeleteFunc(s.Sorted(), func(r string) bool { return from[r] })
}

// Declared returns all rows of the schema: spans with their attributes, statuses and links; metrics with their
// attributes; events with their fields and levels; and attributes from the baggage. Each value of a closed attribute of
// a metric has a row, too.
func Declared() Set {
	s := Set{}
	for _, row := range schema.Current.Spans {
		s.add("span %s", row.ID)
		for _, u := range slices.Concat(row.AtStart, row.AtEnd) {
			s.add("span %s with %s", row.ID, u.Key)
		}
		for _, status := range row.Statuses {
			s.add("span %s with status %s", row.ID, status)
		}
		if len(row.Links) > 0 {
			s.add("span %s with a link", row.ID)
		}
	}
	for _, row := range schema.Current.Metrics {
		s.add("metric %s", row.Name)
		for _, u := range row.Attrs {
			s.add("metric %s with %s", row.Name, u.Key)
			for _, v := range wordsOf(&u, rowOf(u.Key)) {
				s.add("metric %s with %s=%s", row.Name, u.Key, v)
			}
		}
	}
	for _, row := range schema.Current.Events {
		s.add("event %s", row.Name)
		for _, u := range row.Fields {
			s.add("event %s with %s", row.Name, u.Key)
		}
		for _, l := range row.Levels {
			s.add("event %s at %v", row.Name, l)
		}
	}
	for _, u := range schema.Current.Baggage {
		s.add("baggage %s", u.Key)
	}
	return s
}

// Rows returns the declared rows that occur in the telemetry.
func Rows(signals *Signals) Set {
	s := Set{}
	for i := range signals.Spans {
		s.span(&signals.Spans[i], signals.Users)
	}
	for _, m := range signals.Metrics {
		s.metric(&m)
	}
	for _, r := range signals.Records {
		s.add("event %s", r.Event)
		s.add("event %s at %v", r.Event, r.Level)
		for key := range r.Attrs {
			s.add("event %s with %s", r.Event, key)
			s.add("baggage %s", key)
		}
	}
	declared := Declared()
	for r := range s {
		if !declared[r] {
			delete(s, r)
		}
	}
	return s
}

func (s Set) span(span *Span, users bool) {
	id := span.row(users)
	s.add("span %s", id)
	s.add("span %s with status %s", id, span.Status)
	for key := range span.Attrs {
		s.add("span %s with %s", id, rowKey(key))
		s.add("baggage %s", key)
	}
	if span.Links > 0 {
		s.add("span %s with a link", id)
	}
}

func (s Set) metric(m *Metric) {
	s.add("metric %s", m.Name)
	for _, p := range m.Points {
		for key, v := range p.Attrs {
			s.add("metric %s with %s", m.Name, key)
			s.add("metric %s with %s=%s", m.Name, key, v.Text)
		}
	}
}
