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
func (x *exchange) cancelled(m *jsonrpc.Message, op *instrument.Op) error {
	var p mcp.CancelledParams
	if err := decodeCopy(m.Middle(), &p); err != nil || p.RequestID.IsZero() {
		return nil
	}
	about := x.calls.find(p.RequestID)
	if about != nil && op != nil {
		op.Meet(x.seen(about.info.Version))
	}
	if x.conn != nil && x.conn.others != nil && about == nil {
		return x.conn.others.cancel(x.work, p.RequestID, p.Reason)
	}
	why := cancellation(p.Reason)
	if x.s.receiver != nil && p.Reason != "" {
		why = clientReason(p.Reason) // which goes on as it is
	}
	x.calls.cancel(p.RequestID, why)
	return nil
}

// cancellation returns the cause of the end of a handler's context, with what the client says about it.
func cancellation(reason string) error {
	if reason == "" {
		return errCancelled
	}
	return fmt.Errorf("%w: %s", errCancelled, reason)
}

// clientReason is a cancellation in the client's own words.
type clientReason string

func (r clientReason) Error() string { return string(r) }
func (r clientReason) Unwrap() error { return errCancelled }

// errCancelled is in the cause of a handler's context that the client has ended.
var errCancelled = errors.New("cancelled by the client")
