// Package promname says what a metric of the telemetry schema is called in Prometheus.
//
// The names are those of the OpenTelemetry specification's translation, as the Collector's prometheus exporter and
// Prometheus' own OTLP receiver make them by default: dots become underscores, the unit is spelled out at the end, and a
// counter ends with _total. Start with [Series].
package promname

import (
	"strings"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// units are the suffixes of units. A unit in braces is a note and has none.
var units = map[string]string{"s": "_seconds", "By": "_bytes"}

// Metric returns the name of m's family, such as mcp_client_operation_duration_seconds. It panics for a unit that the
// schema did not have when this package was written.
func Metric(m telemetry.Metric) string {
	name := Label(m.Name)
	if !strings.HasPrefix(m.Unit, "{") {
		suffix, known := units[m.Unit]
		if !known {
			panic("promname: no suffix for the unit " + m.Unit + " of " + m.Name)
		}
		name += suffix
	}
	if m.Instrument == telemetry.Counter {
		name += "_total"
	}
	return name
}

// Series returns the names of m's time series: the family's own or, of a histogram, those with _bucket, _sum and _count.
func Series(m telemetry.Metric) []string {
	name := Metric(m)
	if m.Instrument == telemetry.Histogram {
		return []string{name + "_bucket", name + "_sum", name + "_count"}
	}
	return []string{name}
}

// Label returns the name that an attribute has as a label.
func Label(key string) string { return strings.ReplaceAll(key, ".", "_") }
