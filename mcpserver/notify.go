package mcpserver

import (
	"context"
	"encoding/json"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// notify sends a notification on the server's own account. meta goes into its _meta.
func (p *rpcPeer) notify(ctx context.Context, out sink, v mcp.Version, method string, meta mcp.Meta,
	params json.RawMessage) error {
	return p.send(ctx, out, v, instrument.Request{Method: method}, meta, params)
}

// send sends the notification that r describes to telemetry.
func (p *rpcPeer) send(ctx context.Context, out sink, v mcp.Version, r instrument.Request, meta mcp.Meta,
	params json.RawMessage) error {
	return p.sendFrame(ctx, out, v, r, func(op *instrument.Op) ([]byte, error) {
		return jsonrpc.AppendNotification(nil, r.Method, traced(op, meta), params)
	})
}

// sendFrame is send for the frame that is made for an operation.
func (p *rpcPeer) sendFrame(ctx context.Context, out sink, v mcp.Version, r instrument.Request,
	frameOf func(*instrument.Op) ([]byte, error)) error {
	r.Notification, r.Beside = true, true
	ctx, op := p.tel.StartRequest(ctx, r)
	defer op.End(brokenOff)
	op.Admit(p.seen(v), 0)
	var result instrument.Result
	frame, err := frameOf(&op)
	if err == nil {
		err = out.notify(ctx, frame)
	}
	switch {
	case err == errNoPlace:
		p.tel.NotificationDropped(r.Method, names.DropNoStream)
		result, err = instrument.Result{ErrorType: names.ErrorNotReady}, nil
	case err != nil:
		result = instrument.Result{ErrorType: names.ErrorConnectionLost, Err: err}
	default:
		op.Sent(len(frame))
	}
	op.End(result)
	return err
}
