package conn

import (
	"errors"

	"github.com/mcpotel/mcpotel/internal/client/machine"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// CancelledByServer reports that the server cancelled a request: one of the server's own requests or a subscription of
// the client. To cancel any other request of the client is a violation. Reason is the server's reason; it is empty if
// the server gave none.
type CancelledByServer struct{ Reason string }

func (e *CancelledByServer) Error() string {
	if e.Reason == "" {
		return "the server cancelled the request"
	}
	return "the server cancelled the request: " + e.Reason
}

// cancelledUpstream reports whether a cancellation by the server caused this outcome.
func cancelledUpstream(o Outcome) bool {
	why := o.err
	if o.failed != nil {
		why = o.failed
	}
	_, cancelled := errors.AsType[*CancelledByServer](why)
	return cancelled
}

// Cancelled ends a request of the client that the server has cancelled, because no answer will come. A server may end a
// subscription, and the client may open it again. In no revision may a server cancel any other request, so a call that
// the server cancels fails with [KindProtocol]. If its answer arrives anyway, it counts as late. (specification
// 2026-07-28 and 2025-11-25, basic/patterns/cancellation and basic/utilities/cancellation)
func (c *Conn) Cancelled(l *Link, request jsonrpc.ID, why *CancelledByServer) {
	id, _ := request.Int()
	c.mu.Lock()
	defer c.mu.Unlock()
	cl, ok := c.calls.Find(id)
	if !ok {
		return
	}
	f := &fact{request: id, cancelled: why}
	if cl.Opened != nil {
		f = &fact{request: id, failed: &transport.RequestError{Reason: transport.ReasonLost, Err: why}}
	}
	c.stepLocked(machine.Input{Event: machine.RequestFailed, Epoch: l.Epoch}, f)
}
