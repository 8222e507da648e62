package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/server/quota"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// HTTPHandler serves a [Server] over HTTP: clients of every revision under one URL, and each transport of the
// specification that has ever been over HTTP. Make it with [Server.HTTPHandler], and end it with
// [HTTPHandler.Shutdown].
//
// A request that names a modern revision, in a header or in its body, is answered by itself, with what its headers say
// held against its body. Legacy clients get a session when they initialize. Both get plain JSON where there is nothing
// to send but the answer, and a stream of events as soon as a handler has something to tell before.
//
// The context of a tool's handler carries the values of the HTTP request's context. It ends when a modern client closes
// its response; a legacy client has to say that it cancels, and may come back for what it missed while it was not
// connected.
//
// Each request that is handled has a SERVER span of its own. Where otelhttp is around the handler, that makes two: one
// of HTTP, one of MCP. The latter is below the client's span, with a link to that of otelhttp, if the client is trusted
// with traces (see [HTTPOptions.TrustTraceContext]); or else below that of otelhttp, with a link to the client's. Where
// there is no other span, and the message names none, headers such as traceparent say what the client's is.
// (specification 2026-07-28, basic/transports/streamable-http; 2025-11-25 and 2024-11-05, basic/transports)
type HTTPHandler struct {
	engine   rpc.Engine // of what is answered by itself
	s        *Server
	role     role      // for what is answered by itself
	audience *audience // likewise
	cfg      HTTPOptions
	guard    guard

	gate      gate
	room      *quota.Memory  // for bodies: those that are being read, and those of requests that are being answered
	stateless statelessCalls // of those who are answered by themselves
	watching  *quota.Memory  // for what sessions and subscriptions watch
	sessions  sessions
	rates     rateBooks
	fleet     *fleet // nil if sessions are known in this process only

	none         terms                  // of modern clients
	assumed      map[mcp.Version]*terms // of legacy clients without sessions
	http1, http2 rpc.Observer

	life context.Context // of sessions
	kill context.CancelFunc

	warned atomic.Bool // that a writer allows no deadlines

	gone  func()       // takes it out of the metrics of what is there now
	stray atomic.Int64 // handlers of closed sessions that ignored the end of their contexts
}

// HTTPHandler returns a handler that serves s under the URL where it is mounted. Options that contradict themselves are
// mistakes in the program, and HTTPHandler panics.
func (s *Server) HTTPHandler(o *HTTPOptions) *HTTPHandler {
	cfg, err := newHTTPConfig(o, s.cfg.FrameLimit)
	if err == nil {
		err = s.roles.checkHTTP(&cfg)
	}
	if err != nil {
		panic("mcpserver: HTTPHandler: " + err.Error())
	}
	h := &HTTPHandler{
		s: s, audience: newAudience(cfg.MaxSubscriptions),
		cfg:       s.guardStores(cfg),
		guard:     guard{cfg.AllowedOrigins, cfg.AllowedHosts},
		gate:      gate{places: quota.NewShares(cfg.MaxRequests), waits: quota.NewShares(cfg.MaxWaiting)},
		room:      quota.NewMemory(cfg.MaxBodies),
		stateless: statelessCalls{total: s.total, live: map[*rpc.Call]struct{}{}},
		watching:  quota.NewMemory(cfg.MaxWatchedBytes),
		sessions: sessions{
			places: quota.NewShares(cfg.MaxSessions), introductions: quota.NewShares(cfg.MaxIntroductionBytes),
			byID: map[string]*httpSession{},
		},
		assumed: map[mcp.Version]*terms{},
	}
	h.gate.room = h.room
	h.engine = rpc.Engine{
		Calls: &h.stateless, Group: rpc.NewGroup(rpc.MaxSpare), FrameLimit: s.cfg.FrameLimit, NullID: s.cfg.nullID(),
	}
	h.http1 = s.observer(instrument.Network{Transport: "tcp", Protocol: "http", ProtocolVersion: "1.1"})
	h.http2 = s.observer(instrument.Network{Transport: "tcp", Protocol: "http", ProtocolVersion: "2"})
	h.role = s.roles.forHTTP(h)
	for _, v := range s.cfg.legacy {
		h.assumed[v] = new(terms)
		h.assumed[v].agreed.Store(&agreement{version: v})
	}
	h.observeLimits()
	h.life, h.kill = context.WithCancel(context.Background())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handlers[h] = struct{}{}
	s.enlist()
	if cfg.Sessions != nil {
		h.fleet = newFleet(h)
		s.fleets[h.fleet] = struct{}{}
	} else {
		s.audiences[h.audience] = struct{}{}
	}
	return h
}

// ServeHTTP implements [http.Handler].
func (h *HTTPHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if f := h.guard.check(r); f != nil {
		h.turnAway(w, r, *f)
		return
	}
	x, v := h.arrival(r)
	if err := h.gate.enter(v); err != nil {
		h.turnAway(w, r, tooBusy(err))
		return
	}
	defer v.leave()
	switch r.Method {
	case http.MethodPost:
		h.post(w, r, v, x)
	case http.MethodGet:
		h.get(w, r)
	case http.MethodDelete:
		h.delete(w, r)
	default:
		h.notAllowed(w, r)
	}
}

// notAllowed refuses a method of HTTP. What is allowed depends on whether there may be sessions.
func (h *HTTPHandler) notAllowed(w http.ResponseWriter, r *http.Request) {
	allowed := http.MethodPost
	if h.hasSessions() {
		allowed = "POST, GET, DELETE"
	}
	w.Header().Set("Allow", allowed)
	h.turnAway(w, r, httpRefusal{reason: names.RefusalMethod, status: http.StatusMethodNotAllowed,
		err: &mcp.Error{Code: mcp.CodeInvalidRequest, Message: "method not allowed"}})
}

// hasSessions reports whether legacy clients get sessions.
func (h *HTTPHandler) hasSessions() bool { return !h.cfg.Stateless && len(h.s.cfg.legacy) > 0 }

// observer returns the one for clients of the HTTP version of r.
func (h *HTTPHandler) observer(r *http.Request) rpc.Observer {
	_, unix := r.Context().Value(http.LocalAddrContextKey).(*net.UnixAddr)
	switch {
	case unix:
		return h.s.observer(instrument.Network{Transport: "unix", Protocol: "http", ProtocolVersion: "1.1"})
	case r.ProtoMajor > 2:
		return h.s.observer(instrument.Network{Transport: "quic", Protocol: "http", ProtocolVersion: "3"})
	case r.ProtoMajor == 2:
		return h.http2
	}
	return h.http1
}

// Shutdown ends the handler gracefully: it refuses new requests with 503, ends subscriptions with a result, lets the
// requests finish that are being handled, and closes all sessions and their streams. When ctx ends before that, the
// contexts of handlers end too, and the cause of ctx is returned; handlers that ignore that are left behind, and the
// error says how many. It is to be called before the Shutdown of the [http.Server], which waits for streams but does
// not end them.
func (h *HTTPHandler) Shutdown(ctx context.Context) error {
	h.gate.close()
	h.s.mu.Lock()
	delete(h.s.audiences, h.audience)
	delete(h.s.fleets, h.fleet)
	h.s.mu.Unlock()
	h.audience.close()
	h.role.endStreams()
	h.gate.waitPosts(ctx)
	var drained sync.WaitGroup
	for _, s := range h.sessions.close() {
		drained.Go(func() {
			s.exchange.Asks.Close() // no answer is let in any more
			s.exchange.Group.Wait(ctx)
			s.public.because(ErrShutdown)
			h.end(s)
		})
	}
	drained.Wait()
	var err error
	if h.gate.waitAll(ctx) {
		concluded, cancel := context.WithTimeout(context.WithoutCancel(ctx), rpc.Settle)
		defer cancel()
		h.stateless.wait(concluded)
	} else {
		err = context.Cause(ctx)
		h.stateless.close(errShuttingDown)
		// sessions take that without one
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*rpc.Settle+h.s.farewell())
		defer cancel()
		h.gate.waitAll(last)
	}
	if left := h.stray.Swap(0) + h.stateless.size(); left > 0 {
		err = errors.Join(err, fmt.Errorf("handlers that ignore the end of their contexts: %d", left))
	}
	if h.fleet != nil {
		h.fleet.leave(context.WithoutCancel(ctx))
	}
	h.role.close(context.WithoutCancel(ctx))
	h.gone()
	h.kill()
	rpc.Wait(h.engine.Group, rpc.Settle)
	rpc.CloseGroup(h.engine.Group)
	h.s.flush(ctx, h.s.everyObserver()...)
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	delete(h.s.handlers, h)
	h.s.enlist()
	return err
}
