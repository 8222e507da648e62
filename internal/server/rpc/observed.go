package rpc

import (
	"context"
	"errors"
	"time"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// ErrNoStream is the error of a sink for a notification if the client has opened no stream for it. Senders may ignore
// this error, because the client does not want the notification.
var ErrNoStream = errors.New("the client has opened no stream for the notification")

// SendCounted sends a notification without a span, and counts it.
func (o *Observer) SendCounted(ctx context.Context, out Sink, method string, frame []byte) error {
	err := out.Notify(ctx, frame)
	switch {
	case err == ErrNoStream:
		o.Tel.NotificationDropped(method, names.DropNoStream)
		return nil
	case err == nil:
		o.Tel.Notification(telemetry.DirectionSent, method)
		o.Tel.MessageSize(telemetry.DirectionSent, instrument.KindNotification, len(frame))
	}
	return err
}

// Observe runs handle within the operation of a notification. The operation is nil without telemetry.
func (x *Exchange) Observe(m *jsonrpc.Message, handle func(*instrument.Op) error) error {
	if x.Peer.Tel == nil {
		return handle(nil)
	}
	_, op := x.Peer.Tel.StartHandler(x.Work, x.Server.Describe(m))
	defer op.End(BrokenOff)
	err := handle(&op)
	op.End(ResultOf(err))
	return err
}

// decodeTimer measures how long decoding takes, if telemetry records it.
type decodeTimer struct{ begun time.Time }

func (o *Observer) decodeTimer() (w decodeTimer) {
	if o.Tel.Decodes() {
		w.begun = time.Now()
	}
	return w
}

// stop returns the time since the start, zero if telemetry does not record it.
func (w decodeTimer) stop() time.Duration {
	if w.begun.IsZero() {
		return 0
	}
	return max(time.Since(w.begun), 1)
}
