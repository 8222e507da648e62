package otlp_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/mcpotel/mcpotel/internal/instrument/schema"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/otlp"
)

// recorded returns the histogram that a reader collects after one call of 0.1 ms.
func recorded(t *testing.T, scope, name string, opts ...otlp.Option) metricdata.Aggregation {
	t.Helper()
	t.Setenv("OTEL_TRACES_EXPORTER", "none")
	t.Setenv("OTEL_LOGS_EXPORTER", "none")
	t.Setenv("OTEL_METRICS_EXPORTER", "manual")
	reader := sdkmetric.NewManualReader()
	p, err := otlp.Setup(t.Context(), append(opts, otlp.WithGlobals(false),
		otlp.WithMetricReader("manual", func(context.Context) (sdkmetric.Reader, error) { return reader, nil }))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Shutdown(context.Background()); err != nil && !errors.Is(err, sdkmetric.ErrReaderShutdown) {
			t.Error(err)
		}
	})
	i := slices.IndexFunc(schema.Current.Metrics, func(m schema.Metric) bool { return m.Name == name })
	h, err := p.MeterProvider().Meter(scope).Float64Histogram(name,
		metric.WithExplicitBucketBoundaries(schema.Current.Metrics[i].Buckets...))
	if err != nil {
		t.Fatal(err)
	}
	h.Record(t.Context(), 0.0001)
	var all metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	return all.ScopeMetrics[0].Metrics[0].Data
}

func TestWithHistogramsSetsAggregation(t *testing.T) {
	const operation, queue = names.MetricMCPClientOperationDuration, names.MetricMCPClientSendQueueWait
	explicit := func(want float64) func(metricdata.Aggregation) bool { // the first bound
		return func(a metricdata.Aggregation) bool {
			h, ok := a.(metricdata.Histogram[float64])
			return ok && h.DataPoints[0].Bounds[0] == want && slices.IsSorted(h.DataPoints[0].Bounds) &&
				slices.Contains(h.DataPoints[0].Bounds, 5)
		}
	}
	exponential := func(a metricdata.Aggregation) bool {
		_, ok := a.(metricdata.ExponentialHistogram[float64])
		return ok
	}
	for _, c := range []struct {
		about, scope, name string
		opts               []otlp.Option
		want               func(metricdata.Aggregation) bool
	}{
		{"the default", telemetry.ScopeName, operation, nil, explicit(.01)},
		{"the conventions'", telemetry.ScopeName, operation, []otlp.Option{otlp.WithHistograms(otlp.ConventionHistograms)},
			explicit(.01)},
		{"fine", telemetry.ScopeName, operation, []otlp.Option{otlp.WithHistograms(otlp.FineHistograms)}, explicit(.0001)},
		{"fine, a metric with fine buckets by default", telemetry.ScopeName, queue,
			[]otlp.Option{otlp.WithHistograms(otlp.FineHistograms)}, explicit(1e-6)},
		{"exponential", telemetry.ScopeName, operation, []otlp.Option{otlp.WithHistograms(otlp.ExponentialHistograms)},
			exponential},
		{"exponential, a metric of another library", "another", operation,
			[]otlp.Option{otlp.WithHistograms(otlp.ExponentialHistograms)}, explicit(.01)},
	} {
		t.Run(c.about, func(t *testing.T) {
			if got := recorded(t, c.scope, c.name, c.opts...); !c.want(got) {
				t.Errorf("got %T %+v", got, got)
			}
		})
	}
}

// TestFineHistogramsIncludeConventionBuckets: queries for a bucket of the conventions must stay valid.
func TestFineHistogramsIncludeConventionBuckets(t *testing.T) {
	for _, name := range []string{names.MetricMCPClientOperationDuration, names.MetricMCPServerOperationDuration,
		names.MetricGenAIExecuteToolDuration} {
		i := slices.IndexFunc(schema.Current.Metrics, func(m schema.Metric) bool { return m.Name == name })
		data := recorded(t, telemetry.ScopeName, name, otlp.WithHistograms(otlp.FineHistograms))
		got, want := data.(metricdata.Histogram[float64]).DataPoints[0].Bounds, schema.Current.Metrics[i].Buckets
		if below := len(got) - len(want); below != 5 || !slices.Equal(got[below:], want) || got[below-1] >= want[0] {
			t.Errorf("%s: got %v, want five bounds below %v", name, got, want)
		}
	}
}
