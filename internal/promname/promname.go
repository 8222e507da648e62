// Package promname says what the names of the telemetry schema become in Prometheus, by the rules that the
// OpenTelemetry Collector's prometheus exporter and Prometheus' own OTLP receiver share: dots and other signs become
// underscores, the unit and the kind of the metric become suffixes.
//
// Dashboards, rules and their checks name series through [Metric] and [Label], and a test holds that no two names of
// the schema become one.
package promname

import (
	"slices"
	"strings"

	"github.com/mcpotel/mcpotel/internal/instrument/schema"
)

// units are the units that have a word in Prometheus. A unit in braces, such as {request}, has none.
var units = map[string]string{"s": "seconds", "ms": "milliseconds", "By": "bytes", "1": "ratio"}

// Metric returns the names of the series that a metric is stored under: one, or for a histogram those of its buckets,
// its sum and its count, in this order.
func Metric(m schema.Metric) []string {
	name := Base(m)
	if m.Instrument == schema.Histogram {
		return []string{name + "_bucket", name + "_sum", name + "_count"}
	}
	return []string{name}
}

// Base returns the name of the metric's family: that of its only series, or what a histogram's series begin with.
func Base(m schema.Metric) string {
	words := split(m.Name)
	if unit := units[m.Unit]; unit != "" && !slices.Contains(words, unit) {
		words = append(words, unit)
	}
	if m.Instrument == schema.Counter || m.Instrument == schema.ObservableCounter {
		words = append(slices.DeleteFunc(words, func(w string) bool { return w == "total" }), "total")
	}
	return strings.Join(words, "_")
}

// Label returns the label that an attribute becomes.
func Label(key string) string {
	label := strings.Map(func(r rune) rune {
		if !inName(r) {
			return '_'
		}
		return r
	}, key)
	if label != "" && label[0] >= '0' && label[0] <= '9' {
		label = "key_" + label
	}
	return label
}

// split returns the words of a name: what lies between signs that no name in Prometheus has, and underscores.
func split(name string) []string {
	return strings.FieldsFunc(name, func(r rune) bool { return r == '_' || !inName(r) })
}

func inName(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}
