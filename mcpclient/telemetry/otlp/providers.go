package otlp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/log"
	lognoop "go.opentelemetry.io/otel/log/noop"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"
)

// closeTimeout bounds Shutdown and ForceFlush when their context has no deadline.
const closeTimeout = 5 * time.Second

// Providers holds the results of [Setup]. A signal that is not exported has a provider that does nothing. All methods
// are safe for concurrent use, at any time.
type Providers struct {
	tracer     trace.TracerProvider
	meter      metric.MeterProvider
	logs       log.LoggerProvider
	propagator propagation.TextMapPropagator
	logger     *slog.Logger

	early, late []pipeline // early is shut down first, then late

	once sync.Once
	err  error // error of the only shutdown
}

// A pipeline is one exported signal, or all signals of a given SDK.
type pipeline struct {
	name            string
	link            *link
	flush, shutdown func(context.Context) error
}

func newProviders(propagator propagation.TextMapPropagator) *Providers {
	return &Providers{
		tracer:     tracenoop.NewTracerProvider(),
		meter:      metricnoop.NewMeterProvider(),
		logs:       lognoop.NewLoggerProvider(),
		propagator: propagator,
	}
}

// take adopts the providers of a given SDK.
func (p *Providers) take(s *SDK) {
	p.tracer, p.meter, p.logs = s.TracerProvider, s.MeterProvider, s.LoggerProvider
	flush := s.ForceFlush
	if flush == nil {
		flush = func(context.Context) error { return nil }
	}
	p.late = append(p.late, pipeline{"sdk", newLink(), flush, s.Shutdown})
}

// TracerProvider returns the provider whose spans are exported.
func (p *Providers) TracerProvider() trace.TracerProvider { return p.tracer }

// MeterProvider returns the provider whose measurements are exported.
func (p *Providers) MeterProvider() metric.MeterProvider { return p.meter }

// LoggerProvider returns the provider of OpenTelemetry loggers. They bypass the console, to which only
// [Providers.Logger] writes.
func (p *Providers) LoggerProvider() log.LoggerProvider { return p.logs }

// Propagator returns the propagator that OTEL_PROPAGATORS configures.
func (p *Providers) Propagator() propagation.TextMapPropagator { return p.propagator }

// Logger returns the logger that writes records to the console and exports them. The console and the export each have
// their own lowest level. The trace ids come from the context of the record; a record without a context belongs to no
// trace. The attribute event.name becomes the event name of the exported record.
func (p *Providers) Logger() *slog.Logger { return p.logger }

// ForceFlush exports the recorded data and waits for the export, until the context's deadline or, if it has none, at
// most 5 seconds. The error joins the errors of the signals.
func (p *Providers) ForceFlush(ctx context.Context) error {
	ctx, cancel := within(ctx)
	defer cancel()
	return atOnce(slices.Concat(p.early, p.late), func(s pipeline) error { return s.flush(ctx) })
}

// Shutdown exports the remaining data and ends everything that Setup started. It returns by the context's deadline
// or, if it has none, after at most 5 seconds. Spans and metrics are exported side by side within two thirds of that
// time, so that the log records always have some. Shutdown does not wait for a collector that does not answer: each
// signal gets one try. Undelivered data is lost, and the error joins the failures. Only the first call has an effect;
// other calls wait for it and return its error.
//
// A cancelled context leaves no time at all. The context of signal.NotifyContext is cancelled when a signal ends the
// program, so pass a new context.
func (p *Providers) Shutdown(ctx context.Context) error {
	p.once.Do(func() { p.err = p.shutdown(ctx) })
	return p.err
}

func (p *Providers) shutdown(ctx context.Context) error {
	ctx, cancel := within(ctx)
	defer cancel()
	deadline, _ := ctx.Deadline()
	early, cancel := context.WithTimeout(ctx, time.Until(deadline)*2/3)
	defer cancel()

	return errors.Join(
		atOnce(p.early, func(s pipeline) error { return s.close(early) }),
		atOnce(p.late, func(s pipeline) error { return s.close(ctx) }))
}

func (s pipeline) close(ctx context.Context) error {
	defer s.link.abandon()
	s.link.lastTry()
	if err := s.shutdown(ctx); err != nil {
		return err
	}
	return s.link.loss() // the SDK's span processor does not return its last failure
}

func within(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, closeTimeout)
}

// atOnce calls do for several signals side by side and joins the errors, in the order of the signals.
func atOnce(signals []pipeline, do func(pipeline) error) error {
	errs := make([]error, len(signals))
	var wg sync.WaitGroup
	for i, s := range signals {
		wg.Go(func() {
			if err := do(s); err != nil {
				errs[i] = fmt.Errorf("%s: %w", s.name, err)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
