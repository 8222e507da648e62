package otlp

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"go.opentelemetry.io/otel"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// Setup builds the providers and the logger that the options and the environment (see the package comment) ask for.
// It makes no connection, so it neither fails nor waits because a collector is down; spans, metrics and log records
// are kept in bounded queues and sent when a collector takes them. The error, if any, is about the
// configuration and names every variable that is wrong; nothing is left running then. ctx bounds only Setup itself.
//
// The caller should call [Providers.Shutdown] before the program ends, or the last seconds are lost.
func Setup(ctx context.Context, opts ...Option) (*Providers, error) {
	c, err := newConfig(opts)
	if err != nil {
		return nil, fmt.Errorf("otlp: %w", err)
	}
	s, err := readEnv(os.Getenv, c.endpoint != "")
	if err != nil {
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

// start makes the signals that are exported, and the logger.
func (p *Providers) start(ctx context.Context, c *config, s settings) error {
	res, err := newResource(ctx, c)
	if err != nil {
		otel.Handle(err)
	}
	if s.exported[traces] {
		if err := p.startTraces(ctx, c, res); err != nil {
			return fmt.Errorf("%s: %w", traces, err)
		}
	}
	if s.exported[metrics] {
		if err := p.startMetrics(ctx, c, res); err != nil {
			return fmt.Errorf("%s: %w", metrics, err)
		}
	}
	var console, export slog.Handler
	if c.console != nil {
		console = newConsole(c.console, c.consoleLevel, colourful(c.console, os.Getenv))
	}
	if s.exported[logs] {
		if err := p.startLogs(ctx, c, res); err != nil {
			return fmt.Errorf("%s: %w", logs, err)
		}
		export = newExport(p.logs, c.exportLevel)
	}
	p.logger = newLogger(console, export)
	return nil
}

func (p *Providers) startTraces(ctx context.Context, c *config, res *resource.Resource) error {
	l := newLink()
	exporter, err := newSpanExporter(ctx, c.endpoint, l)
	if err != nil {
		return err
	}
	var opts []sdktrace.BatchSpanProcessorOption
	if c.interval > 0 {
		opts = append(opts, sdktrace.WithBatchTimeout(c.interval))
	}
	tp := sdktrace.NewTracerProvider(sdktrace.WithResource(res), sdktrace.WithBatcher(exporter, opts...))
	p.tracer = tp
	p.early = append(p.early, pipeline{traces, l, tp.ForceFlush, tp.Shutdown})
	return nil
}

func (p *Providers) startMetrics(ctx context.Context, c *config, res *resource.Resource) error {
	l := newLink()
	exporter, err := newMetricExporter(ctx, c.endpoint, l)
	if err != nil {
		return err
	}
	l.whole = exporter.Temporality(sdkmetric.InstrumentKindHistogram) == metricdata.CumulativeTemporality
	var opts []sdkmetric.PeriodicReaderOption
	if c.interval > 0 {
		opts = append(opts, sdkmetric.WithInterval(c.interval))
	}
	mp := sdkmetric.NewMeterProvider(sdkmetric.WithResource(res), sdkmetric.WithCardinalityLimit(setLimit(os.Getenv)),
		sdkmetric.WithReader(sdkmetric.NewPeriodicReader(exporter, opts...)))
	p.meter = mp
	p.early = append(p.early, pipeline{metrics, l, mp.ForceFlush, mp.Shutdown})
	return nil
}

func (p *Providers) startLogs(ctx context.Context, c *config, res *resource.Resource) error {
	l := newLink()
	exporter, err := newLogExporter(ctx, c.endpoint, l)
	if err != nil {
		return err
	}
	var opts []sdklog.BatchProcessorOption
	if c.interval > 0 {
		opts = append(opts, sdklog.WithExportInterval(c.interval))
	}
	lp := sdklog.NewLoggerProvider(sdklog.WithResource(res), sdklog.WithProcessor(promote{}),
		sdklog.WithProcessor(sdklog.NewBatchProcessor(exporter, opts...)))
	p.logs = lp
	p.late = append(p.late, pipeline{logs, l, lp.ForceFlush, lp.Shutdown})
	return nil
}
