// Package otlpcheck checks the telemetry that processes exported over OTLP against the schema. It makes the same checks
// as package telemetrytest, on the data that went over the wire. It ignores everything outside the scope of this
// module.
//
// It does not check facts that the exported data lack: the initial attributes of spans, and spans that have not ended.
// It also does not check whether each started request has stopped, because records below the export level are missing.
package otlpcheck

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/internal/instrument/schema"
	"github.com/mcpotel/mcpotel/internal/otlpsink"
	"github.com/mcpotel/mcpotel/internal/schemacheck"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// Watch checks everything that sink has received when the test ends. Cleanup functions that are registered with
// t.Cleanup after Watch, for example to end an exporter, run before the check.
func Watch(t testing.TB, sink *otlpsink.Sink) {
	t.Helper()
	t.Cleanup(func() {
		t.Helper()
		Check(t, sink.Snapshot())
	})
}

// Check fails the test for each deviation of s from the schema.
func Check(t testing.TB, s otlpsink.Snapshot) {
	t.Helper()
	signals := Signals(s)
	for _, p := range schemacheck.Problems(signals) {
		t.Error("exported telemetry: " + p)
	}
	if err := schemacheck.AppendSeen(func() schemacheck.Set { return schemacheck.Rows(signals) }); err != nil {
		t.Error("exported telemetry: ", err)
	}
}

// Signals converts the received telemetry to the form that package schemacheck checks.
func Signals(s otlpsink.Snapshot) *schemacheck.Signals {
	signals := &schemacheck.Signals{}
	for _, span := range s.Spans {
		if span.Scope == telemetry.ScopeName {
			signals.Spans = append(signals.Spans, spanOf(&span))
		}
	}
	signals.Metrics = metricsOf(s.Points)
	for _, r := range s.Records {
		if ours(&r) {
			signals.Records = append(signals.Records, recordOf(&r))
		}
	}
	return signals
}

var statuses = map[string]string{"UNSET": schemacheck.Unset, "OK": schemacheck.OK, "ERROR": schemacheck.Error}

func spanOf(s *otlpsink.Span) schemacheck.Span {
	c := schemacheck.Span{
		Name: s.Name, Kind: schema.SpanKind(s.Kind), Attrs: attrsOf(s.Attributes),
		Status: statuses[s.Status], Events: len(s.Events), Links: len(s.Links), Endless: s.End.Before(s.Start),
	}
	for _, l := range s.Links {
		c.Dangling = c.Dangling || l.TraceID == "" || l.SpanID == ""
	}
	return c
}

// metricsOf groups the points by metric and process. Of points that were exported several times, it keeps one.
func metricsOf(points []otlpsink.Point) (all []schemacheck.Metric) {
	index, seen := map[string]int{}, map[string]bool{}
	for _, p := range points {
		if p.Scope != telemetry.ScopeName {
			continue
		}
		metric := fmt.Sprint(p.Resource["service.instance.id"], p.Metric, p.Unit, p.Kind, p.Monotonic)
		point := fmt.Sprint(metric, p.Attributes, p.Bounds)
		if seen[point] {
			continue
		}
		seen[point] = true
		i, ok := index[metric]
		if !ok {
			i = len(all)
			index[metric] = i
			all = append(all, schemacheck.Metric{
				Name: p.Metric, Unit: p.Unit, Description: p.Description, Instrument: instrumentOf(&p),
			})
		}
		all[i].Points = append(all[i].Points,
			schemacheck.Point{Attrs: attrsOf(p.Attributes), Bounds: p.Bounds, Number: numberOf(&p)})
	}
	return all
}

func instrumentOf(p *otlpsink.Point) schemacheck.Instrument {
	switch {
	case p.Kind == otlpsink.Sum && p.Monotonic:
		return schemacheck.RisingSum
	case p.Kind == otlpsink.Sum:
		return schemacheck.Sum
	case p.Kind == otlpsink.Gauge:
		return schemacheck.Gauge
	case p.Kind == otlpsink.Histogram:
		return schemacheck.Histogram
	}
	return schemacheck.Instrument(p.Kind)
}

// numberOf returns the type of the point's values. The type is unknown for histograms, because OTLP sums their values
// as float64.
func numberOf(p *otlpsink.Point) schema.Type {
	switch {
	case p.Kind != otlpsink.Sum && p.Kind != otlpsink.Gauge:
		return ""
	case p.Integers:
		return schema.Int
	}
	return schema.Double
}

// ours reports whether a record is an event of the schema or resembles one: a program may log under the same scope.
func ours(r *otlpsink.Record) bool {
	text, _ := r.Body.(string)
	return r.Scope == telemetry.ScopeName &&
		(r.EventName != "" || strings.HasPrefix(text, "mcp_client.") || strings.HasPrefix(text, "mcp_server."))
}

// infoSeverity is the OTLP severity of the level Info. OTLP severities and slog levels have equal distances.
const infoSeverity = 9

func recordOf(r *otlpsink.Record) schemacheck.Record {
	text, _ := r.Body.(string)
	return schemacheck.Record{
		Event: r.EventName, Message: text, Level: slog.Level(r.Severity - infoSeverity), Attrs: attrsOf(r.Attributes),
	}
}

func attrsOf(attrs map[string]any) schemacheck.Attrs {
	m := make(schemacheck.Attrs, len(attrs))
	for key, v := range attrs {
		m[key] = schemacheck.Value{Type: typeOf(v), Text: fmt.Sprint(v)}
	}
	return m
}

func typeOf(v any) schema.Type {
	switch v.(type) {
	case string:
		return schema.String
	case int64:
		return schema.Int
	case float64:
		return schema.Double
	case bool:
		return schema.Bool
	}
	return schema.Type(fmt.Sprintf("%T", v))
}
