package otlp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/stdout/stdoutmetric"
	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry/tailsampling"
)

// Setup builds the providers and the logger from the options and the environment (see the package comment). It makes no
// connection, so a collector that is down causes neither an error nor a delay; bounded queues hold spans, metrics and
// log records until the collector accepts them. Setup returns an error if the configuration is invalid; the error names
// every invalid variable, and nothing is left running. ctx bounds only Setup itself.
//
// The caller should call [Providers.Shutdown] before the program ends, or the data of the last seconds is lost.
func Setup(ctx context.Context, opts ...Option) (*Providers, error) {
	c, err := newConfig(opts)
	if err != nil {
		return nil, fmt.Errorf("otlp: %w", err)
	}
	var s settings
	if c.given() {
		s.propagator = c.sdk.Propagator
	} else if s, err = readEnv(os.Getenv, c.endpoint != "", c.added()); err != nil {
		return nil, fmt.Errorf("otlp: %w", err)
	}
	if c.globals {
		otel.SetErrorHandler(&errorLines{now: time.Now, w: os.Stderr})
	}
	for _, w := range s.warnings {
		otel.Handle(w)
	}

	p := newProviders(s.propagator)
	if err := p.start(ctx, &c, s); err != nil {
		gone, cancel := context.WithCancel(ctx)
		cancel()
		p.Shutdown(gone)
		return nil, fmt.Errorf("otlp: %w", err)
	}
	if c.globals {
		otel.SetTracerProvider(p.tracer)
		otel.SetMeterProvider(p.meter)
		otel.SetLoggerProvider(p.logs)
		otel.SetTextMapPropagator(p.propagator)
	}
	return p, nil
}

// start creates the exported signals and the logger.
func (p *Providers) start(ctx context.Context, c *config, s settings) error {
	show := &console{w: c.console}
	if show.w == nil {
		show.w = os.Stderr
	}
	var shown, export slog.Handler
	if c.console != nil || slices.Contains(s.exporters[logs], toConsole) {
		shown = newConsole(show, c.consoleLevel, isTerminal(show.w), colourful(show.w, os.Getenv), c.baggage...)
	}
	if c.given() {
		p.take(c.sdk)
	} else if err := p.build(ctx, c, s, show); err != nil {
		return err
	}
	if len(p.late) > 0 || c.given() {
		export = newExport(p.logs, c.exportLevel)
	}
	p.logger = newLogger(shown, export)
	return nil
}

// build creates the SDK's providers of the exported signals.
func (p *Providers) build(ctx context.Context, c *config, s settings, show *console) error {
	res, err := newResource(ctx, c)
	if err != nil {
		otel.Handle(err)
	}
	var tail *tailsampling.Sampling
	if c.tail != nil {
		if tail, err = newTailSampling(*c.tail, os.Getenv); err != nil {
			return err
		}
	}
	start := map[signal]func(*beginning) error{traces: p.startTraces, metrics: p.startMetrics, logs: p.startLogs}
	for _, sig := range []signal{traces, metrics, logs} {
		if s.disabled || len(s.exporters[sig]) == 0 && (sig != metrics || len(c.own) == 0) {
			continue
		}
		to := destination{s.protocols[sig], c.endpoint, newLink()}
		if err := start[sig](&beginning{c, ctx, res, s.exporters[sig], to, show, tail}); err != nil {
			return fmt.Errorf("%s: %w", sig, err)
		}
	}
	return nil
}

// beginning holds the inputs for creating a signal.
type beginning struct {
	*config
	ctx       context.Context
	res       *resource.Resource
	exporters []string
	to        destination            // destination for the exporter otlp
	show      *console               // console for the exporter console
	tail      *tailsampling.Sampling // tail sampling; nil if a sampler of the SDK decides
}

func (p *Providers) startTraces(b *beginning) error {
	var batch []sdktrace.BatchSpanProcessorOption
	if b.interval > 0 {
		batch = append(batch, sdktrace.WithBatchTimeout(b.interval))
	}
	if b.tail != nil && os.Getenv("OTEL_BSP_MAX_QUEUE_SIZE") == "" {
		batch = append(batch, sdktrace.WithMaxQueueSize(sdktrace.DefaultMaxQueueSize+b.tail.Burst()))
	}
	opts := []sdktrace.TracerProviderOption{sdktrace.WithResource(b.res)}
	var all []sdktrace.SpanProcessor
	for _, name := range b.exporters {
		e, err := b.spanExporter(name)
		if err != nil { // shut down the signals created so far
			for _, made := range all {
				err = errors.Join(err, made.Shutdown(b.ctx))
			}
			return err
		}
		all = append(all, sdktrace.NewBatchSpanProcessor(e, batch...))
	}
	if b.tail != nil {
		opts = append(opts, sdktrace.WithSampler(b.tail.Sampler()))
		all = []sdktrace.SpanProcessor{b.tail.Processor(all...)}
	}
	if copier, _ := b.copiers(); copier != nil {
		opts = append(opts, sdktrace.WithSpanProcessor(copier))
	}
	for _, p := range all {
		opts = append(opts, sdktrace.WithSpanProcessor(p))
	}
	tp := sdktrace.NewTracerProvider(opts...)
	p.tracer = tp
	p.early = append(p.early, pipeline{string(traces), b.to.link, tp.ForceFlush, tp.Shutdown})
	return nil
}

func (b *beginning) spanExporter(name string) (sdktrace.SpanExporter, error) {
	switch name {
	case toOTLP:
		return newSpanExporter(b.ctx, b.to)
	case toConsole:
		return stdouttrace.New(stdouttrace.WithWriter(jsonLines{b.show}))
	}
	return b.spans[name](b.ctx)
}

func (p *Providers) startMetrics(b *beginning) error {
	opts := []sdkmetric.Option{sdkmetric.WithResource(b.res), sdkmetric.WithCardinalityLimit(setLimit(os.Getenv))}
	if b.tail != nil && os.Getenv("OTEL_METRICS_EXEMPLAR_FILTER") == "" {
		opts = append(opts, sdkmetric.WithExemplarFilter(b.tail.ExemplarFilter()))
	}
	for _, r := range b.own {
		opts = append(opts, sdkmetric.WithReader(r))
	}
	for _, name := range b.exporters {
		r, err := b.metricReader(name)
		if err != nil {
			return errors.Join(err, sdkmetric.NewMeterProvider(opts...).Shutdown(b.ctx))
		}
		opts = append(opts, sdkmetric.WithReader(r))
	}
	if b.histograms != ConventionHistograms {
		opts = append(opts, sdkmetric.WithView(b.histograms.View()))
	}
	mp := sdkmetric.NewMeterProvider(opts...)
	if b.tail != nil {
		if err := b.tail.Observe(mp); err != nil {
			return errors.Join(err, mp.Shutdown(b.ctx))
		}
	}
	p.meter = mp
	p.early = append(p.early, pipeline{string(metrics), b.to.link, mp.ForceFlush, mp.Shutdown})
	return nil
}

func (b *beginning) metricReader(name string) (sdkmetric.Reader, error) {
	var exporter sdkmetric.Exporter
	var err error
	switch name {
	case toOTLP:
		exporter, err = newMetricExporter(b.ctx, b.to)
		if err == nil {
			b.to.link.whole = exporter.Temporality(sdkmetric.InstrumentKindHistogram) == metricdata.CumulativeTemporality
		}
	case toConsole:
		exporter, err = stdoutmetric.New(stdoutmetric.WithWriter(jsonLines{b.show}))
	default:
		return b.readers[name](b.ctx)
	}
	if err != nil {
		return nil, err
	}
	var opts []sdkmetric.PeriodicReaderOption
	if b.interval > 0 {
		opts = append(opts, sdkmetric.WithInterval(b.interval))
	}
	return sdkmetric.NewPeriodicReader(exporter, opts...), nil
}

func (p *Providers) startLogs(b *beginning) error {
	var batch []sdklog.BatchProcessorOption
	if b.interval > 0 {
		batch = append(batch, sdklog.WithExportInterval(b.interval))
	}
	opts := []sdklog.LoggerProviderOption{sdklog.WithResource(b.res)}
	if _, copier := b.copiers(); copier != nil { // before the exporting processors
		opts = append(opts, sdklog.WithProcessor(copier))
	}
	without := len(opts)
	for _, name := range b.exporters {
		var e sdklog.Exporter
		var err error
		switch name {
		case toConsole: // the logger writes to the console itself
			continue
		case toOTLP:
			e, err = newLogExporter(b.ctx, b.to)
		default:
			e, err = b.records[name](b.ctx)
		}
		if err != nil {
			return errors.Join(err, sdklog.NewLoggerProvider(opts...).Shutdown(b.ctx))
		}
		opts = append(opts, sdklog.WithProcessor(sdklog.NewBatchProcessor(e, batch...)))
	}
	if len(opts) == without {
		return nil
	}
	lp := sdklog.NewLoggerProvider(opts...)
	p.logs = lp
	p.late = append(p.late, pipeline{string(logs), b.to.link, lp.ForceFlush, lp.Shutdown})
	return nil
}
