// Package otelsetup extends [otlp.Setup] with features that need many dependencies, in a separate module:
//
//	tel, err := otelsetup.Setup(ctx, otlp.WithServiceName("my-agent"))
//	if err != nil {
//		return err
//	}
//	defer func() { err = errors.Join(err, tel.Shutdown(context.Background())) }()
//
// # A configuration file
//
// If OTEL_CONFIG_FILE names a file, the file is OpenTelemetry's declarative configuration, and contrib's package
// otelconf makes the SDK from it. The other variables then have no effect, except NO_COLOR and variables that the file
// references as ${NAME}. The options about the service, the endpoint, the interval and exporters have no effect either.
// The options for the console and the log levels work as without a file. Package otelconf decides which versions of the
// file's schema it reads.
//
// # Prometheus
//
// Without a file, the variables are those of package otlp, and OTEL_METRICS_EXPORTER may name prometheus, alone or in
// a list. Metrics are then served at /metrics, for Prometheus to scrape:
//
//	variable                          means                             if not set
//	OTEL_EXPORTER_PROMETHEUS_HOST     the address to listen on          localhost
//	OTEL_EXPORTER_PROMETHEUS_PORT     its port; 0 for a free one        9464
//
// The metric names equal those of the Collector's exporter, which the dashboards and alerts of this project use.
// Exemplars are included in the OpenMetrics format, which Prometheus requests. If the address cannot be listened on,
// Setup returns an error. There is no password: listen on an address that only Prometheus reaches.
//
// Contrib's package autoexport is similar but not used here: it accepts no list, and its exporters wait at the end of
// a program for a missing Collector. Add other exporters, such as zipkin, with [otlp.WithSpanExporter],
// [otlp.WithMetricReader] and [otlp.WithLogExporter].
package otelsetup
