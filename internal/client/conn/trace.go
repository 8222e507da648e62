package conn

import (
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// traceContext is the trace context of a message. It is determined once for each message. Over HTTP, it is encoded both
// in the message and in headers.
type traceContext struct{ instrument.TraceContext }

func traceOf(op *instrument.Op) traceContext { return traceContext{op.TraceContext()} }

// meta returns the members of _meta.
func (t *traceContext) meta(constant *jsonrpc.Constant) jsonrpc.Meta {
	return jsonrpc.Meta{Const: constant, Traceparent: t.Traceparent, Tracestate: t.Tracestate, Baggage: t.Baggage,
		Propagated: t.Others, Declared: t.Declared()}
}

// tell copies the trace context into the transport's message, for HTTP headers.
func (t *traceContext) tell(m *transport.Message) {
	m.Traceparent, m.Tracestate, m.Baggage = t.Traceparent, t.Tracestate, t.Baggage
	m.Propagated = t.Headers()
}
