package mcpserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/internal/server/quota"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/server/web"
	"github.com/mcpotel/mcpotel/mcp"
)

// NewRelay returns a server that passes all messages of clients to r. It answers only a ping before there is a session.
// NewRelay is for package mcpproxy: no other package can create a Receiver. o may have only options about connections
// and telemetry; any other option that is set is an error, and so is an empty Name. MaxConcurrent is the maximum number
// of requests of one client that wait for their answers at once: zero means 1,024, and the server refuses more. Over
// HTTP, each session of a legacy client is a Peer, and all modern clients together are one Peer. To set Stateless or
// Sessions in [HTTPOptions] is a mistake in the program.
func NewRelay(r relay.Receiver, o *Options) (*Server, error) {
	own := *cmp.Or(o, new(Options))
	for name := range relayless(&own) {
		return nil, fmt.Errorf("options: a relay has no use for %s", name)
	}
	if own.Name == "" {
		return nil, errors.New("options: no Name")
	}
	own.MaxConcurrent = cmp.Or(own.MaxConcurrent, maxRelayed)
	own.MaxQueued = -1 // queued requests would lose their place among the client's messages
	cfg, err := newConfig(&own, own.Name)
	if err != nil {
		return nil, err
	}
	s, err := newServer(mcp.Implementation{Name: own.Name}, cfg)
	if err != nil {
		return nil, err
	}
	s.roles = relaying{r}
	return s, nil
}

// maxRelayed is the maximum number of requests of a client that wait for the receiver at once, and of requests of the
// receiver that wait for the client.
const maxRelayed = 1024

// relayOptions names the fields of [Options] that a relay supports.
var relayOptions = []string{
	"Name", "InstanceID", "MaxConcurrent", "MaxTotal", "DrainTimeout", "KeepAlive", "FrameLimit", "Telemetry",
}

// relayless yields the names of options that are set but that a relay does not support.
func relayless(o *Options) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		v := reflect.ValueOf(o).Elem()
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			if !slices.Contains(relayOptions, name) && !v.Field(i).IsZero() && !yield(name) {
				return
			}
		}
	}
}

// relaying creates the roles of a relay.
type relaying struct{ receiver relay.Receiver }

func (r relaying) forConnection(c *connection) role {
	return &front{conn: c, receiver: r.receiver, observer: c.exchange.Peer.Observer}
}

func (r relaying) forHTTP(h *HTTPHandler) role {
	return &front{
		handler: h, receiver: r.receiver, observer: h.s.observer(web.HTTP1), unread: quota.NewMemory(unreadFrames * h.s.cfg.FrameLimit),
	}
}

func (relaying) checkHTTP(o *HTTPOptions) error {
	if o.Stateless || o.Sessions != nil {
		return errors.New("options: a relay has no use for Stateless and Sessions")
	}
	return nil
}

func (f *front) newCall(x *exchange) *rpc.Call { return new(relayedCall).of(f, x) }

// relayedStateless is a stateless request with its call, for a relay.
type relayedStateless struct {
	request statelessRequest
	call    relayedCall
}

func (f *front) newStateless() *web.Stateless {
	x := new(relayedStateless)
	return x.request.with(x.call.of(f, &x.request.exchange))
}

// cancellation keeps the client's reason unchanged, because the receiver passes it on.
func (f *front) cancellation(reason string) error {
	if reason == "" {
		return rpc.ErrCancelled
	}
	return clientReason(reason)
}

// clientReason is a cancellation with the client's reason as its text.
type clientReason string

func (r clientReason) Error() string { return string(r) }
func (r clientReason) Unwrap() error { return rpc.ErrCancelled }

func (f *front) drain() { f.conn.table.Drain(f.conn.exchange.s.cfg.DrainTimeout) }

// leave cancels the requests of the client, and then reports to the receiver that the client is gone. The reason is nil
// if the client has left.
func (f *front) leave(reason error) {
	c := f.conn
	why := reason
	switch reason {
	case nil:
		why = relay.ErrLeft
	case ErrSessionSilent, ErrSessionTimeout:
	default:
		why = errShuttingDown
	}
	for _, left := range c.table.All() {
		left.Cancel(why)
	}
	f.close(c.exchange.Life)
	if c.table.Drain(rpc.Settle) {
		return
	}
	c.cut()
	for _, left := range c.table.All() {
		if r, ok := left.Handler.(*relayedCall); ok {
			r.abort(why)
		}
	}
	c.table.Drain(rpc.Settle)
}

// endStreams ends the subscriptions of modern clients.
func (f *front) endStreams() {
	f.handler.web.Dismiss(mcp.MethodSubscriptionsListen, errShuttingDown)
}

// close reports to the receiver that the client is gone.
func (f *front) close(ctx context.Context) {
	f.observer.Guard(ctx, mcp.MethodInitialize, func() { f.receiver.Gone(f) })
}

// joint returns a context that ends with ctx and with end.
func joint(ctx, end context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(end, func() { cancel(context.Cause(end)) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}
