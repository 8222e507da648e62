package rpc

import (
	"context"
	"encoding/json"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// Notify sends a notification with a span of its own. meta goes into the _meta of the notification.
func (p *Peer) Notify(ctx context.Context, out Sink, v mcp.Version, method string, meta mcp.Meta,
	params json.RawMessage) error {
	return p.Send(ctx, out, v, instrument.Request{Method: method}, meta, params)
}

// Send is like Notify, but r already describes the notification for telemetry.
func (p *Peer) Send(ctx context.Context, out Sink, v mcp.Version, r instrument.Request, meta mcp.Meta,
	params json.RawMessage) error {
	return p.SendFrame(ctx, out, v, r, func(op *instrument.Op) ([]byte, error) {
		return jsonrpc.AppendNotification(nil, r.Method, Traced(op, meta), params)
	})
}

// SendFrame is like Send, but frameOf builds the frame.
func (p *Peer) SendFrame(ctx context.Context, out Sink, v mcp.Version, r instrument.Request,
	frameOf func(*instrument.Op) ([]byte, error)) error {
	r.Notification, r.Beside = true, true
	ctx, op := p.Tel.StartRequest(ctx, r)
	defer op.End(BrokenOff)
	op.Admit(p.Seen(v), 0)
	var result instrument.Result
	frame, err := frameOf(&op)
	if err == nil {
		err = out.Notify(ctx, frame)
	}
	switch {
	case err == ErrNoStream:
		p.Tel.NotificationDropped(r.Method, names.DropNoStream)
		result, err = instrument.Result{ErrorType: names.ErrorNotReady}, nil
	case err != nil:
		result = instrument.Result{ErrorType: names.ErrorConnectionLost, Err: err}
	default:
		op.Sent(len(frame))
	}
	op.End(result)
	return err
}
