package otlpsink

import (
	common "go.opentelemetry.io/proto/otlp/common/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
)

const delta = metrics.AggregationTemporality_AGGREGATION_TEMPORALITY_DELTA

func pointsOf(resources []*metrics.ResourceMetrics) []Point {
	var all []Point
	for _, r := range resources {
		attrs := resourceOf(r.GetResource())
		for _, sc := range r.GetScopeMetrics() {
			o := originOf(attrs, sc.GetScope())
			for _, m := range sc.GetMetrics() {
				all = appendPoints(all, Point{Origin: o, Metric: m.GetName(), Unit: m.GetUnit(), Description: m.GetDescription()},
					m)
			}
		}
	}
	return all
}

// appendPoints appends the points of m, each made from a copy of p.
func appendPoints(all []Point, p Point, m *metrics.Metric) []Point {
	switch data := m.GetData().(type) {
	case *metrics.Metric_Gauge:
		p.Kind = Gauge
		for _, d := range data.Gauge.GetDataPoints() {
			all = append(all, numberOf(p, d))
		}
	case *metrics.Metric_Sum:
		p.Kind, p.Monotonic = Sum, data.Sum.GetIsMonotonic()
		p.Delta = data.Sum.GetAggregationTemporality() == delta
		for _, d := range data.Sum.GetDataPoints() {
			all = append(all, numberOf(p, d))
		}
	case *metrics.Metric_Histogram:
		p.Kind, p.Delta = Histogram, data.Histogram.GetAggregationTemporality() == delta
		for _, d := range data.Histogram.GetDataPoints() {
			all = append(all, histogramOf(p, d))
		}
	case *metrics.Metric_ExponentialHistogram:
		p.Kind, p.Delta = ExponentialHistogram, data.ExponentialHistogram.GetAggregationTemporality() == delta
		for _, d := range data.ExponentialHistogram.GetDataPoints() {
			all = append(all, exponentialOf(p, d))
		}
	case *metrics.Metric_Summary:
		p.Kind = Summary
		for _, d := range data.Summary.GetDataPoints() {
			p := p.at(d)
			p.Count, p.Sum = d.GetCount(), d.GetSum()
			all = append(all, p)
		}
	}
	return all
}

// at sets the fields that all kinds of data points have.
func (p Point) at(d interface {
	GetAttributes() []*common.KeyValue
	GetStartTimeUnixNano() uint64
	GetTimeUnixNano() uint64
}) Point {
	p.Attributes = mapOf(d.GetAttributes())
	p.Start, p.Time = timeOf(d.GetStartTimeUnixNano()), timeOf(d.GetTimeUnixNano())
	return p
}

func numberOf(p Point, d *metrics.NumberDataPoint) Point {
	p = p.at(d)
	switch v := d.GetValue().(type) {
	case *metrics.NumberDataPoint_AsInt:
		p.Value, p.Integers = float64(v.AsInt), true
	case *metrics.NumberDataPoint_AsDouble:
		p.Value = v.AsDouble
	}
	p.Exemplars = exemplarsOf(d.GetExemplars())
	return p
}

func histogramOf(p Point, d *metrics.HistogramDataPoint) Point {
	p = p.at(d)
	p.Count, p.Sum, p.Min, p.Max = d.GetCount(), d.GetSum(), d.Min, d.Max
	p.Bounds, p.Counts = d.GetExplicitBounds(), d.GetBucketCounts()
	p.Exemplars = exemplarsOf(d.GetExemplars())
	return p
}

func exponentialOf(p Point, d *metrics.ExponentialHistogramDataPoint) Point {
	p = p.at(d)
	p.Count, p.Sum, p.Min, p.Max = d.GetCount(), d.GetSum(), d.Min, d.Max
	p.Scale, p.Zero = d.GetScale(), d.GetZeroCount()
	p.Positive, p.Negative = bucketsOf(d.GetPositive()), bucketsOf(d.GetNegative())
	p.Exemplars = exemplarsOf(d.GetExemplars())
	return p
}

func bucketsOf(b *metrics.ExponentialHistogramDataPoint_Buckets) Buckets {
	return Buckets{b.GetOffset(), b.GetBucketCounts()}
}

func exemplarsOf(list []*metrics.Exemplar) []Exemplar {
	var all []Exemplar
	for _, e := range list {
		x := Exemplar{
			TraceID:    traceID(e.GetTraceId()),
			SpanID:     spanID(e.GetSpanId()),
			Time:       timeOf(e.GetTimeUnixNano()),
			Attributes: mapOf(e.GetFilteredAttributes()),
		}
		switch v := e.GetValue().(type) {
		case *metrics.Exemplar_AsInt:
			x.Value = float64(v.AsInt)
		case *metrics.Exemplar_AsDouble:
			x.Value = v.AsDouble
		}
		all = append(all, x)
	}
	return all
}
