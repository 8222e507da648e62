package rpc

import (
	"errors"
	"fmt"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// cancelled cancels the request that notifications/cancelled names. It ignores a notification that names no request in
// flight, because the notification may have crossed the answer. op is the operation of the notification, which records
// the revision of the request; op is nil without telemetry. (specification 2026-07-28, basic/patterns/cancellation)
func (x *Exchange) cancelled(m *jsonrpc.Message, op *instrument.Op) error {
	var p mcp.CancelledParams
	if _, err := mcp.Decode(m.Middle(), &p); err != nil || p.RequestID.IsZero() {
		return nil
	}
	id := jsonrpc.ID(p.RequestID)
	about := x.Calls.Find(id)
	if about != nil && op != nil {
		_, v := about.Handler.About()
		op.Meet(x.Peer.Seen(v))
	}
	if others := x.Server.Elsewhere(); others != nil && about == nil {
		return others.Cancel(x.Work, id, p.Reason)
	}
	x.Calls.Cancel(id, x.Server.Cancellation(p.Reason))
	return nil
}

// Cancellation returns the cause for the context of a request that the client has cancelled. reason is the client's
// text.
func Cancellation(reason string) error {
	if reason == "" {
		return ErrCancelled
	}
	return fmt.Errorf("%w: %s", ErrCancelled, reason)
}

// ErrCancelled is wrapped in the cause of the context of a request that the client has cancelled.
var ErrCancelled = errors.New("cancelled by the client")
