// Package settings connects package telemetry, which users see, with package instrument, which authors of clients and
// servers see. It holds the settings from the user's options, and the instruments that are built from them. Both
// packages import it, so that neither of them has to export this connection.
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

	"github.com/mcpotel/mcpotel/internal/auditlog"
)

// Settings holds the options of telemetry.New. R is telemetry.Redactor, which this package cannot import.
type Settings[R any] struct {
	Tracers            trace.TracerProvider
	Meters             metric.MeterProvider
	Propagator         propagation.TextMapPropagator
	Log                *slog.Logger       // nil for none
	Records            log.LoggerProvider // nil for none
	RecordLevel        slog.Leveler       // minimum level of the records for Records
	ToolLimit          int
	Slow               time.Duration
	URIInName          bool
	Notifications      func(method string) bool // nil for the default
	Keep               R                        // nil for no content
	ContentAsText      bool
	Untrusted          func(ctx context.Context) bool                       // nil for never
	Filter             func(context.Context, SpanInfo) bool                 // nil if every operation has a span
	SpanAttributes     func(context.Context, SpanInfo) []attribute.KeyValue // nil for none
	NoClientAddress    bool
	ExecuteTool        bool          // record gen_ai.execute_tool.duration
	ContextCost        bool          // record sizes of tool definitions and tool results
	ProfileLabels      bool          // set profile labels on goroutines that run handlers or decode results
	NoSessionTransport bool          // omit the transport from session durations, as the next version of the conventions does
	Baggage            []string      // keys that may cross networks; * for all
	Label              string        // baggage key that becomes an attribute of durations; empty for none
	Audit              *auditlog.Log // nil for none
}

// SpanInfo is telemetry.SpanInfo.
type SpanInfo struct {
	// Kind is trace.SpanKindClient for a sent message and trace.SpanKindServer for a handled one.
	Kind trace.SpanKind

	Method string // as in the message
	Target string // name of the tool or prompt, as in the message; empty for none
	URI    string // URI of the resource; empty for none
}

// Source is package instrument's view of a telemetry.Telemetry; each type converts to the other. It is safe for
// concurrent use. A nil Source and a Source without settings have no instruments.
type Source[R any] struct {
	settings *Settings[R] // nil if telemetry is off
	of       *Source[R]   // the Source that has the instruments; nil if this one has them
	scrub    any          // function passed to Scrubbing; nil for none

	mu          sync.Mutex
	instruments Instruments // guarded by mu; nil until the first client or server needs them
}

// Instruments is the state that all clients and servers of a Source share.
type Instruments interface {
	// Flush waits until the log handler has all records. If ctx ends first, Flush returns its cause.
	Flush(ctx context.Context) error
}

// NewSource returns a Source with these settings. The caller must not change the settings afterwards.
func NewSource[R any](s *Settings[R]) *Source[R] { return &Source[R]{settings: s} }

// Settings returns the settings, or nil if there are none.
func (s *Source[R]) Settings() *Settings[R] {
	if s == nil {
		return nil
	}
	return s.settings
}

// Instruments returns the instruments. The first call creates them with build. Without settings, it returns nil.
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

// Scrubbing returns a Source with the same settings and instruments. Its clients and servers pass the contents of
// messages through f. f is a func(telemetry.Content) []byte, which this package cannot declare.
func (s *Source[R]) Scrubbing(f any) *Source[R] {
	if s.Settings() == nil {
		return s
	}
	return &Source[R]{settings: s.settings, of: s, scrub: f}
}

// Scrub returns the function that was passed to Scrubbing, or nil.
func (s *Source[R]) Scrub() any {
	if s == nil {
		return nil
	}
	return s.scrub
}

// Flush flushes the instruments, if they exist.
func (s *Source[R]) Flush(ctx context.Context) error {
	none := func(*Settings[R]) Instruments { return nil }
	if all := s.Instruments(none); all != nil {
		return all.Flush(ctx)
	}
	return nil
}

// outerSpan is the context key of [WithOuterSpan].
type outerSpan struct{}

// WithOuterSpan marks the current span of ctx. A tool call uses this span and starts no span of its own.
func WithOuterSpan(ctx context.Context) context.Context {
	return context.WithValue(ctx, outerSpan{}, trace.SpanFromContext(ctx))
}

// OuterSpan returns the span that [WithOuterSpan] marked, or nil if another span is current.
func OuterSpan(ctx context.Context) trace.Span {
	marked, ok := ctx.Value(outerSpan{}).(trace.Span)
	if !ok || !marked.IsRecording() || !marked.SpanContext().Equal(trace.SpanContextFromContext(ctx)) {
		return nil
	}
	return marked
}
