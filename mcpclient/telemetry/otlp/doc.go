// Package otlp sets up OpenTelemetry for a program: traces, metrics and logs by OTLP over gRPC or HTTP, and a console
// for the person in front of it. It is the one package of this module that needs the OpenTelemetry SDK, and nothing
// needs it: a program that sets up the SDK in another way gives its providers to package telemetry itself, or to
// [WithSDK].
//
// Start with [Setup], in main:
//
//	tel, err := otlp.Setup(ctx, otlp.WithServiceName("my-agent"))
//	if err != nil {
//		return err
//	}
//	defer func() { err = errors.Join(err, tel.Shutdown(context.Background())) }()
//
// # Variables
//
// A program is configured by the variables of the OpenTelemetry specification. An empty one counts as not set. These
// are read here, since the Go SDK reads them not at all or each exporter in its own way:
//
//	variable                          values                            if not set
//	OTEL_SDK_DISABLED                 true: no signal is exported       false
//	OTEL_TRACES_EXPORTER              list of otlp, console, and what   otlp
//	OTEL_METRICS_EXPORTER             the program adds with an option;  otlp
//	OTEL_LOGS_EXPORTER                or none                           otlp
//	OTEL_PROPAGATORS                  list of tracecontext, baggage,    tracecontext,baggage
//	                                  b3, b3multi, jaeger, xray,
//	                                  ottrace, and what is registered
//	                                  with contrib's autoprop; or none
//	OTEL_EXPORTER_OTLP_PROTOCOL       grpc, http/protobuf               grpc
//	OTEL_EXPORTER_OTLP_TRACES_PROTOCOL, _METRICS_PROTOCOL, _LOGS_PROTOCOL: the same for one signal,
//	and http/json for traces, for which alone the SDK has it
//	OTEL_EXPORTER_OTLP_ENDPOINT       http://host:port, https://...     https://localhost:4317,
//	                                                                    with HTTP https://localhost:4318
//	OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, _METRICS_ENDPOINT, _LOGS_ENDPOINT: the same for one signal
//	OTEL_EXPORTER_OTLP_HEADERS        checked, since the SDK would print a malformed value, which holds secrets
//	OTEL_EXPORTER_OTLP_TRACES_HEADERS, _METRICS_HEADERS, _LOGS_HEADERS: the same for one signal
//	OTEL_CONFIG_FILE                  refused: see package otelsetup
//	NO_COLOR                          anything: no colour on a terminal
//
// Any other value is an error of Setup, except that OTEL_SDK_DISABLED has to be true to mean something, as the
// specification demands. The propagators are in force even when the SDK is disabled.
//
// These are read by the SDK and its exporters, and mean what the specification says:
//
//	OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES
//	OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG (read here with [WithTailSampling], as its ratio)
//	OTEL_METRICS_EXEMPLAR_FILTER
//	OTEL_EXPORTER_OTLP_INSECURE, _COMPRESSION, _TIMEOUT, _CERTIFICATE, _CLIENT_CERTIFICATE,
//	_CLIENT_KEY, all also for one signal (over HTTP read here, and a file that cannot be read is an error of
//	Setup); OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE,
//	OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION ([WithHistograms] wins)
//
// The SDK reads these as numbers. Setup checks those of the signals that are exported, since the SDK ignores some wrong
// values and ends the program at others. A value outside its range, or with a space, is an error of Setup:
//
//	variable                          range                             if not set
//	OTEL_BSP_SCHEDULE_DELAY           1 to 2147483647 ms                5000
//	OTEL_BSP_EXPORT_TIMEOUT           0 to 2147483647 ms                30000
//	OTEL_BSP_MAX_QUEUE_SIZE           1 to 10000000 spans               2048
//	OTEL_BSP_MAX_EXPORT_BATCH_SIZE    1 to 10000000 spans               512
//	OTEL_BLRP_SCHEDULE_DELAY          1 to 2147483647 ms                1000
//	OTEL_BLRP_EXPORT_TIMEOUT          0 to 2147483647 ms                30000
//	OTEL_BLRP_MAX_QUEUE_SIZE          1 to 10000000 records             2048
//	OTEL_BLRP_MAX_EXPORT_BATCH_SIZE   1 to 10000000 records             512
//	OTEL_METRIC_EXPORT_INTERVAL       1 to 2147483647 ms                60000
//	OTEL_METRIC_EXPORT_TIMEOUT        1 to 2147483647 ms                30000
//	OTEL_EXPORTER_OTLP_TIMEOUT        0 to 2147483647 ms                10000
//	OTEL_EXPORTER_OTLP_TRACES_TIMEOUT, _METRICS_TIMEOUT, _LOGS_TIMEOUT: the same for one signal
//	OTEL_TRACES_SAMPLER_ARG           0 to 1, for a sampler             1
//	                                  of OTEL_TRACES_SAMPLER
//	                                  that is a ratio
//	OTEL_GO_X_CARDINALITY_LIMIT       any; 0 and less: no limit         2000
//	OTEL_ATTRIBUTE_COUNT_LIMIT, OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT, OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT,
//	OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT, OTEL_SPAN_EVENT_COUNT_LIMIT, OTEL_SPAN_LINK_COUNT_LIMIT,
//	OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT, OTEL_LINK_ATTRIBUTE_COUNT_LIMIT, OTEL_LOGRECORD_ATTRIBUTE_COUNT_LIMIT,
//	OTEL_LOGRECORD_ATTRIBUTE_VALUE_LENGTH_LIMIT: 0 to 2147483647, or -1 for no limit, each with the SDK's default
//
// OTEL_LOG_LEVEL is not read: it is about the SDK's talk about itself, of which only errors are shown, and not about a
// program's logs, for which there are [WithConsole] and [WithLogLevel].
//
// # What may surprise
//
//   - The exporter console writes where [WithConsole] says, on standard error by default, and never by itself on
//     standard output, which is the wire of a server on stdio: a line of JSON for each span, and one for all metrics at
//     each interval. Log records are lines for a person, with tint, as they are without the variable.
//   - A path in OTEL_EXPORTER_OTLP_ENDPOINT is that of the receiver as a whole, to which /v1/traces and so on are
//     added; the path of a variable for one signal is taken as it is.
//   - A collector on this machine is rarely there by TLS, which is the default: set the endpoint to
//     http://localhost:4317.
//   - When the collector is down, spans, metrics and log records are dropped once the SDK's queues are full, and errors
//     go to standard error, a few lines at a time; never to a slog.Logger, which would export them. Shutdown does not
//     wait for it.
//   - A batch of spans or log records above 4 MiB, which is the most that a gRPC server accepts in one message unless
//     it was set up otherwise, is sent in parts, one after the other; with http/json, parts have half of that. A span
//     or record that is larger by itself is sent alone. The timeouts of the processor hold for the batch, and
//     OTEL_EXPORTER_OTLP_TIMEOUT for each part. A part that is refused does not keep the others back, and is not
//     repeated with them: the error says how many items were lost. Shutdown gives each part one try.
//   - The resource says which host, process and build this is, but not with which arguments it was started: people put
//     tokens there.
//   - Only the console shows debug records if asked for; the exported ones have a level of their own.
//   - What a peer wrote cannot drive the terminal: control characters in log records are spelled out.
package otlp
