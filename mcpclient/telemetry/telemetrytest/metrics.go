package telemetrytest

import (
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/mcpotel/mcpotel/internal/schemacheck"
)

// Metric returns the metric with this name, and whether it has any sample.
func (r *Recording) Metric(name string) (metricdata.Metrics, bool) {
	r.t.Helper()
	for _, m := range r.Metrics() {
		if m.Name == name {
			// A gauge may be empty when the test ends.
			r.leave(func() *schemacheck.Signals { return &schemacheck.Signals{Metrics: []schemacheck.Metric{metricOf(m)}} })
			return m, true
		}
	}
	return metricdata.Metrics{}, false
}

// Point is a sample of a metric: one attribute set and its measurements.
type Point struct {
	Attrs attribute.Set
	Value int64   // for a counter or gauge
	Count uint64  // for a histogram
	Sum   float64 // for a histogram
}

// Points returns the samples of a metric that have at least these attributes. attrs are pairs of a key and a value as
// text.
func (r *Recording) Points(name string, attrs ...string) []Point {
	r.t.Helper()
	m, _ := r.Metric(name)
	var points []Point
	for _, p := range pointsOf(m.Data) {
		if has(p.Attrs, attrs) {
			points = append(points, p)
		}
	}
	return points
}

// Value returns the sum of the samples of a counter or gauge that have at least these attributes.
func (r *Recording) Value(name string, attrs ...string) (sum int64) {
	r.t.Helper()
	for _, p := range r.Points(name, attrs...) {
		sum += p.Value
	}
	return sum
}

// Count returns the number of measurements of a histogram with at least these attributes.
func (r *Recording) Count(name string, attrs ...string) (n uint64) {
	r.t.Helper()
	for _, p := range r.Points(name, attrs...) {
		n += p.Count
	}
	return n
}

func has(set attribute.Set, attrs []string) bool {
	for i := 0; i+1 < len(attrs); i += 2 {
		if v, ok := set.Value(attribute.Key(attrs[i])); !ok || v.String() != attrs[i+1] {
			return false
		}
	}
	return true
}

func pointsOf(data metricdata.Aggregation) (points []Point) {
	switch d := data.(type) {
	case metricdata.Sum[int64]:
		for _, p := range d.DataPoints {
			points = append(points, Point{Attrs: p.Attributes, Value: p.Value})
		}
	case metricdata.Sum[float64]:
		for _, p := range d.DataPoints {
			points = append(points, Point{Attrs: p.Attributes, Value: int64(p.Value)})
		}
	case metricdata.Gauge[int64]:
		for _, p := range d.DataPoints {
			points = append(points, Point{Attrs: p.Attributes, Value: p.Value})
		}
	case metricdata.Gauge[float64]:
		for _, p := range d.DataPoints {
			points = append(points, Point{Attrs: p.Attributes, Value: int64(p.Value)})
		}
	case metricdata.Histogram[int64]:
		for _, p := range d.DataPoints {
			points = append(points, Point{Attrs: p.Attributes, Count: p.Count, Sum: float64(p.Sum)})
		}
	case metricdata.Histogram[float64]:
		for _, p := range d.DataPoints {
			points = append(points, Point{Attrs: p.Attributes, Count: p.Count, Sum: p.Sum})
		}
	}
	return points
}
