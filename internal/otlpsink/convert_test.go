package otlpsink

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	collogs "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	colmetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/proto"
)

// The Go SDK sends no summaries, no metrics without data and, by default, no delta sums.
func TestSummaryAndDeltaPointsAreFlattened(t *testing.T) {
	number := []*metrics.NumberDataPoint{{Value: &metrics.NumberDataPoint_AsInt{AsInt: 4}, Exemplars: []*metrics.Exemplar{
		{Value: &metrics.Exemplar_AsInt{AsInt: 2}}, {Value: &metrics.Exemplar_AsDouble{AsDouble: 0.5}},
	}}}
	got := pointsOf([]*metrics.ResourceMetrics{{ScopeMetrics: []*metrics.ScopeMetrics{{Metrics: []*metrics.Metric{
		{Name: "summary", Data: &metrics.Metric_Summary{Summary: &metrics.Summary{
			DataPoints: []*metrics.SummaryDataPoint{{Count: 2, Sum: 5}},
		}}},
		{Name: "delta", Data: &metrics.Metric_Sum{Sum: &metrics.Sum{DataPoints: number, AggregationTemporality: delta}}},
		{Name: "nothing"},
	}}}}})
	none := map[string]any{}
	want := []Point{
		{Origin: Origin{Resource: none}, Metric: "summary", Kind: Summary, Attributes: none, Count: 2, Sum: 5},
		{
			Origin: Origin{Resource: none}, Metric: "delta", Kind: Sum, Integers: true, Delta: true, Attributes: none, Value: 4,
			Exemplars: []Exemplar{{Value: 2, Attributes: none}, {Value: 0.5, Attributes: none}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("points (-want +got):\n%s", diff)
	}
}

func TestEmptyValueIsNil(t *testing.T) {
	if got := valueOf(&common.AnyValue{}); got != nil {
		t.Errorf("valueOf an empty value = %v, want nil", got)
	}
	if got := (Origin{}).Service(); got != "" {
		t.Errorf("Service of an empty origin = %q, want none", got)
	}
}

func FuzzConversionNeverPanics(f *testing.F) {
	seed, _ := proto.Marshal(request("a", "b"))
	f.Add(seed)
	f.Add([]byte{})
	f.Add([]byte("\x0a\x02\x12\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var tr coltrace.ExportTraceServiceRequest
		if proto.Unmarshal(b, &tr) == nil {
			Waterfall(spansOf(tr.GetResourceSpans()))
		}
		var m colmetrics.ExportMetricsServiceRequest
		if proto.Unmarshal(b, &m) == nil {
			pointsOf(m.GetResourceMetrics())
		}
		var l collogs.ExportLogsServiceRequest
		if proto.Unmarshal(b, &l) == nil {
			recordsOf(l.GetResourceLogs())
		}
	})
}
