package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/keepalive"
	"github.com/mcpotel/mcpotel/internal/server/quota"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/server/web"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// Serve answers one client over c until the client has sent its last message, then closes c and returns nil: handlers
// that run then have [Options.DrainTimeout] to finish, and their answers are sent. The end of ctx ends it early: the
// contexts of handlers end at once, what they still return is sent, and Serve returns the cause of ctx.
//
// When Serve returns, nothing of it runs any more, unless a handler ignores the end of its context for a second; then
// the error says how many do; and its log records are written, if the log handler takes them within DrainTimeout, or a
// second. Calls that have become tasks belong to the server and run on, see [Server.Shutdown]. The values of ctx are
// there in the contexts of handlers.
func (s *Server) Serve(ctx context.Context, c Conn) error {
	var network instrument.Network
	if n, ok := c.(interface{ Network() instrument.Network }); ok {
		network = n.Network()
	}
	p := &peer{rates: new(rateBook), watching: quota.NewMemory(maxWatchedAlone)}
	p.Observer = s.observer(network)
	var queued func() int
	if m, ok := c.(measured); ok && p.Tel != nil {
		queued = m.measure(p.Tel.QueueWait)
	}
	ctx, quit := context.WithCancelCause(ctx)
	defer quit(nil)
	conn, stop := s.open(ctx, p, &rpc.Pipe{Conn: c, Observer: p.Observer}, rpc.MaxSpare, queued)
	conn.quit = quit
	conn.watchOver()
	end := conn.exchange.Read(ctx, framesOf(c), bufferedOf(c), conn.alive)
	err, lost := end.Err, end.Err != nil || end.Panicked != nil
	conn.exchange.Asks.Close()
	if !lost { // a client that has closed its end may still read
		conn.exchange.role.drain()
	}
	conn.exchange.role.leave(context.Cause(ctx))
	stop(context.Cause(ctx))
	conn.public.because(err)
	left := conn.close(lost && ctx.Err() == nil)
	var closed error
	if failed := s.apart(ctx, "Conn.Close", func() { closed = c.Close() }); failed != nil {
		closed = failed
	}
	s.flush(ctx, p.Observer)
	if end.Panicked != nil {
		panic(end.Panicked) // the caller of Serve may recover from it
	}
	if err == nil && closed != nil {
		err = fmt.Errorf("close: %w", closed)
	}
	if left > 0 {
		err = errors.Join(err, fmt.Errorf("handlers that ignore the end of their contexts: %d", left))
	}
	return err
}

// connection is one client, on one connection or in one session over HTTP.
type connection struct {
	exchange *exchange
	table    *rpc.Calls

	public  *Session   // as handlers see it
	watched watchlist  // resources that the client of a session watches
	others  web.Others // that know the session too; nil if it is known in this process only

	sites   *sites    // where it was sent
	notices *notices  // that the client of a session is yet to be sent
	logs    *logQueue // likewise, of what belongs to no request
	heard   *hearing  // notifications of the client that wait for their handlers

	// introduced takes so many bytes of memory for what the client says about itself, in place of those it had, and
	// reports whether they were there; nil where that has no budget.
	introduced func(bytes int) bool

	cut   context.CancelFunc // ends exchange.life
	since time.Time
	gone  func() // takes it out of the metrics of what is there now

	number uint64 // among those of the server

	alive *keepalive.Watch   // nil for none; set before it is read from
	quit  func(reason error) // ends it, without waiting; set before anybody sees its session

	passing atomic.Bool // the session goes on without it: its end is none of the session
	away    atomic.Bool // another process sends what belongs to no request
}

// open begins to serve a client; the goroutines of its handlers come from a group with so many spare ones. queued tells
// how many messages wait to be sent, nil for none. stop ends the contexts of handlers for a reason, nil if the client
// has left.
func (s *Server) open(
	ctx context.Context, p *peer, out rpc.Sink, spare int, queued func() int,
) (_ *connection, stop func(reason error)) {
	g := rpc.NewGroup(spare)
	conn := &connection{
		table: rpc.NewCalls(s.cfg.MaxConcurrent, s.cfg.MaxQueued, s.cfg.FrameLimit, g, s.total), since: time.Now(),
		public: new(Session), sites: new(sites), logs: new(logQueue),
	}
	conn.exchange = &exchange{
		Exchange: rpc.Exchange{
			Engine: &rpc.Engine{Calls: conn.table, Group: g, FrameLimit: s.cfg.FrameLimit, NullID: s.cfg.nullID()},
			Peer:   &p.Peer, Asks: rpc.NewAsks(), Out: out,
		},
		s: s, client: p, terms: new(terms), conn: conn, audience: newAudience(maxListening),
	}
	conn.exchange.Server = conn.exchange
	conn.exchange.role = s.roles.forConnection(conn)
	conn.heard = &hearing{x: conn.exchange}
	conn.public.conn = conn
	conn.watched.join(p.watching, p.who)
	conn.notices = &notices{group: g, send: conn.tell, coalesced: conn.exchange.coalesced}
	conn.gone = p.Tel.Connected(instrument.Connection{Queued: queued, InSession: conn.inSession, Limits: conn.usage})
	conn.exchange.Life, conn.cut = context.WithCancel(context.WithoutCancel(ctx))
	work, end := context.WithCancelCause(conn.exchange.Life)
	conn.exchange.Work = work
	unwatch := context.AfterFunc(ctx, func() { end(endCause(context.Cause(ctx))) })
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns[conn] = struct{}{}
	s.audiences[conn.exchange.audience] = struct{}{}
	s.lastConn++
	conn.number = s.lastConn
	s.enlist()
	return conn, func(reason error) {
		unwatch()
		end(endCause(reason))
	}
}

// close waits for what still runs, whose contexts have ended, and returns how many handlers are left. lost says that
// the connection broke.
func (c *connection) close(lost bool) (left int) {
	c.alive.Stop()
	c.exchange.s.mu.Lock()
	delete(c.exchange.s.conns, c)
	delete(c.exchange.s.audiences, c.exchange.audience)
	c.exchange.s.enlist()
	c.exchange.s.mu.Unlock()
	c.exchange.audience.close()
	c.exchange.Asks.Close()
	if rpc.Wait(c.exchange.Group, rpc.Settle) > 0 {
		c.cut()
		left = rpc.Wait(c.exchange.Group, rpc.Settle)
	}
	c.table.Close(context.Cause(c.exchange.Work), errShuttingDown)
	rpc.CloseGroup(c.exchange.Group)
	c.watched.close() // over HTTP, a request to watch may still be under way
	left += c.dismiss(c.public.end(), nil)
	c.watched.release()
	c.cut()
	c.ended(lost)
	return left
}

// ended tells telemetry that the session is over, if there was one, and what was held back.
func (c *connection) ended(lost bool) {
	c.gone()
	if a := c.exchange.terms.agreed.Load(); a != nil && !c.passing.Load() {
		errorType := ""
		if lost {
			errorType = names.ErrorConnectionLost
		}
		c.exchange.Peer.Seen(a.version).SessionEnd(time.Since(c.since), errorType)
	}
	if lost {
		c.exchange.Peer.Tel.ConnectionFailed(names.ErrorConnectionLost)
	}
	c.exchange.Peer.Tel.Close()
}

// inSession reports whether a session is open on the connection.
func (c *connection) inSession() bool { return c.exchange.terms.agreed.Load() != nil }

// measured is a connection that knows how long frames wait in it. measure is called once, before anything is sent; from
// then on, the connection calls waited, and queued tells how many wait.
type measured interface {
	measure(waited func(time.Duration)) (queued func() int)
}

// framesOf returns what receives the frames of a connection. A frame that was too large is the core's error.
func framesOf(c Conn) func(context.Context) ([]byte, error) {
	return func(ctx context.Context) ([]byte, error) {
		frame, err := c.Receive(ctx)
		if err == nil {
			return frame, nil
		}
		if large, ok := errors.AsType[*FrameTooLargeError](err); ok {
			return nil, (*rpc.FrameTooLargeError)(large)
		}
		return nil, err
	}
}

// bufferedOf returns what reports whether more has come than a connection has received, nil for one that does not know.
func bufferedOf(c Conn) func() bool {
	if b, ok := c.(interface{ Buffered() bool }); ok {
		return b.Buffered
	}
	return nil
}
