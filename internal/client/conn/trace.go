package conn

import (
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// traceContext says whose trace a message belongs to. It is asked for once for each message, which has it twice over
// HTTP: each time it is written anew.
type traceContext struct{ instrument.TraceContext }

func traceOf(op *instrument.Op) traceContext { return traceContext{op.TraceContext()} }

// meta returns the members of _meta.
func (t *traceContext) meta(constant *jsonrpc.Constant) jsonrpc.Meta {
	return jsonrpc.Meta{Const: constant, Traceparent: t.Traceparent, Tracestate: t.Tracestate, Baggage: t.Baggage,
		Propagated: t.Others, Declared: t.Declared()}
}

// tell gives it to the transport, which may have headers for it.
func (t *traceContext) tell(m *transport.Message) {
	m.Traceparent, m.Tracestate, m.Baggage = t.Traceparent, t.Tracestate, t.Baggage
	m.Propagated = t.Headers()
}
