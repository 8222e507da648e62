package mcpserver

import (
	"context"
	"errors"
	"time"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// errNoPlace is returned by a sink for a notification for which the client has opened no stream. It is no error of
// the sender: the client does not want to know.
var errNoPlace = errors.New("the client has no stream for it")

// tellQuietly sends a notification that is counted and has no span of its own.
func (o *observer) tellQuietly(ctx context.Context, out sink, method string, frame []byte) error {
	err := out.notify(ctx, frame)
	switch {
	case err == errNoPlace:
		o.tel.NotificationDropped(method, names.DropNoStream)
		return nil
	case err == nil:
		o.tel.Notification(telemetry.Sent, method)
		o.tel.MessageSize(telemetry.Sent, instrument.KindNotification, len(frame))
	}
	return err
}

// observe tells telemetry of a notification that the core deals with, which deal does. The operation is nil without
// telemetry.
func (x *rpcExchange) observe(m *jsonrpc.Message, deal func(*instrument.Op) error) error {
	if x.tel == nil {
		return deal(nil)
	}
	_, op := x.tel.StartHandler(x.work, x.server.describe(m))
	defer op.End(brokenOff)
	err := deal(&op)
	op.End(failed(err))
	return err
}

// stopwatch measures how long decoding takes, if telemetry asks for it.
type stopwatch struct{ begun time.Time }

func (o *observer) stopwatch() (w stopwatch) {
	if o.tel.Decodes() {
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
