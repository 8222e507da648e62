package otlpcheck_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/otlpcheck"
	"github.com/mcpotel/mcpotel/internal/otlpsink"
	"github.com/mcpotel/mcpotel/internal/schemacheck"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

var scope = otlpsink.Origin{Scope: telemetry.ScopeName}

func request() otlpsink.Span {
	start := time.Unix(1, 0)
	return otlpsink.Span{
		Origin: scope, Name: "ping", Kind: "CLIENT", Status: "UNSET", Start: start, End: start.Add(time.Second),
		Attributes: map[string]any{"mcp.method.name": "ping", "mcp_client.name": "x", "mcp_client.instance.id": "1",
			"mcp_client.corr_id": "y"},
	}
}

func tombstones() otlpsink.Point {
	return otlpsink.Point{
		Origin: scope, Metric: "mcp_client.tombstone.kept", Unit: "{tombstone}", Kind: otlpsink.Sum, Integers: true,
		Description: "Ids of calls that ended without an answer, kept to recognize late answers.",
		Attributes:  map[string]any{"mcp_client.name": "x"},
	}
}

func added() otlpsink.Record {
	return otlpsink.Record{
		Origin: scope, EventName: "mcp_client.tombstone.added", Body: "mcp_client.tombstone.added", Severity: 5,
		Attributes: map[string]any{"mcp_client.name": "x", "mcp_client.instance.id": "1",
			"mcp_client.tombstone.count": int64(1)},
	}
}

func TestTelemetryOfTheSchemaPassesAndIsCounted(t *testing.T) {
	s := otlpsink.Snapshot{
		Spans: []otlpsink.Span{request()}, Points: []otlpsink.Point{tombstones(), tombstones()},
		Records: []otlpsink.Record{added()},
	}
	otlpcheck.Check(t, s)
	rows := schemacheck.Rows(otlpcheck.Signals(s))
	for _, want := range []string{
		"span mcp_client.request", "span mcp_client.request with status Unset",
		"span mcp_client.request with mcp.method.name",
		"metric mcp_client.tombstone.kept with mcp_client.name", "event mcp_client.tombstone.added at DEBUG",
	} {
		if !rows[want] {
			t.Errorf("what was exported is seen: got no %q in %q", want, rows.Sorted())
		}
	}
}

func TestTelemetryOfOtherScopesIsIgnored(t *testing.T) {
	span, point, record := request(), tombstones(), added()
	span.Scope, point.Scope, record.Scope = "other", "other", "other"
	span.Name, point.Metric, record.EventName = "made up", "made.up", "made.up"
	own := otlpsink.Record{Origin: scope, Body: "a line of the program's own", Severity: 9}
	otlpcheck.Check(t, otlpsink.Snapshot{
		Spans: []otlpsink.Span{span}, Points: []otlpsink.Point{point}, Records: []otlpsink.Record{record, own},
	})
}

// TestEachDeviationIsReported is like the test of package telemetrytest, with telemetry as OTLP carries it.
func TestEachDeviationIsReported(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		change     func(*otlpsink.Span, *otlpsink.Point, *otlpsink.Record)
	}{
		{"kind of a span", "no row has kind CONSUMER", func(s *otlpsink.Span, _ *otlpsink.Point, _ *otlpsink.Record) {
			s.Kind = "CONSUMER"
		}},
		{"attribute of a span", "made.up is not declared", func(s *otlpsink.Span, _ *otlpsink.Point, _ *otlpsink.Record) {
			s.Attributes["made.up"] = true
		}},
		{"status", "status Error with error.type present: false",
			func(s *otlpsink.Span, _ *otlpsink.Point, _ *otlpsink.Record) {
				s.Status = "ERROR"
			}},
		{"link", "a link refers to no span", func(s *otlpsink.Span, _ *otlpsink.Point, _ *otlpsink.Record) {
			s.Links = make([]otlpsink.Link, 1)
		}},
		{"end of a span", "it ends before it starts", func(s *otlpsink.Span, _ *otlpsink.Point, _ *otlpsink.Record) {
			s.End = time.Unix(0, 0)
		}},
		{"metric", `metric "made.up" is not in the schema`, func(_ *otlpsink.Span, p *otlpsink.Point, _ *otlpsink.Record) {
			p.Metric = "made.up"
		}},
		{"unit", `unit "s" and`, func(_ *otlpsink.Span, p *otlpsink.Point, _ *otlpsink.Record) { p.Unit = "s" }},
		{"instrument", "its data are a rising sum, want sum", func(_ *otlpsink.Span, p *otlpsink.Point, _ *otlpsink.Record) {
			p.Monotonic = true
		}},
		{"kind of histogram", "its data are a exponential histogram, want sum",
			func(_ *otlpsink.Span, p *otlpsink.Point, _ *otlpsink.Record) {
				p.Kind = otlpsink.ExponentialHistogram
			}},
		{"numbers", "its values are double, want int", func(_ *otlpsink.Span, p *otlpsink.Point, _ *otlpsink.Record) {
			p.Integers = false
		}},
		{"buckets", "buckets [1], want []", func(_ *otlpsink.Span, p *otlpsink.Point, _ *otlpsink.Record) {
			p.Bounds = []float64{1}
		}},
		{"attribute of a metric", "mcp.session.id is unbounded",
			func(_ *otlpsink.Span, p *otlpsink.Point, _ *otlpsink.Record) {
				p.Attributes["mcp.session.id"] = "s"
			}},
		{"type", "mcp_client.name is a int, want string", func(_ *otlpsink.Span, p *otlpsink.Point, _ *otlpsink.Record) {
			p.Attributes["mcp_client.name"] = int64(1)
		}},
		{"event", `event.name "made.up" is not in the schema`, func(_ *otlpsink.Span, _ *otlpsink.Point, r *otlpsink.Record) {
			r.EventName = "made.up"
		}},
		{"event without a name", `event.name "" is not in the schema`,
			func(_ *otlpsink.Span, _ *otlpsink.Point, r *otlpsink.Record) {
				r.EventName = ""
			}},
		{"level", "level WARN, want one of [DEBUG]", func(_ *otlpsink.Span, _ *otlpsink.Point, r *otlpsink.Record) {
			r.Severity = 13
		}},
		{"field", "mcp_client.tombstone.count is missing", func(_ *otlpsink.Span, _ *otlpsink.Point, r *otlpsink.Record) {
			delete(r.Attributes, "mcp_client.tombstone.count")
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			span, point, record := request(), tombstones(), added()
			tt.change(&span, &point, &record)
			problems := schemacheck.Problems(otlpcheck.Signals(otlpsink.Snapshot{
				Spans: []otlpsink.Span{span}, Points: []otlpsink.Point{point}, Records: []otlpsink.Record{record},
			}))
			if !slices.ContainsFunc(problems, func(p string) bool { return strings.Contains(p, tt.want) }) {
				t.Errorf("a problem names what is wrong: got %q, want one with %q", problems, tt.want)
			}
		})
	}
}
