package telemetrytest

import (
	"fmt"
	"slices"

	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/mcpotel/mcpotel/internal/instrument/schema"
	"github.com/mcpotel/mcpotel/internal/instrument/settings"
	"github.com/mcpotel/mcpotel/internal/schemacheck"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// Problems returns the differences between the telemetry and the schema. All operations must be over.
func (r *Recording) Problems() []string {
	r.t.Helper()
	signals := r.signals()
	problems := slices.Concat(schemacheck.Problems(signals), schemacheck.Unpaired(signals.Records))
	for _, name := range r.spans.open(telemetry.ScopeName) {
		problems = append(problems, fmt.Sprintf("span %q has not ended", name))
	}
	problems = append(problems, unbalanced(r.Metrics())...)
	slices.Sort(problems)
	return slices.Compact(problems)
}

// unbalanced returns a problem for each up-down counter that is not zero after all operations.
func unbalanced(metrics []metricdata.Metrics) (problems []string) {
	for _, row := range schema.Current.Metrics {
		if row.Instrument != schema.UpDownCounter || row.Name == names.MetricMCPClientTombstoneKept {
			continue
		}
		var sum int64
		for _, m := range metrics {
			if m.Name == row.Name {
				for _, p := range pointsOf(m.Data) {
					sum += p.Value
				}
			}
		}
		if sum != 0 {
			problems = append(problems, fmt.Sprintf("%s is %d after all operations have ended", row.Name, sum))
		}
	}
	return problems
}

// Missing returns the parts of the schema that do not occur in the recorded telemetry: rows, attributes of rows,
// levels, statuses, links, and values of closed attributes on metrics. It is for a test that should emit everything.
func (r *Recording) Missing() []string {
	r.t.Helper()
	return schemacheck.Declared().Missing(schemacheck.Rows(r.signals()))
}

// underItsRow returns the metric with the user's label replaced by the label's key in the schema.
func underItsRow(m schemacheck.Metric, label string) schemacheck.Metric {
	if slices.ContainsFunc(schema.Current.Attributes, func(a schema.Attribute) bool { return a.Key == label }) {
		return m
	}
	for _, p := range m.Points {
		if v, ok := p.Attrs[label]; ok {
			delete(p.Attrs, label)
			p.Attrs[names.KeyGenAIAgentName] = v
		}
	}
	return m
}

// signals returns the recorded telemetry in the form for the check.
func (r *Recording) signals() *schemacheck.Signals {
	r.t.Helper()
	s := &schemacheck.Signals{ToolNameLimit: r.telemetry.ToolNameLimit(), Users: !r.strict}
	for _, span := range r.Spans() {
		if span.InstrumentationScope().Name == telemetry.ScopeName {
			s.Spans = append(s.Spans, spanOf(span, r.spans.start(span.SpanContext().SpanID()).attrs))
		}
	}
	label := (*settings.Source[telemetry.Redactor])(r.telemetry).Settings().Label
	for _, m := range r.Metrics() {
		s.Metrics = append(s.Metrics, underItsRow(metricOf(m), label))
	}
	for _, rec := range r.Logs("") {
		s.Records = append(s.Records, recordOf(rec))
	}
	return s
}
