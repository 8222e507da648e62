package mcpserver

import (
	"context"
	"net/http"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// exchange is an exchange of the core with what a server of MCP knows of it: who sends the messages, on which terms, and
// how they came.
type exchange struct {
	rpc.Exchange
	s        *Server
	role     role
	client   *peer
	terms    *terms
	conn     *connection // of the client; nil for a message that is answered by itself
	audience *audience   // that listens

	headers     headers       // nil for all but modern messages over HTTP
	httpRequest *http.Request // that brings a message; nil on any other connection
}

// role is how a server deals with what a client sends: it answers by itself, or passes messages on.
type role interface {
	// newCall returns the call that a request becomes.
	newCall(x *exchange) *rpc.Call
	// notified handles a valid notification.
	notified(x *exchange, m *jsonrpc.Message) error
	// cancellation returns the cause for the end of a request that the client has cancelled, for a reason of its own.
	cancellation(reason string) error
	// newLone returns what a request needs that is answered by itself, over HTTP.
	newLone() *lone

	// drain waits until the requests of a connection are answered that came before the client's last message.
	drain()
	// leave ends the requests that the client of a connection has left behind: because of reason, nil if it has left.
	leave(reason error)
	// endStreams ends requests that last, as an HTTP handler is shut down.
	endStreams()
	// close says that no more requests come by an HTTP handler.
	close(ctx context.Context)
}

// roles gives the connections of a server and its HTTP handlers their roles.
type roles interface {
	forConnection(c *connection) role
	forHTTP(h *HTTPHandler) role
	// checkHTTP returns an error if the options of an HTTP handler do not go with the role.
	checkHTTP(o *HTTPOptions) error
}

// answering is the role of a server that answers by itself.
type answering struct {
	c *connection // nil for what is answered by itself
}

func (answering) forConnection(c *connection) role { return answering{c} }
func (answering) forHTTP(*HTTPHandler) role        { return answering{} }
func (answering) checkHTTP(*HTTPOptions) error     { return nil }

func (answering) newCall(x *exchange) *rpc.Call { return new(call).of(x) }

func (answering) cancellation(reason string) error { return rpc.Cancellation(reason) }

func (a answering) drain() { rpc.Wait(a.c.Group, a.c.s.cfg.DrainTimeout) }

// Handlers end with their contexts, and subscriptions with the audience that they belong to.

func (answering) leave(error)           {}
func (answering) endStreams()           {}
func (answering) close(context.Context) {}

// notified handles a notification, of which a handler of the user's may hear.
func (answering) notified(x *exchange, m *jsonrpc.Message) error {
	switch {
	case m.Method == mcp.NotificationInitialized:
		return x.initialized(m)
	case x.hear(m):
		return nil
	}
	x.Tel.Notification(telemetry.Received, m.Method)
	x.Tel.MessageSize(telemetry.Received, instrument.KindNotification, m.Size())
	return nil
}

// initialized deals with notifications/initialized, of which a handler hears behind the core.
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

// What the core asks of the server.

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

// Describe describes for telemetry a notification that is dealt with.
func (x *exchange) Describe(m *jsonrpc.Message) instrument.Incoming {
	in := instrument.Incoming{Method: m.Method, Known: true, Notification: true, Size: m.Size(), Untrusted: x.Untrusted}
	x.tellHTTP(&in)
	p, err := m.Params()
	if err == nil {
		rpc.DescribeTrace(&in, &p)
	}
	if a := x.terms.agreed.Load(); a != nil {
		in.Peer = x.Seen(a.version)
		in.ClientName, in.ClientVersion = a.client.Name, a.client.Version
	} else if x.httpRequest != nil {
		in.Peer = x.Seen(mcp.Version(x.httpRequest.Header.Get(headerVersion)))
	} else if v, ok := x.s.speaks(p.ProtocolVersion); ok {
		in.Peer = x.Seen(v)
	}
	return in
}

func (x *exchange) CountRefused(reason string, a rpc.Answer, told bool) {
	r := instrument.Refusal{Reason: reason, Err: a.Err, Told: told}
	if x.httpRequest != nil {
		r.Status, r.RemoteAddr = statusOf(a, x.headers != nil), x.httpRequest.RemoteAddr
	}
	x.Tel.Refused(x.Work, r)
}

// countRefusal counts a request that was refused with err: for lack of room, because the server stops, or because a
// store of sessions fails. The span of the request tells of it.
func (x *exchange) countRefusal(err error) {
	if reason := refusalReason(err); reason != "" {
		x.CountRefused(reason, rpc.Answer{Err: err, Refused: true}, true)
	}
}
