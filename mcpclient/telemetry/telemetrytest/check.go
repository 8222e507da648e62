package telemetrytest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcpotel/mcpotel/internal/schemacheck"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/schema"
)

// Problems returns in what respects the telemetry departs from the schema, now that all operations are over.
func (r *Recording) Problems() []string {
	r.t.Helper()
	signals := r.signals()
	problems := slices.Concat(schemacheck.Problems(signals), schemacheck.Unpaired(signals.Records))
	for _, name := range r.spans.open(telemetry.ScopeName) {
		problems = append(problems, fmt.Sprintf("span %q has not ended", name))
	}
	for _, m := range schema.Current.Metrics {
		if m.Instrument != schema.UpDownCounter || strings.Contains(m.Name, "tombstones") {
			continue
		}
		if n := r.Value(m.Name); n != 0 {
			problems = append(problems, fmt.Sprintf("%s is %d when all is over", m.Name, n))
		}
	}
	slices.Sort(problems)
	return slices.Compact(problems)
}

// Missing returns what the schema declares and nothing has shown so far: rows, attributes of rows, levels, statuses,
// links, and values of closed attributes of metrics. It is for a test that means to emit everything.
func (r *Recording) Missing() []string {
	r.t.Helper()
	return schemacheck.Declared().Missing(schemacheck.Rows(r.signals()))
}

// signals is what has been recorded, in the form that is checked.
func (r *Recording) signals() *schemacheck.Signals {
	r.t.Helper()
	s := &schemacheck.Signals{ToolNameLimit: r.telemetry.ToolNameLimit()}
	for _, span := range r.Spans() {
		if span.InstrumentationScope().Name == telemetry.ScopeName {
			s.Spans = append(s.Spans, spanOf(span, r.spans.start(span.SpanContext().SpanID()).attrs))
		}
	}
	for _, m := range r.Metrics() {
		s.Metrics = append(s.Metrics, metricOf(m))
	}
	for _, rec := range r.Logs("") {
		s.Records = append(s.Records, recordOf(rec))
	}
	return s
}
