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

// Providers are what [Setup] built. A signal that is not exported has a provider that does nothing. All methods may be
// called at any time from any goroutine.
type Providers struct {
	tracer     trace.TracerProvider
	meter      metric.MeterProvider
	logs       log.LoggerProvider
	propagator propagation.TextMapPropagator
	logger     *slog.Logger

	early, late []pipeline // shut down first, and then

	once sync.Once
	err  error // of the one shutdown
}

// A pipeline is one exported signal, or all of an SDK that was given.
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

// take takes the providers of an SDK that was set up in another way.
func (p *Providers) take(s *SDK) {
	p.tracer, p.meter, p.logs = s.TracerProvider, s.MeterProvider, s.LoggerProvider
	flush := s.ForceFlush
	if flush == nil {
		flush = func(context.Context) error { return nil }
	}
	p.late = append(p.late, pipeline{"sdk", newLink(), flush, s.Shutdown})
}

// TracerProvider makes tracers whose spans are exported.
func (p *Providers) TracerProvider() trace.TracerProvider { return p.tracer }

// MeterProvider makes meters whose measurements are exported.
func (p *Providers) MeterProvider() metric.MeterProvider { return p.meter }

// LoggerProvider makes OpenTelemetry loggers; they go round the console, which only [Providers.Logger] writes to.
func (p *Providers) LoggerProvider() log.LoggerProvider { return p.logs }

// Propagator is what OTEL_PROPAGATORS asked for.
func (p *Providers) Propagator() propagation.TextMapPropagator { return p.propagator }

// Logger writes to the console and exports, each from its own level on. It takes the trace ids from the context that a
// line is logged with; a line logged without one belongs to no trace. The attribute event.name becomes the event name
// of the exported record.
func (p *Providers) Logger() *slog.Logger { return p.logger }

// ForceFlush exports what has been recorded so far and waits for it, at most until the context's deadline or, if it
// has none, 5 seconds. The error joins those of the signals.
func (p *Providers) ForceFlush(ctx context.Context) error {
	ctx, cancel := within(ctx)
	defer cancel()
	return atOnce(slices.Concat(p.early, p.late), func(s pipeline) error { return s.flush(ctx) })
}

// Shutdown exports what is left and ends everything Setup started. It returns by the context's deadline or, if it has
// none, after 5 seconds at the latest: spans and metrics, side by side, have two thirds of that time, so that there
// is some for the log records whatever happens to them. A collector that does not answer is not waited for: each
// signal gets one try. What could not be delivered is lost, and the error joins what went wrong. Only the first call
// does something; the others wait for it and return its error.
//
// A context that is cancelled already, as that of signal.NotifyContext is when the program ends by a signal, leaves no
// time at all: pass one of its own.
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
	return s.link.loss() // the SDK's span processor keeps its last failure to itself
}

func within(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, closeTimeout)
}

// atOnce does the same for several signals side by side and joins the errors, in the order of the signals.
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
