// Package downstream is the client side of a relay. It passes the messages of clients to a [relay.Receiver], and the
// messages of the receiver to the clients. It is a role of a server, see package engine. Package upstream is the server
// side of the relay.
package downstream

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/internal/server/engine"
	"github.com/mcpotel/mcpotel/internal/server/quota"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/server/web"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// Options configure a relay. mcpserver.Options documents the fields of the same names.
type Options struct {
	Name       string // required
	InstanceID string
	// MaxConcurrent is the maximum number of unanswered requests of one client. The server refuses further requests. Zero
	// means 1,024.
	MaxConcurrent int
	MaxTotal      int
	DrainTimeout  time.Duration
	KeepAlive     time.Duration
	FrameLimit    int
	Telemetry     *telemetry.Telemetry
}

// New returns an *mcpserver.Server that passes all messages of clients to r. It answers only a ping before the session
// opens. Over HTTP, each session of a legacy client is a [relay.Peer], and all modern clients together are one Peer. A
// program must not set Stateless or Sessions in the options of an HTTP handler.
func New(r relay.Receiver, o *Options) (server any, err error) {
	if o.Name == "" {
		return nil, errors.New("options: Name is empty")
	}
	return engine.NewServer(&engine.Options{
		Name: o.Name, InstanceID: o.InstanceID, MaxConcurrent: cmp.Or(o.MaxConcurrent, maxRelayed),
		MaxQueued: -1, // queued requests would lose their position among the client's messages
		MaxTotal:  o.MaxTotal, DrainTimeout: o.DrainTimeout, KeepAlive: o.KeepAlive, FrameLimit: o.FrameLimit,
		Telemetry: o.Telemetry,
	}, relaying{r})
}

// maxRelayed is the maximum number of a client's requests that wait for the receiver, and of the receiver's requests
// that wait for the client.
const maxRelayed = 1024

// relaying is the role of a server that passes messages to a receiver.
type relaying struct{ receiver relay.Receiver }

// exchange extends the engine's exchange with the [relay.Peer] that the receiver gets.
type exchange struct {
	engine.Exchange
	front *front
}

// NewCall implements [rpc.Server].
func (x *exchange) NewCall() *rpc.Call { return new(call).of(x) }

// Cancellation returns the client's reason unchanged, because the receiver passes it on.
func (x *exchange) Cancellation(reason string) error {
	if reason == "" {
		return rpc.ErrCancelled
	}
	return clientReason(reason)
}

// clientReason is a cancellation with the client's reason as its text.
type clientReason string

func (r clientReason) Error() string { return string(r) }
func (r clientReason) Unwrap() error { return rpc.ErrCancelled }

// client is the relay's part of a connection or session.
type client struct {
	*engine.Conn
	alone
	front *front
	x     exchange
}

// Connect implements [engine.Role].
func (r relaying) Connect(c *engine.Conn, base engine.Exchange) engine.Client {
	p := &client{Conn: c, front: &front{conn: c, receiver: r.receiver, observer: c.Client.Observer}}
	p.x = exchange{base, p.front}
	p.x.Server, c.X = &p.x, &p.x.Exchange
	return p
}

// Serving implements [web.Conn].
func (c *client) Serving(r *http.Request) *rpc.Exchange {
	x := c.x
	return x.Carry(r, &x)
}

// Drain implements [engine.Client].
func (c *client) Drain() { c.Calls.Drain(c.Conn.Server.DrainTimeout) }

// Leave cancels the requests of the client, then reports to the receiver that the client is gone. A nil reason means
// that the client has left.
func (c *client) Leave(reason error) {
	why := engine.EndReason(reason)
	for _, left := range c.Calls.All() {
		left.Cancel(why)
	}
	c.front.close(c.x.Life)
	if c.Calls.Drain(rpc.Settle) {
		return
	}
	c.Cut()
	for _, left := range c.Calls.All() {
		if r, ok := left.Handler.(*call); ok {
			r.abort(why)
		}
	}
	c.Calls.Drain(rpc.Settle)
}

// alone implements the methods for subscriptions and stored sessions. A relay has neither.
type alone struct{}

func (alone) EndStreams()                               {}
func (alone) End() (left int)                           { return 0 }
func (alone) Watching() (resources, subscriptions int)  { return 0, 0 }
func (alone) HoldNotices()                              {}
func (alone) ResumeNotices()                            {}
func (alone) State() web.State                          { return web.State{} }
func (alone) SetState(*web.State)                       {}
func (alone) Restore(context.Context, *web.State) error { return nil }
func (alone) Watched() []string                         { return nil }
func (alone) Rewatch(context.Context, []string)         {}
func (alone) Announce([]web.Notice)                     {}
func (alone) AnnounceAll()                              {}
func (alone) Log(mcp.LoggingLevel, []byte)              {}
func (alone) Complete(string)                           {}

// handler is the relay's part of an HTTP handler.
type handler struct {
	*engine.HTTP
	front *front
}

// Handle implements [engine.Role].
func (r relaying) Handle(h *engine.HTTP) (engine.Handler, error) {
	if h.Stateless || h.Sessions != nil {
		return nil, errors.New("options: a relay does not support Stateless and Sessions")
	}
	return &handler{h, &front{
		receiver: r.receiver, observer: h.Server.Observer(web.HTTP1),
		unread: quota.NewMemory(unreadFrames * h.FrameLimit),
	}}, nil
}

// statelessRequest holds a stateless request, its exchange and its call in one allocation.
type statelessRequest struct {
	request  engine.Stateless
	exchange exchange
	call     call
}

// NewStateless implements [engine.Handler].
func (h *handler) NewStateless() *web.Stateless {
	x := new(statelessRequest)
	x.exchange.front = h.front
	return x.request.With(&x.exchange.Exchange, &x.exchange, x.call.of(&x.exchange))
}

// EndStreams ends the subscriptions of modern clients.
func (h *handler) EndStreams() { h.Web.Dismiss(mcp.MethodSubscriptionsListen, engine.ErrStopping) }

// Close implements [engine.Handler].
func (h *handler) Close(ctx context.Context) { h.front.close(ctx) }

// Subscriptions implements [engine.Handler]. It returns no open subscriptions, because a relay counts them as requests
// in flight.
func (h *handler) Subscriptions() (open, limit int) { return 0, h.MaxSubscriptions }

// The server of a relay creates no notices.

func (h *handler) IsNotice(web.Notice) bool          { return false }
func (h *handler) Announce([]web.Notice, []web.Conn) {}
func (h *handler) AnnounceAll()                      {}
func (h *handler) Farewell() time.Duration           { return 0 }
