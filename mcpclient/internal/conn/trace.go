package conn

import (
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// traceContext says whose trace a message belongs to, in the W3C's formats; empty for none. It is asked for once for
// each message, which has it twice over HTTP: each time it is written anew.
type traceContext struct{ parent, state, baggage string }

func traceOf(op *instrument.Op) (t traceContext) {
	t.parent, t.state, t.baggage = op.TraceContext()
	return t
}

// meta returns the members of _meta.
func (t *traceContext) meta(constant *jsonrpc.Constant) jsonrpc.Meta {
	return jsonrpc.Meta{Const: constant, Traceparent: t.parent, Tracestate: t.state, Baggage: t.baggage}
}

// tell gives it to the transport, which may have headers for it.
func (t *traceContext) tell(m *transport.Message) {
	m.Traceparent, m.Tracestate, m.Baggage = t.parent, t.state, t.baggage
}
