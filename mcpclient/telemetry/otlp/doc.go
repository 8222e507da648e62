// Package otlp sets up OpenTelemetry for a program: traces, metrics and logs by OTLP over gRPC or HTTP, and a console
// for people. Clients and servers need only the OpenTelemetry API, neither this package nor the SDK: a program that
// sets up the SDK in another way passes its providers to package telemetry, or to [WithSDK].
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
// The variables of the OpenTelemetry specification configure a program. An empty variable counts as not set. This
// package reads the following variables itself, since the Go SDK ignores them or each exporter reads them
// differently:
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
//	OTEL_EXPORTER_OTLP_TRACES_PROTOCOL, _METRICS_PROTOCOL, _LOGS_PROTOCOL: the same for one signal;
//	traces also support http/json, since the SDK has it only for traces
//	OTEL_EXPORTER_OTLP_ENDPOINT       http://host:port, https://...     https://localhost:4317,
//	                                                                    with HTTP https://localhost:4318
//	OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, _METRICS_ENDPOINT, _LOGS_ENDPOINT: the same for one signal
//	OTEL_EXPORTER_OTLP_HEADERS        checked, since the SDK would print a malformed value, which holds secrets
//	OTEL_EXPORTER_OTLP_TRACES_HEADERS, _METRICS_HEADERS, _LOGS_HEADERS: the same for one signal
//	OTEL_CONFIG_FILE                  refused: see package otelsetup
//	NO_COLOR                          anything: no colour on a terminal
//
// Setup rejects any other value, except that OTEL_SDK_DISABLED has an effect only if it is true, as the specification
// demands. The propagators work even if the SDK is disabled.
//
// The SDK and its exporters read these variables, with the meaning of the specification:
//
//	OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES
//	OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG (read here with [WithTailSampling], as its ratio)
//	OTEL_METRICS_EXEMPLAR_FILTER
//	OTEL_EXPORTER_OTLP_INSECURE, _COMPRESSION, _TIMEOUT, _CERTIFICATE, _CLIENT_CERTIFICATE,
//	_CLIENT_KEY, and each also for one signal (over HTTP, Setup reads them, and returns an error if it cannot
//	read a file); OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE,
//	OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION ([WithHistograms] overrides it)
//
// The SDK reads these variables as numbers. Setup checks them for the exported signals, since the SDK ignores some
// invalid values and ends the program at others. Setup rejects a value outside its range, or with a space:
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
// OTEL_LOG_LEVEL is ignored: it controls the SDK's diagnostics, of which only errors are shown, and not a program's
// logs, for which there are [WithConsole] and [WithLogLevel].
//
// # Surprises
//
//   - The console exporter writes to the writer of [WithConsole], by default standard error. It never writes to
//     standard output by itself, which carries the protocol of a server on stdio. It writes a line of JSON for each
//     span, and one for all metrics at each interval. Log records are lines for people, as without the variable.
//   - A path in OTEL_EXPORTER_OTLP_ENDPOINT is the base path of the receiver, to which /v1/traces and so on are
//     appended; the path in a variable for one signal is used unchanged.
//   - A collector on this machine rarely has TLS, which is the default: set the endpoint to http://localhost:4317.
//   - When the collector is down, spans, metrics and log records are dropped once the SDK's queues are full, and errors
//     go to standard error, a few lines at a time; never to a slog.Logger, which would export them. Shutdown does not
//     wait for the collector.
//   - A batch of spans or log records above 4 MiB, the default message limit of gRPC servers, is sent in parts, one
//     after the other; with http/json, parts have half of that. A larger span or record is sent alone. The timeouts of
//     the processor apply to the batch, and OTEL_EXPORTER_OTLP_TIMEOUT applies to each part. If a part is rejected, the
//     other parts are still sent, and the error reports how many items were lost. Shutdown tries each part once.
//   - The resource describes host, process and build, but not the arguments of the process: people put tokens there.
//   - By default, debug records are neither shown nor exported: [WithConsole] sets the level of the console, and
//     [WithLogLevel] sets the level of exported records.
//   - Texts of peers cannot control the terminal: control characters in log records are escaped.
package otlp
