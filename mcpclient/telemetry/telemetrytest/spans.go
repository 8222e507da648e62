package telemetrytest

import (
	"context"
	"slices"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// spanLog is a span processor that stores ended spans, and the attributes with which they started.
type spanLog struct {
	mu    sync.Mutex
	begun map[trace.SpanID]begun // guarded by mu
	ended []sdktrace.ReadOnlySpan
}

// begun is a span as samplers saw it.
type begun struct {
	number      int // position in the order of the starts
	name, scope string
	attrs       []attribute.KeyValue
	ended       bool
}

var _ sdktrace.SpanProcessor = (*spanLog)(nil)

func newSpanLog() *spanLog { return &spanLog{begun: map[trace.SpanID]begun{}} }

// OnStart stores the attributes of a starting span.
func (l *spanLog) OnStart(_ context.Context, s sdktrace.ReadWriteSpan) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begun[s.SpanContext().SpanID()] = begun{
		number: len(l.begun), name: s.Name(), scope: s.InstrumentationScope().Name, attrs: slices.Clone(s.Attributes()),
	}
}

// OnEnd stores an ended span.
func (l *spanLog) OnEnd(s sdktrace.ReadOnlySpan) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.begun[s.SpanContext().SpanID()]
	b.ended = true
	l.begun[s.SpanContext().SpanID()] = b
	l.ended = append(l.ended, s)
}

// Shutdown does nothing: spans are stored until the end of the test.
func (l *spanLog) Shutdown(context.Context) error { return nil }

// ForceFlush does nothing.
func (l *spanLog) ForceFlush(context.Context) error { return nil }

func (l *spanLog) snapshot() []sdktrace.ReadOnlySpan {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.ended)
}

func (l *spanLog) start(id trace.SpanID) begun {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.begun[id]
}

// open returns the names of the spans of a scope that have not ended.
func (l *spanLog) open(scope string) (names []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, b := range l.begun {
		if !b.ended && b.scope == scope {
			names = append(names, b.name)
		}
	}
	return names
}
