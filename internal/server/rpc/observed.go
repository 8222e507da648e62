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

// ErrNoStream is returned by a sink for a notification for which the client has opened no stream. It is no error of
// the sender: the client does not want to know.
var ErrNoStream = errors.New("the client has no stream for it")

// SendCounted sends a notification that is counted and has no span of its own.
func (o *Observer) SendCounted(ctx context.Context, out Sink, method string, frame []byte) error {
	err := out.Notify(ctx, frame)
	switch {
	case err == ErrNoStream:
		o.Tel.NotificationDropped(method, names.DropNoStream)
		return nil
	case err == nil:
		o.Tel.Notification(telemetry.Sent, method)
		o.Tel.MessageSize(telemetry.Sent, instrument.KindNotification, len(frame))
	}
	return err
}

// Observe tells telemetry of a notification that the core deals with, which deal does. The operation is nil without
// telemetry.
func (x *Exchange) Observe(m *jsonrpc.Message, deal func(*instrument.Op) error) error {
	if x.Tel == nil {
		return deal(nil)
	}
	_, op := x.Tel.StartHandler(x.Work, x.Server.Describe(m))
	defer op.End(BrokenOff)
	err := deal(&op)
	op.End(ResultOf(err))
	return err
}

// stopwatch measures how long decoding takes, if telemetry asks for it.
type stopwatch struct{ begun time.Time }

func (o *Observer) stopwatch() (w stopwatch) {
	if o.Tel.Decodes() {
		w.begun = time.Now()
	}
	return w
}

// stop returns the time since the start, zero if it is not measured.
func (w stopwatch) stop() time.Duration {
	if w.begun.IsZero() {
		return 0
	}
	return max(time.Since(w.begun), 1)
}
