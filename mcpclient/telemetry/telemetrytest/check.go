package telemetrytest

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"go.opentelemetry.io/otel/attribute"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// Problems returns in what respects the telemetry departs from the schema, now that all operations are over.
func (r *Recording) Problems() []string {
	var problems []string
	for _, s := range r.Spans() {
		if s.InstrumentationScope().Name == telemetry.ScopeName {
			problems = append(problems, r.checkSpan(s)...)
		}
	}
	for _, name := range r.spans.open(telemetry.ScopeName) {
		problems = append(problems, fmt.Sprintf("span %q has not ended", name))
	}
	for _, m := range r.Metrics() {
		problems = append(problems, checkMetric(m)...)
	}
	records := r.Logs("")
	for _, rec := range records {
		problems = append(problems, checkRecord(rec)...)
	}
	problems = append(problems, checkPairs(records)...)
	for _, name := range []string{"mcp_client.active_requests", "mcp_client.active_handlers", "mcp_server.active_requests", "mcp_server.tasks.active"} {
		if n := r.Value(name); n != 0 {
			problems = append(problems, fmt.Sprintf("%s is %d when all is over", name, n))
		}
	}
	slices.Sort(problems)
	return slices.Compact(problems)
}

// checkPairs checks that each request that started either stopped or ended with an exception.
func checkPairs(records []Record) (problems []string) {
	open := map[string]int{}
	for _, rec := range records {
		life, phase, _ := cutLast(rec.Event(), ".")
		if name := rec.Text("mcp_client.name") + rec.Text("mcp_server.name"); strings.HasSuffix(life, ".request") || strings.HasSuffix(life, ".handler") {
			switch phase {
			case "start":
				open[life+" of "+name]++
			case "stop", "exception":
				open[life+" of "+name]--
			}
		}
	}
	for life, n := range open {
		if n != 0 {
			problems = append(problems, fmt.Sprintf("%s: %+d starts without exactly one stop or exception", life, n))
		}
	}
	return problems
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// value is an attribute's value of whichever signal.
type value struct {
	typ  telemetry.Type
	text string
}

func ofAttribute(v attribute.Value) value {
	switch v.Type() {
	case attribute.STRING:
		return value{telemetry.String, v.AsString()}
	case attribute.INT64:
		return value{telemetry.Int, v.String()}
	case attribute.FLOAT64:
		return value{telemetry.Double, v.String()}
	}
	return value{telemetry.Type(v.Type().String()), v.String()}
}

func ofLog(v slog.Value) value {
	switch v.Kind() {
	case slog.KindString:
		return value{telemetry.String, v.String()}
	case slog.KindInt64, slog.KindUint64:
		return value{telemetry.Int, v.String()}
	case slog.KindFloat64:
		return value{telemetry.Double, v.String()}
	}
	return value{telemetry.Type(v.Kind().String()), v.String()}
}

func valuesOf(attrs []attribute.KeyValue) map[string]value {
	m := make(map[string]value, len(attrs))
	for _, a := range attrs {
		m[string(a.Key)] = ofAttribute(a.Value)
	}
	return m
}

// checkAttributes checks attributes against the uses that a row of the schema makes of them.
func checkAttributes(got map[string]value, uses []telemetry.Use) (problems []string) {
	declared := map[string]bool{}
	for _, u := range uses {
		declared[u.Key] = true
		if _, ok := got[u.Key]; !ok && u.Need == telemetry.Required {
			problems = append(problems, u.Key+" is missing")
		}
	}
	for key, v := range got {
		if !declared[key] {
			problems = append(problems, key+" is not declared")
			continue
		}
		problems = append(problems, checkValue(key, v)...)
	}
	return problems
}

func checkValue(key string, v value) (problems []string) {
	i := slices.IndexFunc(telemetry.Schema.Attributes, func(a telemetry.Attribute) bool { return a.Key == key })
	if i < 0 {
		return []string{key + " is no attribute of the schema"}
	}
	a := &telemetry.Schema.Attributes[i]
	if v.typ != a.Type {
		problems = append(problems, fmt.Sprintf("%s is a %s, want %s", key, v.typ, a.Type))
	}
	if v.text == "" {
		problems = append(problems, key+" is empty")
	}
	if a.Bound == telemetry.Closed && v.text != "_OTHER" && !slices.Contains(a.Enum, v.text) {
		problems = append(problems, fmt.Sprintf("%s is %q, want one of %q", key, v.text, a.Enum))
	}
	return problems
}
