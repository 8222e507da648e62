package stack_test

import (
	"context"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry/otlp"
)

// made is a span to export, with the spans below it.
type made struct {
	name       string
	kind       trace.SpanKind
	took       time.Duration // duration; zero means a millisecond
	failed     bool
	attributes []attribute.KeyValue
	below      []made
}

func operation(kind trace.SpanKind, method string, below ...made) made {
	return made{name: method, kind: kind, attributes: []attribute.KeyValue{attribute.String("mcp.method.name", method)},
		below: below}
}

// tell exports spans that end now, and returns the id of their trace.
func tell(p *otlp.Providers, m made) string {
	now := time.Now()
	return m.tell(context.Background(), p.TracerProvider().Tracer("test"), now)
}

func (m made) tell(ctx context.Context, tracer trace.Tracer, end time.Time) string {
	took := max(m.took, time.Millisecond)
	ctx, span := tracer.Start(ctx, m.name, trace.WithSpanKind(m.kind), trace.WithTimestamp(end.Add(-took)),
		trace.WithAttributes(m.attributes...))
	for _, b := range m.below {
		b.tell(ctx, tracer, end)
	}
	if m.failed {
		span.SetStatus(codes.Error, "as the test wants it")
	}
	span.End(trace.WithTimestamp(end))
	return span.SpanContext().TraceID().String()
}

// flush exports the spans so far.
func flush(t *testing.T, p *otlp.Providers) {
	t.Helper()
	if err := p.ForceFlush(t.Context()); err != nil {
		t.Fatal(err)
	}
}
