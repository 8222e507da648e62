package mcpserver

import (
	"context"
	"errors"
	"net/http"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/server/web"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// exchange extends the core's exchange by the sender of the messages, its terms, and the HTTP request, if there is one.
type exchange struct {
	rpc.Exchange
	s        *Server
	role     role
	client   *peer
	terms    *terms
	conn     *connection // nil for a stateless message over HTTP
	audience *audience   // holds the subscriptions

	headers     web.Headers   // headers of a modern message over HTTP; nil otherwise
	httpRequest *http.Request // HTTP request with the message; nil for any other connection
}

// role handles the messages of a client: a server answers them, a relay passes them on.
type role interface {
	// newCall creates the call of a request.
	newCall(x *exchange) *rpc.Call
	// notified handles a valid notification.
	notified(x *exchange, m *jsonrpc.Message) error
	// cancellation returns the cause for the context of a request that the client has cancelled. reason is the client's.
	cancellation(reason string) error
	// newStateless creates a stateless request over HTTP with its call.
	newStateless() *web.Stateless

	// drain waits until the requests of a connection are answered, after the client's last message.
	drain()
	// leave ends the requests of a connection. reason is nil if the client has disconnected.
	leave(reason error)
	// endStreams ends subscriptions during the shutdown of an HTTP handler.
	endStreams()
	// close ends the role after the last request of an HTTP handler.
	close(ctx context.Context)
}

// roles creates the roles of a server, one for each connection and each HTTP handler.
type roles interface {
	forConnection(c *connection) role
	forHTTP(h *HTTPHandler) role
	// checkHTTP returns an error for options of an HTTP handler that the role does not support.
	checkHTTP(o *HTTPOptions) error
}

// answering is the role of a server that answers requests.
type answering struct {
	c *connection // nil for an HTTP handler
}

func (answering) forConnection(c *connection) role { return answering{c} }
func (answering) forHTTP(*HTTPHandler) role        { return answering{} }
func (answering) checkHTTP(*HTTPOptions) error     { return nil }

func (answering) newCall(x *exchange) *rpc.Call { return new(call).of(x) }

func (answering) cancellation(reason string) error { return rpc.Cancellation(reason) }

func (a answering) drain() { rpc.Wait(a.c.exchange.Group, a.c.exchange.s.cfg.DrainTimeout) }

// These methods are empty, because the handlers end with their contexts, and the subscriptions with their audience.

func (answering) leave(error)           {}
func (answering) endStreams()           {}
func (answering) close(context.Context) {}

// notified calls the user's handler of a notification, if there is one.
func (answering) notified(x *exchange, m *jsonrpc.Message) error {
	switch {
	case m.Method == mcp.NotificationInitialized:
		return x.initialized(m)
	case x.hear(m):
		return nil
	}
	x.Peer.Tel.Notification(telemetry.Received, m.Method)
	x.Peer.Tel.MessageSize(telemetry.Received, instrument.KindNotification, m.Size())
	return nil
}

// initialized handles notifications/initialized: first the server, then the user's handler.
func (x *exchange) initialized(m *jsonrpc.Message) error {
	confirm := func(*instrument.Op) error {
		return x.amend(x.Work, func() { x.terms.confirmed.Store(x.terms.agreed.Load() != nil) })
	}
	if x.s.hears.lookup(m.Method) == nil {
		return x.Observe(m, confirm)
	}
	if err := confirm(nil); err != nil {
		return err
	}
	x.hear(m)
	return nil
}

// The methods of rpc.Server.

func (x *exchange) NewCall() *rpc.Call { return x.role.newCall(x) }

func (x *exchange) Notified(m *jsonrpc.Message) error { return x.role.notified(x, m) }

func (x *exchange) Cancellation(reason string) error { return x.role.cancellation(reason) }

func (x *exchange) Version() mcp.Version {
	if a := x.terms.agreed.Load(); a != nil {
		return a.version
	}
	return ""
}

func (x *exchange) Elsewhere() rpc.Elsewhere {
	if x.conn == nil || x.conn.others == nil {
		return nil
	}
	return x.conn.others
}

// Describe describes a notification for telemetry.
func (x *exchange) Describe(m *jsonrpc.Message) instrument.Incoming {
	in := instrument.Incoming{
		Method: m.Method, Known: true, Notification: true, Size: m.Size(), Untrusted: x.Peer.Untrusted,
	}
	x.tellHTTP(&in)
	p, err := m.Params()
	if err == nil {
		rpc.DescribeTrace(&in, &p)
	}
	if a := x.terms.agreed.Load(); a != nil {
		in.Peer = x.Peer.Seen(a.version)
		in.ClientName, in.ClientVersion = a.client.Name, a.client.Version
	} else if x.httpRequest != nil {
		in.Peer = x.Peer.Seen(mcp.Version(x.httpRequest.Header.Get(web.HeaderVersion)))
	} else if v, ok := x.s.speaks(p.ProtocolVersion); ok {
		in.Peer = x.Peer.Seen(v)
	}
	return in
}

func (x *exchange) CountRefused(reason string, a rpc.Answer, told bool) {
	r := instrument.Refusal{Reason: reason, Err: a.Err, Told: told}
	if x.httpRequest != nil {
		r.Status, r.RemoteAddr = web.StatusOf(a, x.headers != nil), x.httpRequest.RemoteAddr
	}
	x.Peer.Tel.Refused(x.Work, r)
}

// countRefusal counts a request that was refused because of a limit, a shutdown or a failing session store. The span of
// the request already has the error.
func (x *exchange) countRefusal(err error) {
	if reason := refusalReason(err); reason != "" {
		x.CountRefused(reason, rpc.Answer{Err: err, Refused: true}, true)
	}
}

// refusalReason returns the reason label for an error with which the server refuses a request. It is empty for an error
// in the request itself.
func refusalReason(err error) string {
	if e, _ := errors.AsType[*mcp.Error](err); e == web.ErrStore {
		return names.RefusalStore
	}
	switch word := endingOf(err); word {
	case names.ErrorOverloaded:
		return names.RefusalOverloaded
	case names.ErrorRateLimited:
		return names.RefusalRateLimited
	case names.ErrorShutdown:
		return names.RefusalShutdown
	}
	return ""
}
