package shop

import (
	"context"
	"strings"
	"sync"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/broadcast"
)

// openCalls is a span processor that counts tool calls with open spans. A client receives an answer shortly before the
// server's span ends: killing the process in between would lose the span.
type openCalls struct {
	mu      sync.Mutex
	open    int // guarded by mu
	changed broadcast.Signal
}

// awaitLast waits until only the caller's own call is open.
func (o *openCalls) awaitLast(ctx context.Context) error {
	return o.changed.Await(ctx, &o.mu, func() bool { return o.open <= 1 })
}

func (o *openCalls) OnStart(_ context.Context, s sdktrace.ReadWriteSpan) { o.add(s, 1) }
func (o *openCalls) OnEnd(s sdktrace.ReadOnlySpan)                       { o.add(s, -1) }

func (o *openCalls) add(s sdktrace.ReadOnlySpan, n int) {
	if s.SpanKind() != trace.SpanKindServer || !strings.HasPrefix(s.Name(), "tools/call ") {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.open += n
	o.changed.Send()
}

func (o *openCalls) Shutdown(context.Context) error   { return nil }
func (o *openCalls) ForceFlush(context.Context) error { return nil }
