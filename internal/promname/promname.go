// Package promname converts the names in the telemetry schema to their names in Prometheus, by the rules that the
// OpenTelemetry Collector's prometheus exporter and Prometheus' own OTLP receiver share: dots and other special
// characters become underscores, and the unit and the kind of a metric become suffixes.
//
// Dashboards, alerts and their checks use [Metric] and [Label] for the names of series. A test checks that no two names
// of the schema become the same name.
package promname

import (
	"slices"
	"strings"

	"github.com/mcpotel/mcpotel/internal/instrument/schema"
)

// units maps units to words in names of series. Units in braces, such as {request}, have no word.
var units = map[string]string{"s": "seconds", "ms": "milliseconds", "By": "bytes", "1": "ratio"}

// Metric returns the names of a metric's series: one name, or for a histogram the names of its buckets, sum and count,
// in this order.
func Metric(m schema.Metric) []string {
	name := Base(m)
	if m.Instrument == schema.Histogram {
		return []string{name + "_bucket", name + "_sum", name + "_count"}
	}
	return []string{name}
}

// Base returns the name of the metric's family: the name of its only series, or the common prefix of a histogram's
// series.
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

// Label returns the label name of an attribute.
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

// split splits a name into words at underscores and at characters that Prometheus does not allow in names.
func split(name string) []string {
	return strings.FieldsFunc(name, func(r rune) bool { return r == '_' || !inName(r) })
}

func inName(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}
