package instrument

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// Change is the parent span of all notifications about one change, such as an update of a resource, to several clients.
// It puts these notifications into one trace. A Change must be used by one goroutine. The zero Change has no span.
type Change struct{ span trace.Span }

// StartChange starts a trace with the span of a change. The caller ends the Change exactly once. The Change has no span
// if notifications of the method have no spans, or if [telemetry.WithFilter] rejects them.
func (s *Server) StartChange(method, uri string) Change {
	ctx := context.Background()
	if s == nil || !s.tel.late.starts() || !s.traces.spansNotification(ctx, method) {
		return Change{}
	}
	if op := (Op{side: &s.side, ctx: ctx, direction: telemetry.DirectionSent, method: method, uri: uri}); !op.wantsSpan() {
		return Change{}
	}
	attrs := present(s.identify([]attribute.KeyValue{
		attribute.String(names.KeyMCPMethodName, method), optional(names.KeyMCPResourceURI, truncate(uri, words.MaxURI)),
	})...)
	_, span := s.tel.tracer.Start(ctx, names.SpanMCPServerChange+" "+method, trace.WithAttributes(attrs...))
	s.tel.late.started(span.IsRecording())
	return Change{span}
}

// Ref returns the name of the span, for [Request.Parent].
func (c *Change) Ref() Ref {
	if c.span == nil {
		return Ref{}
	}
	return newRef(c.span.SpanContext())
}

// End ends the span.
func (c *Change) End() {
	if c.span != nil {
		c.span.End()
	}
}
