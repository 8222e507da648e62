// Package otelsetup is package otlp's [otlp.Setup] with what needs many dependencies, in a module of its own:
//
//	tel, err := otelsetup.Setup(ctx, otlp.WithServiceName("my-agent"))
//	if err != nil {
//		return err
//	}
//	defer func() { err = errors.Join(err, tel.Shutdown(context.Background())) }()
//
// # A configuration file
//
// If OTEL_CONFIG_FILE names a file, that is OpenTelemetry's declarative configuration, and contrib's package otelconf
// makes the SDK from it. The other variables mean nothing then, except those that the file itself names as ${NAME}, and
// NO_COLOR; nor do the options about the service, the endpoint, the interval and exporters. The console and the levels
// of the logs are those of the options, as without a file. Which versions of the file's schema are read is for otelconf
// to say.
//
// # Prometheus
//
// Without a file, the variables are those of package otlp, and OTEL_METRICS_EXPORTER may name prometheus, alone or in a
// list. Metrics are served then at /metrics, for Prometheus to scrape:
//
//	variable                          means                             if not set
//	OTEL_EXPORTER_PROMETHEUS_HOST     the address to listen on          localhost
//	OTEL_EXPORTER_PROMETHEUS_PORT     its port; 0 for a free one        9464
//
// The names are those that the Collector's exporter writes, which the dashboards and alerts of this project use.
// Exemplars come with the OpenMetrics format, which Prometheus asks for. An address that cannot be listened on is an
// error of Setup. There is no password: listen on an address that only Prometheus reaches.
//
// Contrib's package autoexport has the same by another way. It is not used here: it takes no list, and exporters that
// it makes wait at the end of a program for a Collector that is not there. Exporters of others, such as zipkin, are
// added with [otlp.WithSpanExporter], [otlp.WithMetricReader] and [otlp.WithLogExporter].
package otelsetup
