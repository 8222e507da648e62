package instrument_test

import (
	"context"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// failing loses a connection three times. Before each loss, more events happen than fit into a record.
func failing(t *testing.T, c *instrument.Client, p *instrument.Peer) {
	for range telemetry.FlightSize {
		ask(t.Context(), c, p, "read", instrument.Result{Err: lost{}})
	}
	for _, pause := range []time.Duration{time.Second, time.Minute, 0} {
		c.Transition(instrument.Transition{Transition: loss, Err: lost{}})
		time.Sleep(pause) // virtual
	}
}

// loss is the transition of a lost connection.
var loss = connstate.Transition{
	From: connstate.Ready, To: connstate.Backoff, Reason: connstate.ReasonTransportDown, Epoch: 3, Duration: time.Minute,
}

// breaking makes connections of a server fail three times, like failing.
func breaking(t *testing.T, s *instrument.Server, p *instrument.Peer) {
	for range telemetry.FlightSize {
		serve(t.Context(), s, p, remoteParent)
	}
	for _, pause := range []time.Duration{time.Second, time.Minute, 0} {
		s.ConnectionFailed(names.ErrorConnectionLost)
		time.Sleep(pause) // virtual
	}
}

// ask sends a tool call that ends with the result r.
func ask(ctx context.Context, c *instrument.Client, p *instrument.Peer, tool string, r instrument.Result) {
	_, op := c.StartRequest(ctx, instrument.Request{Method: "tools/call", TargetKind: instrument.Tool, Target: tool})
	op.Admit(p, 7)
	op.Sent(100)
	op.End(r)
}
