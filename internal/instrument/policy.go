package instrument

import (
	"context"
	"log/slog"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/instrument/records"
	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// Decision is the effect of a proxy's policy on a message.
type Decision struct {
	Kind       string // one of the Policy constants of package names
	Method     string
	Tool       string // the tool that the message concerns; empty for none
	Redactions int    // number of replaced texts
	Request    bool   // the message belongs to a request of the client, and the context has the span of that request
}

// Decided counts and logs a decision, and sets it on the span of the request.
func (s *Server) Decided(ctx context.Context, d Decision) {
	if s == nil {
		return
	}
	d.Kind = words.OneOf(words.PolicyDecisions, d.Kind)
	if s.tel.Audit != nil && d.Request {
		auditOf(ctx).decide(d.Kind)
	}
	if span := trace.SpanFromContext(ctx); d.Request && span.IsRecording() {
		span.SetAttributes(attribute.String(names.KeyMCPServerPolicyDecision, d.Kind))
		if d.Redactions > 0 {
			span.SetAttributes(attribute.Int(names.KeyMCPServerPolicyRedactions, d.Redactions))
		}
	}
	if counter := s.tel.ins.policy; counter.Enabled(ctx) {
		counter.Add(ctx, 1, s.metrics.options().policy.At(policyKey{s.toolLabel(d.Tool), d.Kind})...)
	}
	level := slog.LevelWarn
	switch d.Kind {
	case names.PolicyHidden:
		level = slog.LevelDebug
	case names.PolicyRedacted:
		level = slog.LevelInfo
	}
	suppressed, ok := s.logs.allows(ctx, records.Key{
		Event: names.EventMCPServerPolicyDecided, Reason: d.Kind, Direction: telemetry.DirectionReceived, Level: level,
	})
	if !ok {
		return
	}
	var buf [maxFields]slog.Attr
	fields := append(buf[:0], slog.String(names.KeyMCPServerPolicyDecision, d.Kind),
		slog.String(names.KeyMCPMethodName, truncate(d.Method, words.MaxName)))
	fields = appendText(fields, names.KeyGenAIToolName, truncate(d.Tool, words.MaxName))
	fields = appendCount(fields, names.KeyMCPServerPolicyRedactions, d.Redactions)
	s.logs.emit(ctx, level, names.EventMCPServerPolicyDecided, appendCount(fields, s.keys.suppressed, suppressed)...)
}

// toolLabel returns the name of a tool as a metric label. It is empty for an empty name.
func (s *Server) toolLabel(tool string) string {
	if tool == "" {
		return ""
	}
	if own, ok := s.targets.Intern(tool, s.tel.ToolLimit); ok {
		return own
	}
	return names.Other
}
