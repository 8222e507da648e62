package mcpserver

import (
	"errors"
	"fmt"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// cancelled ends the request that a notifications/cancelled is about. One that names no request in flight means
// nothing: the answer may have crossed it.
// The revision of the request is that of the notification, which op observes.
// (specification 2026-07-28, basic/patterns/cancellation)
func (x *rpcExchange) cancelled(m *jsonrpc.Message, op *instrument.Op) error {
	var p mcp.CancelledParams
	if _, err := mcp.Decode(m.Middle(), &p); err != nil || p.RequestID.IsZero() {
		return nil
	}
	about := x.calls.find(p.RequestID)
	if about != nil && op != nil {
		_, v := about.handler.about()
		op.Meet(x.seen(v))
	}
	if others := x.server.elsewhere(); others != nil && about == nil {
		return others.cancel(x.work, p.RequestID, p.Reason)
	}
	x.calls.cancel(p.RequestID, x.server.cancellation(p.Reason))
	return nil
}

// cancellation returns the cause of the end of a handler's context, with what the client says about it.
func cancellation(reason string) error {
	if reason == "" {
		return errCancelled
	}
	return fmt.Errorf("%w: %s", errCancelled, reason)
}

// errCancelled is in the cause of a handler's context that the client has ended.
var errCancelled = errors.New("cancelled by the client")
