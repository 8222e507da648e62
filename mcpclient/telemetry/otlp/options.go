package otlp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"os"
	"slices"
	"time"

	"go.opentelemetry.io/otel/log"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/hostname"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/tailsampling"
)

// An Option changes the result of [Setup]. Without options, the environment configures a program. If an option and a
// variable configure the same setting, the option's documentation says which one wins.
type Option func(*config)

type config struct {
	name, version string

	console      io.Writer
	consoleLevel slog.Leveler
	exportLevel  slog.Leveler

	endpoint string
	interval time.Duration
	globals  bool

	histograms Histograms

	tail    *tailsampling.Options // nil unless given
	baggage []string              // baggage keys that are copied to spans and log records

	sdk     *SDK // nil unless the program has its own
	spans   map[string]func(context.Context) (sdktrace.SpanExporter, error)
	readers map[string]func(context.Context) (sdkmetric.Reader, error)
	records map[string]func(context.Context) (sdklog.Exporter, error)
	own     []sdkmetric.Reader // readers that no variable needs to name
}

// SDK is an OpenTelemetry SDK that was not set up from variables, but from a configuration file, for example. All
// fields are required except ForceFlush; without it, [Providers.ForceFlush] does nothing for this SDK.
type SDK struct {
	TracerProvider trace.TracerProvider
	MeterProvider  metric.MeterProvider
	LoggerProvider log.LoggerProvider
	Propagator     propagation.TextMapPropagator

	ForceFlush func(context.Context) error
	Shutdown   func(context.Context) error // exports the remaining data, and ends the SDK
}

// given reports whether the program has its own SDK.
func (c *config) given() bool { return c.sdk != nil }

// added returns the exporters that the program has added.
func (c *config) added() map[signal][]string {
	return map[signal][]string{
		traces:  slices.Sorted(maps.Keys(c.spans)),
		metrics: slices.Sorted(maps.Keys(c.readers)),
		logs:    slices.Sorted(maps.Keys(c.records)),
	}
}

func newConfig(opts []Option) (config, error) {
	c := config{
		console:      os.Stderr,
		consoleLevel: slog.LevelInfo,
		exportLevel:  slog.LevelInfo,
		globals:      true,
	}
	for _, o := range opts {
		o(&c)
	}
	return c, c.check()
}

func (c *config) check() error {
	if s := c.sdk; s != nil && (s.TracerProvider == nil || s.MeterProvider == nil || s.LoggerProvider == nil ||
		s.Propagator == nil || s.Shutdown == nil) {
		return errors.New("SDK: a provider, the propagator or Shutdown is missing")
	}
	if err := c.checkBaggage(); err != nil || c.endpoint == "" {
		return err
	}
	host, _, err := net.SplitHostPort(c.endpoint)
	if err != nil {
		return fmt.Errorf("endpoint: %w", err)
	}
	if !hostname.Loopback(host) {
		return fmt.Errorf("endpoint %q is not on the loopback; use OTEL_EXPORTER_OTLP_ENDPOINT for a collector elsewhere",
			c.endpoint)
	}
	return nil
}

// WithServiceName sets service.name. The default is "unknown_service:" and the name of the executable, as in the
// specification. OTEL_SERVICE_NAME overrides the option.
func WithServiceName(name string) Option { return func(c *config) { c.name = name } }

// WithServiceVersion sets service.version. The default is the version that Go stamped into the program, if any.
// service.version in OTEL_RESOURCE_ATTRIBUTES overrides the option.
func WithServiceVersion(version string) Option { return func(c *config) { c.version = version } }

// WithConsole writes log records of at least the given level (nil means [slog.LevelInfo]) to w, in a form for people.
// The default is standard error at Info. A nil w means no console. On a terminal, lines have colour
// unless NO_COLOR is set, and are short at levels above Debug: of the attributes of this telemetry, they have only the
// names, the error and the trace id.
func WithConsole(w io.Writer, level slog.Leveler) Option {
	return func(c *config) { c.console, c.consoleLevel = w, orInfo(level) }
}

// WithLogLevel sets the lowest level of exported log records; nil means the default, [slog.LevelInfo]. The console
// has its own level, see [WithConsole].
func WithLogLevel(level slog.Leveler) Option {
	return func(c *config) { c.exportLevel = orInfo(level) }
}

// WithEndpoint exports all three signals in plain text to a receiver on this machine, "host:port" with a loopback
// host. It overrides the OTEL_EXPORTER_OTLP_* and OTEL_*_EXPORTER variables, and does not send their headers.
// OTEL_SDK_DISABLED still counts. It is for demonstrations and tests; configure a real collector by the environment.
func WithEndpoint(hostport string) Option { return func(c *config) { c.endpoint = hostport } }

// WithExportInterval sets the interval of exports for every signal. It overrides the SDK's defaults of 5 s for spans,
// 1 s for log records and 60 s for metrics, and OTEL_BSP_SCHEDULE_DELAY, OTEL_BLRP_SCHEDULE_DELAY and
// OTEL_METRIC_EXPORT_INTERVAL. It is for programs that run briefly or are being watched. Zero and negative values
// change nothing. Exports never run inside the call that ends a span or logs a line.
func WithExportInterval(d time.Duration) Option { return func(c *config) { c.interval = d } }

// WithGlobals sets whether Setup installs its results in package otel: the tracer, meter and logger provider, the
// propagators and the error handler. The default is true, because the program that calls Setup owns the process. Pass
// false in a test, or if other code of the program owns the globals. Setup never calls [slog.SetDefault].
func WithGlobals(install bool) Option { return func(c *config) { c.globals = install } }

// WithTailSampling exports every failed or slow call, and a part of the others: see package tailsampling. Without it,
// OTEL_TRACES_SAMPLER decides when a trace starts. With it, the variable sets the ratio and overrides the ratio of o:
// always_on is 1, always_off is 0, and for traceidratio it is OTEL_TRACES_SAMPLER_ARG; each also with the prefix
// parentbased_. Exemplars refer to exported spans, unless OTEL_METRICS_EXEMPLAR_FILTER is set. The exporter's queue
// has room for all spans that one failure may export, unless OTEL_BSP_MAX_QUEUE_SIZE is set. A metric counts the held
// spans that were evicted because memory ran short: see [tailsampling.Sampling.Observe].
func WithTailSampling(o tailsampling.Options) Option { return func(c *config) { c.tail = &o } }

// WithSDK makes Setup use an existing SDK instead of its own exporters: Setup adds the console, the logger and the
// globals, and [Providers.Shutdown] shuts the SDK down. Then NO_COLOR is the only variable that counts, and the
// options about the service, the endpoint, the interval and sampling have no effect; [WithBaggageAttributes] needs
// [BaggageProcessors] in the SDK. Package otelsetup uses this with a configuration file.
func WithSDK(s SDK) Option { return func(c *config) { c.sdk = &s } }

// WithSpanExporter adds an exporter that OTEL_TRACES_EXPORTER may name. Setup calls newExporter if the variable names
// it. The name is in lower case; otlp, console and none are reserved.
func WithSpanExporter(name string, newExporter func(context.Context) (sdktrace.SpanExporter, error)) Option {
	return func(c *config) { add(&c.spans, name, newExporter) }
}

// WithMetricReader adds a reader that OTEL_METRICS_EXPORTER may name, like [WithSpanExporter] for spans.
func WithMetricReader(name string, newReader func(context.Context) (sdkmetric.Reader, error)) Option {
	return func(c *config) { add(&c.readers, name, newReader) }
}

// WithReader adds a metric reader, for example one that serves metrics to Prometheus, to the readers that
// OTEL_METRICS_EXPORTER names: the reader gets metrics even if the variable is none. [Providers.Shutdown] shuts the
// reader down. If OTEL_SDK_DISABLED is true, or with [WithSDK], the reader gets no metrics. A reader works in one Setup.
func WithReader(r sdkmetric.Reader) Option {
	return func(c *config) { c.own = append(c.own[:len(c.own):len(c.own)], r) }
}

// WithLogExporter adds an exporter that OTEL_LOGS_EXPORTER may name, like [WithSpanExporter] for spans.
func WithLogExporter(name string, newExporter func(context.Context) (sdklog.Exporter, error)) Option {
	return func(c *config) { add(&c.records, name, newExporter) }
}

func add[T any](all *map[string]T, name string, v T) {
	if *all == nil {
		*all = make(map[string]T)
	}
	(*all)[name] = v
}

func orInfo(level slog.Leveler) slog.Leveler {
	if level == nil {
		return slog.LevelInfo
	}
	return level
}
