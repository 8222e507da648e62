package mcpclient

import (
	"errors"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/internal/machine"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// cancelledByServer says that the server has cancelled a request: one of its own, a subscription of the client's, or
// another of the client's, which it must not. The reason is the server's, empty if it gave none.
type cancelledByServer struct{ reason string }

func (e *cancelledByServer) Error() string {
	if e.reason == "" {
		return "the server has cancelled it"
	}
	return "the server has cancelled it: " + e.reason
}

// cancelledUpstream reports whether the server has cancelled the request that came to this outcome.
func cancelledUpstream(o outcome) bool {
	why := o.err
	if o.failed != nil {
		why = o.failed
	}
	_, cancelled := errors.AsType[*cancelledByServer](why)
	return cancelled
}

// cancelled ends the request of the client that a server has cancelled: nobody waits until its timeout for an answer
// that will not come. A subscription is the server's to end, and is begun anew. No other request is the server's to
// cancel in any revision, so the call fails with [KindProtocol]; an answer that comes none the less is late.
// (specification 2026-07-28 and 2025-11-25, basic/patterns/cancellation and basic/utilities/cancellation)
func (c *core) cancelled(l *link, request jsonrpc.ID, why *cancelledByServer) {
	id, _ := request.Int()
	c.mu.Lock()
	defer c.mu.Unlock()
	cl, ok := c.calls.Find(id)
	if !ok {
		return
	}
	f := &fact{request: id, cancelled: why}
	if cl.method == mcp.MethodSubscriptionsListen {
		f = &fact{request: id, failed: &transport.RequestError{Reason: transport.Lost, Err: why}}
	}
	c.stepLocked(machine.Input{Event: machine.RequestFailed, Epoch: l.epoch}, f)
}
