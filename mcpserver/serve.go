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
	"github.com/mcpotel/mcpotel/internal/server/rates"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/server/web"
	"github.com/mcpotel/mcpotel/internal/stdio"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// Serve serves one client over c until the client has sent its last message. Then Serve closes c and returns nil:
// handlers that still run have [Options.DrainTimeout] to finish, and the server sends their answers. If ctx ends, Serve
// ends the contexts of handlers at once, sends the answers that they still return, and returns the cause of ctx.
//
// When Serve returns, all its goroutines have ended, unless a handler ignores the end of its context for a second; then
// the error has the number of such handlers. The log records are written, if the log handler accepts them within
// DrainTimeout, or a second. Calls that have become tasks belong to the server and continue, see [Server.Shutdown]. The
// contexts of handlers have the values of ctx.
func (s *Server) Serve(ctx context.Context, c Conn) error {
	var network instrument.Network
	if n, ok := c.(interface{ Network() instrument.Network }); ok {
		network = n.Network()
	}
	p := &peer{rates: new(rates.Book), watching: quota.NewMemory(maxWatchedAlone)}
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

// ServeStdio serves the client on standard input and output, as [Server.Serve] does, and returns when standard input
// ends. A program may run one ServeStdio at a time.
//
// Standard output carries only frames: on Linux, macOS and the BSDs, all other output of the program and its children
// to standard output goes to standard error until ServeStdio returns. If ctx ends and reading cannot be interrupted, as
// from a terminal, one goroutine waits for more input after ServeStdio has returned.
// (specification 2026-07-28, basic/transports/stdio)
func (s *Server) ServeStdio(ctx context.Context) error {
	in, out, restore, err := stdio.Streams()
	if err != nil {
		return fmt.Errorf("stdio: %w", err)
	}
	return errors.Join(s.Serve(ctx, NewStreamConn(in, out, s.cfg.FrameLimit)), restore())
}

// connection is one client, on a connection or in a session over HTTP.
type connection struct {
	exchange *exchange
	table    *rpc.Calls

	public  *Session   // the session as handlers see it
	watched watchlist  // resources that the client of a session watches
	others  web.Others // other processes that know the session; nil if only this process knows it

	sites   *sites    // elicitations by URL
	notices *notices  // notifications of changes that wait for the client of a session
	logs    *logQueue // log messages without a request that wait for the client of a session
	heard   *hearing  // notifications of the client that wait for their handlers

	// introduced replaces the reservation of memory for the client's description of itself by one of so many bytes, and
	// reports whether they were available; nil without a budget.
	introduced func(bytes int) bool

	cut   context.CancelFunc // ends exchange.life
	since time.Time
	gone  func() // removes the connection from the metrics of current connections

	number uint64 // unique in the server

	alive *keepalive.Watch   // nil for none; set before the connection is read
	quit  func(reason error) // ends the connection, without waiting; set before handlers see the session

	passing atomic.Bool // the session continues without the connection: do not report its end
	away    atomic.Bool // another process sends messages that belong to no request
}

// open starts serving a client. spare is the number of spare goroutines for handlers. queued returns the number of
// messages that wait to be sent; it may be nil. stop ends the contexts of handlers with a reason, nil if the client has
// left.
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

// close waits for running handlers, whose contexts have ended, and returns how many still run. lost means that the
// connection broke.
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
	c.watched.close() // over HTTP, a request to watch may still be in progress
	left += c.dismiss(c.public.end(), nil)
	c.watched.release()
	c.cut()
	c.ended(lost)
	return left
}

// ended reports the end of the session, if there was one, to telemetry, and logs the counts of suppressed records.
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

// measured is a connection that measures how long frames wait in it. measure is called once, before anything is sent.
// From then on, the connection calls waited for each frame, and queued returns the number of frames that wait.
type measured interface {
	measure(waited func(time.Duration)) (queued func() int)
}

// framesOf returns a function that receives the frames of c, and converts the error for a frame that is too large.
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

// bufferedOf returns a function that reports whether c has input that it has not returned yet, nil if c does not know.
func bufferedOf(c Conn) func() bool {
	if b, ok := c.(interface{ Buffered() bool }); ok {
		return b.Buffered
	}
	return nil
}
