package engine

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/keepalive"
	"github.com/mcpotel/mcpotel/internal/server/quota"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/server/web"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// Conn is one client, on a connection or in a session over HTTP. It has those methods of [web.Conn] that are the same
// for every role.
type Conn struct {
	Server *Server
	Client *Peer
	Calls  *rpc.Calls
	X      *Exchange // a part of the role's exchange; set by Connect
	Role   Client
	ID     string // session id over HTTP; immutable once other goroutines know the session
	Number uint64 // unique in the server

	others web.Others // other processes that know the session; nil if only this process knows it

	// introduced adjusts the memory that is reserved for the client's description of itself, in bytes. It reports false if
	// the budget has too little left. It is nil without a budget.
	introduced func(bytes int) bool

	cut   context.CancelFunc // ends X.Life
	since time.Time
	gone  func() // removes the connection from the metrics of current connections

	alive *keepalive.Watch   // nil for none; set before the connection is read
	quit  func(reason error) // ends the connection, without waiting; set before handlers see the session

	passing atomic.Bool // the session continues without the connection: do not report the end of the session
	away    atomic.Bool // another process sends the messages that belong to no request

	mu     sync.Mutex
	reason error // guarded by mu; reason for the end of the session
}

// open starts to serve a client. spare is the number of spare goroutines for handlers. queued returns the number of
// messages that wait to be sent; it may be nil. stop ends the contexts of handlers with a reason. The reason is nil if
// the client has left.
func (s *Server) open(
	ctx context.Context, p *Peer, out rpc.Sink, spare int, queued func() int,
) (_ *Conn, stop func(reason error)) {
	g := rpc.NewGroup(spare)
	c := &Conn{
		Server: s, Client: p, since: time.Now(),
		Calls: rpc.NewCalls(s.MaxConcurrent, s.MaxQueued, s.FrameLimit, g, s.Total),
	}
	x := Exchange{
		Exchange: rpc.Exchange{
			Engine: &rpc.Engine{Calls: c.Calls, Group: g, FrameLimit: s.FrameLimit, NullID: s.NullID()},
			Peer:   &p.Peer, Asks: rpc.NewAsks(), Out: out,
		},
		Home: s, Client: p, Terms: new(Terms), Conn: c,
	}
	x.Life, c.cut = context.WithCancel(context.WithoutCancel(ctx))
	work, end := context.WithCancelCause(x.Life)
	x.Work = work
	c.Role = s.role.Connect(c, x)
	c.gone = p.Tel.Connected(instrument.Connection{Queued: queued, InSession: c.inSession, Limits: c.usage})
	unwatch := context.AfterFunc(ctx, func() { end(endCause(context.Cause(ctx))) })
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns[c] = struct{}{}
	s.last++
	c.Number = s.last
	s.enlist()
	return c, func(reason error) {
		unwatch()
		end(endCause(reason))
	}
}

// Close implements [web.Conn].
func (c *Conn) Close() (left int) { return c.close(false) }

// close ends the connection. The caller has ended the contexts of the handlers. close waits up to [rpc.Settle] for the
// handlers to return, then cuts the connection and waits up to [rpc.Settle] again. It returns the number of handlers
// that still run. lost means that the connection broke.
func (c *Conn) close(lost bool) (left int) {
	c.alive.Stop()
	c.Server.mu.Lock()
	delete(c.Server.conns, c)
	c.Server.enlist()
	c.Server.mu.Unlock()
	c.Role.EndStreams()
	c.X.Asks.Close()
	if rpc.Wait(c.X.Group, rpc.Settle) > 0 {
		c.cut()
		left = rpc.Wait(c.X.Group, rpc.Settle)
	}
	c.Calls.Close(context.Cause(c.X.Work), ErrStopping)
	rpc.CloseGroup(c.X.Group)
	left += c.Role.End()
	c.cut()
	c.ended(lost)
	return left
}

// ended reports the end of a session to telemetry, and logs the counts of suppressed records. The connection may have
// had no session.
func (c *Conn) ended(lost bool) {
	c.gone()
	if a := c.X.Terms.Agreed.Load(); a != nil && !c.passing.Load() {
		errorType := ""
		if lost {
			errorType = names.ErrorConnectionLost
		}
		c.X.Peer.Seen(a.Version).SessionEnd(time.Since(c.since), errorType)
	}
	if lost {
		c.X.Peer.Tel.ConnectionFailed(names.ErrorConnectionLost)
	}
	c.X.Peer.Tel.Close()
}

// conn returns c. A role's [Client] embeds a Conn, so it has this method, too.
func (c *Conn) conn() *Conn { return c }

// inSession reports whether a session is open on the connection.
func (c *Conn) inSession() bool { return c.X.Terms.Agreed.Load() != nil }

// Cut stops all sending to the client.
func (c *Conn) Cut() { c.cut() }

// Quit ends the connection for a reason, without waiting.
func (c *Conn) Quit(reason error) { c.quit(reason) }

// Introduce adjusts the memory that is reserved for the client's description of itself. It reports false if the budget
// has too little left.
func (c *Conn) Introduce(bytes int) bool { return c.introduced == nil || c.introduced(bytes) }

// IsAway reports whether another process sends the messages that belong to no request.
func (c *Conn) IsAway() bool { return c.away.Load() }

// Because implements [web.Conn]. A nil reason has no effect.
func (c *Conn) Because(reason error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reason == nil {
		c.reason = reason
	}
}

// Why implements [web.Conn].
func (c *Conn) Why() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reason
}

// Principal implements [web.Conn].
func (c *Conn) Principal() string { return c.Client.Principal }

// Account implements [web.Conn].
func (c *Conn) Account() quota.Account { return c.Client.Account }

// Exchange implements [web.Conn].
func (c *Conn) Exchange() *rpc.Exchange { return &c.X.Exchange }

// Heard implements [web.Conn].
func (c *Conn) Heard() { c.alive.Heard() }

// Busy implements [web.Conn].
func (c *Conn) Busy() bool { return c.Calls.Busy(c.X.Asks.Paused()) }

// Share implements [web.Conn].
func (c *Conn) Share(others web.Others, passing bool) {
	c.Server.mu.Lock()
	delete(c.Server.conns, c)
	c.Server.mu.Unlock()
	c.passing.Store(passing)
	c.others = others
}

// SetPassing implements [web.Conn].
func (c *Conn) SetPassing(passing bool) { c.passing.Store(passing) }

// SetAway implements [web.Conn].
func (c *Conn) SetAway(away bool) { c.away.Store(away) }
