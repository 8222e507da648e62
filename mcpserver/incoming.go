package mcpserver

import (
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/server/engine"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// exchange extends the engine's exchange with data for the server's features.
type exchange struct {
	engine.Exchange
	s        *Server
	conn     *connection // nil for a stateless message over HTTP
	audience *audience   // holds the subscriptions
}

// answering is the role of a server that answers requests itself, with its features.
type answering struct{ s *Server }

// connection holds the features' state for one client, on a connection or in a session over HTTP.
type connection struct {
	*engine.Conn
	exchange *exchange

	public  *Session  // the session as handlers see it
	watched watchlist // resources that the client of a session watches

	sites   *sites    // elicitations by URL
	notices *notices  // notifications of changes that wait for the client of a session
	logs    *logQueue // log messages without a request that wait for the client of a session
	heard   *hearing  // notifications of the client that wait for their handlers
}

// Connect implements [engine.Role].
func (a answering) Connect(c *engine.Conn, base engine.Exchange) engine.Client {
	conn := &connection{Conn: c, public: new(Session), sites: new(sites), logs: new(logQueue)}
	x := &exchange{Exchange: base, s: a.s, conn: conn, audience: newAudience(maxListening)}
	x.Server, c.X, conn.exchange = x, &x.Exchange, x
	conn.heard = &hearing{x: x}
	conn.public.conn = conn
	conn.watched.join(c.Client.Watching, c.Client.Account)
	conn.notices = &notices{group: x.Group, send: conn.tell, coalesced: x.coalesced}
	a.s.mu.Lock()
	defer a.s.mu.Unlock()
	a.s.audiences[x.audience] = struct{}{}
	return conn
}

// Drain implements [engine.Client].
func (c *connection) Drain() { rpc.Wait(c.exchange.Group, c.Server.DrainTimeout) }

// Leave implements [engine.Client]. It is empty, because the handlers end with their contexts.
func (c *connection) Leave(error) {}

// EndStreams implements [engine.Client].
func (c *connection) EndStreams() {
	s := c.exchange.s
	s.mu.Lock()
	delete(s.audiences, c.exchange.audience)
	s.mu.Unlock()
	c.exchange.audience.close()
}

// End implements [engine.Client].
func (c *connection) End() (left int) {
	c.watched.close() // over HTTP, a request to watch may still be in progress
	left = c.dismiss(c.public.end(), nil)
	c.watched.release()
	return left
}

// Watching implements [engine.Client].
func (c *connection) Watching() (resources, subscriptions int) {
	return c.watched.len(), c.exchange.audience.len()
}

// The methods of rpc.Server.

func (x *exchange) NewCall() *rpc.Call { return new(call).of(x) }

func (x *exchange) Cancellation(reason string) error { return rpc.Cancellation(reason) }

// Notified passes a notification to the user's handler, if there is one.
func (x *exchange) Notified(m *jsonrpc.Message) error {
	switch {
	case m.Method == mcp.NotificationInitialized:
		return x.initialized(m)
	case x.hear(m):
		return nil
	}
	x.Peer.Tel.Notification(telemetry.DirectionReceived, m.Method)
	x.Peer.Tel.MessageSize(telemetry.DirectionReceived, instrument.KindNotification, m.Size())
	return nil
}

// initialized handles notifications/initialized: it confirms the session, then calls the user's handler.
func (x *exchange) initialized(m *jsonrpc.Message) error {
	confirm := func(*instrument.Op) error {
		return x.Amend(x.Work, func() { x.Terms.Confirmed.Store(x.Terms.Agreed.Load() != nil) })
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
