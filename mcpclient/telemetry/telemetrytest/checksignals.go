package telemetrytest

import (
	"fmt"
	"slices"
	"strings"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// checkSpan checks a span against the row that it fits best.
func (r *Recording) checkSpan(s sdktrace.ReadOnlySpan) []string {
	best := []string{fmt.Sprintf("span %q: no row has kind %v", s.Name(), s.SpanKind())}
	found := false
	for _, row := range telemetry.Schema.Spans {
		if !sameKind(&row, s) {
			continue
		}
		problems := r.checkSpanAs(s, &row)
		if len(problems) == 0 {
			return nil
		}
		for i := range problems {
			problems[i] = fmt.Sprintf("span %q as %s: %s", s.Name(), row.ID, problems[i])
		}
		if !found || len(problems) < len(best) {
			best, found = problems, true
		}
	}
	return best
}

func sameKind(row *telemetry.Span, s sdktrace.ReadOnlySpan) bool {
	return strings.EqualFold(string(row.Kind), s.SpanKind().String())
}

func (r *Recording) checkSpanAs(s sdktrace.ReadOnlySpan, row *telemetry.Span) []string {
	got := valuesOf(s.Attributes())
	problems := checkAttributes(got, slices.Concat(row.AtStart, row.AtEnd))
	for _, p := range checkAttributes(valuesOf(r.spans.start(s.SpanContext().SpanID()).attrs), row.AtStart) {
		problems = append(problems, "at start: "+p)
	}
	if !hasForm(s.Name(), row.NameForm, got) {
		problems = append(problems, "its name is not of the form "+row.NameForm)
	}
	_, failed := got["error.type"]
	if status := s.Status().Code; status == codes.Ok || failed != (status == codes.Error) {
		problems = append(problems, fmt.Sprintf("status %v with error.type present: %v", status, failed))
	}
	if len(s.Events()) > 0 {
		problems = append(problems, "it has span events")
	}
	if len(s.Links()) > len(row.Links) {
		problems = append(problems, fmt.Sprintf("%d links, want at most %d", len(s.Links()), len(row.Links)))
	}
	for _, l := range s.Links() {
		if !l.SpanContext.IsValid() {
			problems = append(problems, "a link leads nowhere")
		}
	}
	return problems
}

// hasForm reports whether a span's name is of a form: one literal word, "word {key}", or "{key} {key|key}" where the second
// part is there if any of its attributes is. A resource's URI may be left out.
func hasForm(name, form string, got map[string]value) bool {
	if !strings.HasPrefix(form, "{") {
		word, key, keyed := strings.Cut(form, " ")
		return !keyed && name == word || keyed && name == word+" "+got[strings.Trim(key, "{}")].text
	}
	first, second, _ := strings.Cut(form, " ")
	method, target, _ := strings.Cut(name, " ")
	if method != "_OTHER" && method != got[strings.Trim(first, "{}")].text {
		return false
	}
	wanted := false
	for key := range strings.SplitSeq(strings.Trim(second, "{}"), "|") {
		v, ok := got[key]
		if ok && (target == v.text || target == "_OTHER") {
			return true
		}
		wanted = wanted || ok && key != "mcp.resource.uri"
	}
	return target == "" && !wanted
}

// checkMetric checks a metric against its row.
func checkMetric(m metricdata.Metrics) (problems []string) {
	i := slices.IndexFunc(telemetry.Schema.Metrics, func(row telemetry.Metric) bool { return row.Name == m.Name })
	if i < 0 {
		return []string{fmt.Sprintf("metric %q is not in the schema", m.Name)}
	}
	row := &telemetry.Schema.Metrics[i]
	if m.Unit != row.Unit || m.Description != row.Brief {
		problems = append(problems, fmt.Sprintf("unit %q and description %q, want %q and %q", m.Unit, m.Description, row.Unit, row.Brief))
	}
	if shape := shapeOf(m.Data); shape != wantShape(row) {
		problems = append(problems, fmt.Sprintf("its data are a %s, want %s", shape, wantShape(row)))
	}
	for _, bounds := range boundsOf(m.Data) {
		if !slices.Equal(bounds, row.Buckets) {
			problems = append(problems, fmt.Sprintf("buckets %v, want %v", bounds, row.Buckets))
		}
	}
	for _, p := range pointsOf(m.Data) {
		problems = append(problems, checkAttributes(valuesOf(p.Attrs.ToSlice()), row.Attrs)...)
	}
	for i := range problems {
		problems[i] = fmt.Sprintf("metric %q: %s", m.Name, problems[i])
	}
	return problems
}

func shapeOf(data metricdata.Aggregation) string {
	switch d := data.(type) {
	case metricdata.Sum[int64]:
		if d.IsMonotonic {
			return "rising sum"
		}
		return "sum"
	case metricdata.Gauge[int64]:
		return "gauge"
	case metricdata.Histogram[int64]:
		return "histogram of int64"
	case metricdata.Histogram[float64]:
		return "histogram of float64"
	}
	return fmt.Sprintf("%T", data)
}

func wantShape(row *telemetry.Metric) string {
	switch row.Instrument {
	case telemetry.Counter:
		return "rising sum"
	case telemetry.UpDownCounter, telemetry.ObservableUpDownCounter:
		return "sum"
	case telemetry.ObservableGauge:
		return "gauge"
	}
	if row.Unit == "s" {
		return "histogram of float64"
	}
	return "histogram of int64"
}

func boundsOf(data metricdata.Aggregation) (all [][]float64) {
	switch d := data.(type) {
	case metricdata.Histogram[int64]:
		for _, p := range d.DataPoints {
			all = append(all, p.Bounds)
		}
	case metricdata.Histogram[float64]:
		for _, p := range d.DataPoints {
			all = append(all, p.Bounds)
		}
	}
	return all
}

// checkRecord checks a log record against its row.
func checkRecord(rec Record) (problems []string) {
	i := slices.IndexFunc(telemetry.Schema.Events, func(e telemetry.Event) bool { return e.Name == rec.Event() })
	if i < 0 {
		return []string{fmt.Sprintf("record %q: event.name %q is not in the schema", rec.Message, rec.Event())}
	}
	row := &telemetry.Schema.Events[i]
	if rec.Message != row.Name {
		problems = append(problems, fmt.Sprintf("its message is %q", rec.Message))
	}
	if !slices.Contains(row.Levels, rec.Level) {
		problems = append(problems, fmt.Sprintf("level %v, want one of %v", rec.Level, row.Levels))
	}
	got := make(map[string]value, len(rec.Attrs))
	for k, v := range rec.Attrs {
		got[k] = ofLog(v)
	}
	event := []telemetry.Use{{Key: "event.name", Need: telemetry.Required}}
	problems = append(problems, checkAttributes(got, append(event, row.Fields...))...)
	problems = append(problems, rec.problems...)
	for i := range problems {
		problems[i] = fmt.Sprintf("record %q: %s", row.Name, problems[i])
	}
	return problems
}
