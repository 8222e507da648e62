package telemetrytest

import (
	"fmt"
	"slices"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// Missing returns what the schema declares and nothing has shown so far: rows, attributes of rows, levels, statuses and
// links. It is for a test that means to emit everything.
func (r *Recording) Missing() []string {
	m := missing{}
	for _, row := range telemetry.Schema.Spans {
		m.spans(&row, slices.DeleteFunc(r.Spans(), func(s sdktrace.ReadOnlySpan) bool { return r.rowOf(s) != row.ID }))
	}
	for _, row := range telemetry.Schema.Metrics {
		points := r.Points(row.Name)
		m.expect(len(points) > 0, "metric %s", row.Name)
		for _, u := range row.Attrs {
			m.expect(slices.ContainsFunc(points, func(p Point) bool {
				_, ok := valuesOf(p.Attrs.ToSlice())[u.Key]
				return ok
			}), "metric %s with %s", row.Name, u.Key)
		}
	}
	for _, row := range telemetry.Schema.Events {
		m.events(&row, r.Logs(row.Name))
	}
	return m.found
}

type missing struct{ found []string }

func (m *missing) expect(shown bool, format string, args ...any) {
	if !shown {
		m.found = append(m.found, fmt.Sprintf(format, args...))
	}
}

func (m *missing) spans(row *telemetry.Span, shown []sdktrace.ReadOnlySpan) {
	m.expect(len(shown) > 0, "span %s", row.ID)
	for _, u := range slices.Concat(row.AtStart, row.AtEnd) {
		m.expect(slices.ContainsFunc(shown, func(s sdktrace.ReadOnlySpan) bool {
			_, ok := valuesOf(s.Attributes())[u.Key]
			return ok
		}), "span %s with %s", row.ID, u.Key)
	}
	for _, status := range row.Statuses {
		m.expect(slices.ContainsFunc(shown, func(s sdktrace.ReadOnlySpan) bool {
			return s.Status().Code.String() == status
		}), "span %s with status %s", row.ID, status)
	}
	m.expect(len(row.Links) == 0 || slices.ContainsFunc(shown, func(s sdktrace.ReadOnlySpan) bool {
		return len(s.Links()) > 0
	}), "span %s with a link", row.ID)
}

func (m *missing) events(row *telemetry.Event, shown []Record) {
	m.expect(len(shown) > 0, "event %s", row.Name)
	for _, u := range row.Fields {
		m.expect(slices.ContainsFunc(shown, func(r Record) bool {
			_, ok := r.Attrs[u.Key]
			return ok
		}), "event %s with %s", row.Name, u.Key)
	}
	for _, level := range row.Levels {
		m.expect(slices.ContainsFunc(shown, func(r Record) bool { return r.Level == level }), "event %s at %v", row.Name, level)
	}
}

// rowOf returns the id of the row that a span of this module is, empty for none.
func (r *Recording) rowOf(s sdktrace.ReadOnlySpan) string {
	if s.InstrumentationScope().Name != telemetry.ScopeName {
		return ""
	}
	for _, row := range telemetry.Schema.Spans {
		if sameKind(&row, s) && len(r.checkSpanAs(s, &row)) == 0 {
			return row.ID
		}
	}
	return ""
}
