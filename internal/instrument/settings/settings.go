// Package settings is what package telemetry, which users see, and package instrument, which authors of clients and
// servers see, have between them: what the user's options say, and where the instruments are kept that follow from
// them. It lies below both, so that neither has to export it.
package settings

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/log"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Settings is what the options of telemetry.New say. R is telemetry.Redactor, which this package cannot name.
type Settings[R any] struct {
	Tracers            trace.TracerProvider
	Meters             metric.MeterProvider
	Propagator         propagation.TextMapPropagator
	Log                *slog.Logger       // nil for none
	Records            log.LoggerProvider // nil for none
	RecordLevel        slog.Leveler       // the lowest level of what Records gets
	ToolLimit          int
	Slow               time.Duration
	URIInName          bool
	Notifications      func(method string) bool // nil for the default
	Keep               R                        // nil for no content
	ContentAsText      bool
	Untrusted          func(ctx context.Context) bool                       // nil for never
	Filter             func(context.Context, SpanInfo) bool                 // nil for a span for all
	SpanAttributes     func(context.Context, SpanInfo) []attribute.KeyValue // nil for none
	NoClientAddress    bool
	ExecuteTool        bool     // gen_ai.execute_tool.duration
	ContextCost        bool     // the size of each tool's definition, and of its results
	ProfileLabels      bool     // of goroutines that run handlers and decode results
	NoSessionTransport bool     // sessions as the next version of the conventions has them
	Baggage            []string // keys that go over networks; * for all
	Label              string   // key of the baggage that durations have; empty for none
}

// SpanInfo is telemetry.SpanInfo.
type SpanInfo struct {
	// Kind is trace.SpanKindClient for a message that is sent and trace.SpanKindServer for one that is handled.
	Kind trace.SpanKind

	Method string // as it is in the message
	Target string // the name of the tool or prompt that the message is about, as it is there; empty for none
	URI    string // of the resource that the message is about, empty for none
}

// Source is a telemetry.Telemetry as package instrument sees it: each of the two types converts to the other. It is
// safe for concurrent use. A nil Source, and one that has no settings, has no instruments.
type Source[R any] struct {
	settings *Settings[R] // nil for one that observes nothing
	of       *Source[R]   // that has the instruments; nil for this one
	scrub    any          // see Scrubbing; nil for nothing

	mu          sync.Mutex
	instruments Instruments // guarded by mu; nil until the first client or server needs them
}

// Instruments are what all clients and servers of a Source share.
type Instruments interface {
	// Flush waits until the log handler has taken all records, or until ctx ends, and then returns its cause.
	Flush(ctx context.Context) error
}

// NewSource returns a Source with these settings, which do not change any more.
func NewSource[R any](s *Settings[R]) *Source[R] { return &Source[R]{settings: s} }

// Settings returns the settings, nil if there are none.
func (s *Source[R]) Settings() *Settings[R] {
	if s == nil {
		return nil
	}
	return s.settings
}

// Instruments returns the instruments, which build makes for the first who asks. They are nil without settings.
func (s *Source[R]) Instruments(build func(*Settings[R]) Instruments) Instruments {
	if s.Settings() == nil {
		return nil
	}
	if s.of != nil {
		return s.of.Instruments(build)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.instruments == nil {
		s.instruments = build(s.settings)
	}
	return s.instruments
}

// Scrubbing returns a Source with the same settings and instruments, whose clients and servers pass contents of
// messages through f, a func(telemetry.Content) []byte, which this package cannot name.
func (s *Source[R]) Scrubbing(f any) *Source[R] {
	if s.Settings() == nil {
		return s
	}
	return &Source[R]{settings: s.settings, of: s, scrub: f}
}

// Scrub returns the function of Scrubbing, nil for none.
func (s *Source[R]) Scrub() any {
	if s == nil {
		return nil
	}
	return s.scrub
}

// Flush flushes the instruments, if there are any.
func (s *Source[R]) Flush(ctx context.Context) error {
	none := func(*Settings[R]) Instruments { return nil }
	if all := s.Instruments(none); all != nil {
		return all.Flush(ctx)
	}
	return nil
}

// outerSpan is the context key of [WithOuterSpan].
type outerSpan struct{}

// WithOuterSpan marks the current span of ctx as the one that a tool call uses in place of its own.
func WithOuterSpan(ctx context.Context) context.Context {
	return context.WithValue(ctx, outerSpan{}, trace.SpanFromContext(ctx))
}

// OuterSpan returns the span that [WithOuterSpan] marked, nil if it is not the current one.
func OuterSpan(ctx context.Context) trace.Span {
	marked, ok := ctx.Value(outerSpan{}).(trace.Span)
	if !ok || !marked.IsRecording() || !marked.SpanContext().Equal(trace.SpanContextFromContext(ctx)) {
		return nil
	}
	return marked
}
