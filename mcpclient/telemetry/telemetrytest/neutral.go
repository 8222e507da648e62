package telemetrytest

import (
	"log/slog"
	"slices"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/mcpotel/mcpotel/internal/instrument/schema"
	"github.com/mcpotel/mcpotel/internal/schemacheck"
)

// The functions of this file convert the recorded telemetry into the form for the check.

func spanOf(s sdktrace.ReadOnlySpan, atStart []attribute.KeyValue) schemacheck.Span {
	return schemacheck.Span{
		Name: s.Name(), Kind: schema.SpanKind(strings.ToUpper(s.SpanKind().String())),
		AtStart: attrsOf(atStart), Attrs: attrsOf(s.Attributes()),
		Status: s.Status().Code.String(), Events: len(s.Events()), Links: len(s.Links()),
		Dangling: slices.ContainsFunc(s.Links(), func(l sdktrace.Link) bool { return !l.SpanContext.IsValid() }),
		Endless:  s.EndTime().Before(s.StartTime()),
	}
}

func attrsOf(attrs []attribute.KeyValue) schemacheck.Attrs {
	m := make(schemacheck.Attrs, len(attrs))
	for _, a := range attrs {
		m[string(a.Key)] = schemacheck.Value{Type: typeOf(a.Value), Text: a.Value.String()}
	}
	return m
}

func typeOf(v attribute.Value) schema.Type {
	switch v.Type() {
	case attribute.STRING:
		return schema.String
	case attribute.INT64:
		return schema.Int
	case attribute.FLOAT64:
		return schema.Double
	case attribute.BOOL:
		return schema.Bool
	}
	return schema.Type(v.Type().String())
}

func metricOf(m metricdata.Metrics) schemacheck.Metric {
	c := schemacheck.Metric{Name: m.Name, Unit: m.Unit, Description: m.Description}
	switch d := m.Data.(type) {
	case metricdata.Sum[int64]:
		c.Instrument, c.Points = sumOf(d.IsMonotonic), numbersOf(d.DataPoints, schema.Int)
	case metricdata.Sum[float64]:
		c.Instrument, c.Points = sumOf(d.IsMonotonic), numbersOf(d.DataPoints, schema.Double)
	case metricdata.Gauge[int64]:
		c.Instrument, c.Points = schemacheck.Gauge, numbersOf(d.DataPoints, schema.Int)
	case metricdata.Gauge[float64]:
		c.Instrument, c.Points = schemacheck.Gauge, numbersOf(d.DataPoints, schema.Double)
	case metricdata.Histogram[int64]:
		c.Instrument, c.Points = schemacheck.Histogram, bucketsOf(d.DataPoints, schema.Int)
	case metricdata.Histogram[float64]:
		c.Instrument, c.Points = schemacheck.Histogram, bucketsOf(d.DataPoints, schema.Double)
	}
	return c
}

func sumOf(monotonic bool) schemacheck.Instrument {
	if monotonic {
		return schemacheck.RisingSum
	}
	return schemacheck.Sum
}

func numbersOf[N int64 | float64](points []metricdata.DataPoint[N], number schema.Type) (all []schemacheck.Point) {
	for _, p := range points {
		all = append(all, schemacheck.Point{Attrs: attrsOf(p.Attributes.ToSlice()), Number: number})
	}
	return all
}

func bucketsOf[N int64 | float64](points []metricdata.HistogramDataPoint[N],
	number schema.Type) (all []schemacheck.Point) {
	for _, p := range points {
		all = append(all, schemacheck.Point{Attrs: attrsOf(p.Attributes.ToSlice()), Bounds: p.Bounds, Number: number})
	}
	return all
}

func recordOf(r Record) schemacheck.Record {
	c := schemacheck.Record{
		Event: r.Event(), Message: r.Message, Level: r.Level, Attrs: schemacheck.Attrs{}, Problems: slices.Clone(r.problems),
	}
	for key, v := range r.Attrs {
		if key != "event.name" {
			c.Attrs[key] = schemacheck.Value{Type: typeOfLog(v), Text: v.String()}
		}
	}
	return c
}

func typeOfLog(v slog.Value) schema.Type {
	switch v.Kind() {
	case slog.KindString:
		return schema.String
	case slog.KindInt64, slog.KindUint64:
		return schema.Int
	case slog.KindFloat64:
		return schema.Double
	case slog.KindBool:
		return schema.Bool
	}
	return schema.Type(v.Kind().String())
}
