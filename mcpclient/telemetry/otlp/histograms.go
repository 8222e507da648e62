package otlp

import (
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// Histograms is the form of this module's histograms. The dashboards, rules and alerts support all forms.
type Histograms int

const (
	// ConventionHistograms have the buckets of the semantic conventions for MCP. The first bucket ends at 10 ms, so
	// calls of 0.1 ms and 5 ms are not distinguished. They are the default.
	ConventionHistograms Histograms = iota

	// FineHistograms have five more buckets, from 0.1 ms to 5 ms, for the durations of operations and tools. They suit
	// servers on the same machine, and cost a third more series.
	FineHistograms

	// ExponentialHistograms apply to every histogram of this module. They have up to 160 buckets that adapt to the values:
	// while the values are within a factor of 1,000, each bucket is at most 4.4 % wide. The backend must support native
	// histograms: Prometheus 3 with scrape_native_histograms, or with its OTLP receiver.
	ExponentialHistograms
)

// fine has the bounds of FineHistograms by metric: the bounds of the conventions, and five more below them.
var fine = map[string][]float64{
	names.MetricMCPClientOperationDuration: fineOperations,
	names.MetricMCPServerOperationDuration: fineOperations,
	names.MetricGenAIExecuteToolDuration: {.0001, .00025, .0005, .001, .005,
		.01, .02, .04, .08, .16, .32, .64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92},
}

var fineOperations = []float64{.0001, .00025, .0005, .001, .005,
	.01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 30, 60, 120, 300}

// WithHistograms sets the form of this module's histograms in all exporters. It overrides
// OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION, which otherwise sets the form of all histograms of the
// process for OTLP. With [WithSDK], see [Histograms.View].
func WithHistograms(h Histograms) Option { return func(c *config) { c.histograms = h } }

// View returns a view that gives this module's histograms the form h, for a program with its own MeterProvider. For
// [ConventionHistograms] the view matches nothing.
func (h Histograms) View() sdkmetric.View {
	return func(i sdkmetric.Instrument) (sdkmetric.Stream, bool) {
		s := sdkmetric.Stream{Name: i.Name, Description: i.Description, Unit: i.Unit}
		if i.Kind != sdkmetric.InstrumentKindHistogram || i.Scope.Name != telemetry.ScopeName {
			return s, false
		}
		switch h {
		case FineHistograms:
			bounds, ok := fine[i.Name]
			s.Aggregation = sdkmetric.AggregationExplicitBucketHistogram{Boundaries: bounds}
			return s, ok
		case ExponentialHistograms:
			s.Aggregation = sdkmetric.AggregationBase2ExponentialHistogram{MaxSize: 160, MaxScale: 20}
			return s, true
		}
		return s, false
	}
}
