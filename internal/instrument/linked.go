package instrument

import (
	"log/slog"

	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// howToJoin is the advice of the record about a linked trace.
const howToJoin = "the client is unknown, so its trace is linked and not continued; TrustTraceContext, in " +
	"mcpserver.HTTPOptions or an option of the adapters, or a principal as behind bearer.Require makes one trace of a call"

// adviseToJoin logs, once for all servers of the Telemetry, that the trace of an unknown client is not continued, and
// what joins the two. A program with [telemetry.WithPublicEndpointFn] has decided about that by itself.
func (op *Op) adviseToJoin(in *Incoming, named Ref) {
	s := op.side
	if !in.Untrusted || named == (Ref{}) || !op.trace.recording || s.tel.Untrusted != nil || s.tel.advised.Load() {
		return
	}
	if named.spanContext().TraceID() == trace.SpanContextFromContext(op.ctx).TraceID() ||
		!s.logs.enabled(op.ctx, slog.LevelInfo) {
		return
	}
	if s.tel.advised.CompareAndSwap(false, true) {
		s.logs.emit(op.ctx, slog.LevelInfo, names.EventMCPServerTraceLinked,
			slog.String(names.KeyMCPServerTraceAdvice, howToJoin))
	}
}
