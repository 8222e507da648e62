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

// An Option changes what [Setup] builds. The zero set of options is right for a program that is configured by its
// environment; where an option and a variable speak of the same thing, each option says which one wins.
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
	baggage []string              // keys that are copied to spans and log records

	sdk     *SDK // nil unless one is given
	spans   map[string]func(context.Context) (sdktrace.SpanExporter, error)
	readers map[string]func(context.Context) (sdkmetric.Reader, error)
	records map[string]func(context.Context) (sdklog.Exporter, error)
}

// SDK is an OpenTelemetry SDK that was set up in another way than by the variables, such as from a configuration file.
// All fields are required but ForceFlush, without which nothing is flushed before the end.
type SDK struct {
	TracerProvider trace.TracerProvider
	MeterProvider  metric.MeterProvider
	LoggerProvider log.LoggerProvider
	Propagator     propagation.TextMapPropagator

	ForceFlush func(context.Context) error
	Shutdown   func(context.Context) error // exports what is left, and ends what the SDK has started
}

// given reports whether the program has an SDK of its own.
func (c *config) given() bool { return c.sdk != nil }

// added are the exporters that the program has, beside those of this package.
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

// WithServiceName sets service.name, by default "unknown_service:" and the name of the executable, as the
// specification has it. OTEL_SERVICE_NAME wins over it.
func WithServiceName(name string) Option { return func(c *config) { c.name = name } }

// WithServiceVersion sets service.version, by default the version Go stamped into the program, if any.
// service.version in OTEL_RESOURCE_ATTRIBUTES wins over it.
func WithServiceVersion(version string) Option { return func(c *config) { c.version = version } }

// WithConsole sends log records of at least the given level (nil means [slog.LevelInfo]) to w for a person to read;
// the default is standard error at Info. A nil w means no console. There is colour when w is a terminal and NO_COLOR
// is empty or not set.
func WithConsole(w io.Writer, level slog.Leveler) Option {
	return func(c *config) { c.console, c.consoleLevel = w, orInfo(level) }
}

// WithLogLevel sets the lowest level of the log records that are exported; nil means the default, [slog.LevelInfo].
// The console has a level of its own, see [WithConsole].
func WithLogLevel(level slog.Leveler) Option {
	return func(c *config) { c.exportLevel = orInfo(level) }
}

// WithEndpoint exports all three signals in plain text to a receiver in this machine, "host:port" with a loopback
// host, whatever the OTEL_EXPORTER_OTLP_* and OTEL_*_EXPORTER variables say; their headers are not sent there.
// OTEL_SDK_DISABLED still wins. It is for demonstrations and tests; a real collector is named by the environment.
func WithEndpoint(hostport string) Option { return func(c *config) { c.endpoint = hostport } }

// WithExportInterval makes every signal leave at this interval, instead of the SDK's 5 s for spans, 1 s for log
// records and 60 s for metrics and of what OTEL_BSP_SCHEDULE_DELAY, OTEL_BLRP_SCHEDULE_DELAY and
// OTEL_METRIC_EXPORT_INTERVAL say. It is for programs that live shortly or are being watched. Zero and negative mean no
// change. However short the interval, nothing is ever exported inside the call that ended a span or logged a line.
func WithExportInterval(d time.Duration) Option { return func(c *config) { c.interval = d } }

// WithGlobals says whether Setup installs what it builds in package otel: the tracer, meter and logger provider, the
// propagators and the error handler. The default is true, because the program that calls Setup owns the process; say
// false in a test or where other code of the program owns the globals. [slog.SetDefault] is never called.
func WithGlobals(install bool) Option { return func(c *config) { c.globals = install } }

// WithTailSampling exports each call that failed or was slow, and of the others a part: see package tailsampling.
// Without it, OTEL_TRACES_SAMPLER decides when a trace starts. With it, the variable says the ratio and wins over that
// of o: always_on is 1, always_off is 0, and OTEL_TRACES_SAMPLER_ARG is that of traceidratio; each also with the prefix
// parentbased_. Exemplars lead to spans that are exported, unless OTEL_METRICS_EXEMPLAR_FILTER is set. The queue of the
// exporter has room for all that one failure may take along, unless OTEL_BSP_MAX_QUEUE_SIZE is set. A metric says for
// how many spans there was no room: [tailsampling.Sampling.Observe].
func WithTailSampling(o tailsampling.Options) Option { return func(c *config) { c.tail = &o } }

// WithSDK has Setup make no exporters, but use those of an SDK that was set up in another way: it adds the console, the
// logger and the globals, and [Providers.Shutdown] shuts the SDK down. Of the variables, only NO_COLOR is read then,
// and the options about the service, the endpoint, the interval and sampling mean nothing; that about baggage needs
// [BaggageProcessors] in the SDK. Package otelsetup does this with a configuration file.
func WithSDK(s SDK) Option { return func(c *config) { c.sdk = &s } }

// WithSpanExporter adds an exporter that OTEL_TRACES_EXPORTER may name. Setup calls newExporter if it does. The name is
// in lower case; otlp, console and none are taken.
func WithSpanExporter(name string, newExporter func(context.Context) (sdktrace.SpanExporter, error)) Option {
	return func(c *config) { add(&c.spans, name, newExporter) }
}

// WithMetricReader adds a reader that OTEL_METRICS_EXPORTER may name, as [WithSpanExporter] does for spans.
func WithMetricReader(name string, newReader func(context.Context) (sdkmetric.Reader, error)) Option {
	return func(c *config) { add(&c.readers, name, newReader) }
}

// WithLogExporter adds an exporter that OTEL_LOGS_EXPORTER may name, as [WithSpanExporter] does for spans.
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
