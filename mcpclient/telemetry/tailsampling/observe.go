package tailsampling

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
)

// Observe adds the metric of the SDK's own conventions for processed spans, otel.sdk.processor.span.processed. Evicted
// spans have error.type queue_full; all other spans, exported or not, have no error.type. The metric is observed until
// mp is shut down. Call Observe once.
func (s *Sampling) Observe(mp metric.MeterProvider) error {
	const component = "mcpotel_tail_sampling_span_processor"
	done := metric.WithAttributes(semconv.OTelComponentName(component+"/0"),
		semconv.OTelComponentTypeKey.String(component))
	evicted := metric.WithAttributes(semconv.OTelComponentName(component+"/0"),
		semconv.OTelComponentTypeKey.String(component), semconv.ErrorTypeKey.String("queue_full"))
	_, err := mp.Meter("github.com/mcpotel/mcpotel/mcpclient/telemetry/tailsampling").Int64ObservableCounter(
		"otel.sdk.processor.span.processed", metric.WithUnit("{span}"),
		metric.WithDescription("The number of spans for which the processing has finished, either successful or failed."),
		metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
			st := s.Stats()
			o.Observe(int64(st.Sampled+st.Kept+st.Dropped), done)
			o.Observe(int64(st.Evicted), evicted)
			return nil
		}))
	if err != nil {
		return fmt.Errorf("tailsampling: %w", err)
	}
	return nil
}
