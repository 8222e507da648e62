package web

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

// Handler serves a [Server] over HTTP. Make it with [New], and end it with [Handler.Shutdown].
// (specification 2026-07-28, basic/transports/streamable-http; 2025-11-25 and 2024-11-05, basic/transports)
type Handler struct {
	engine rpc.Engine // for stateless messages
	server Server
	cfg    Options
	guard  guard

	gate      gate
	room      *quota.Memory  // memory for bodies that are being read or answered
	stateless statelessCalls // requests without a session
	sessions  sessions
	fleet     *fleet // nil if only this process knows the sessions

	http1, http2 rpc.Observer

	life context.Context // context of all sessions
	kill context.CancelFunc

	warned atomic.Bool // the operator was warned that a response writer supports no deadlines

	stray atomic.Int64 // number of handlers of closed sessions that ignore the end of their contexts
}

// HTTP1 describes the network of most clients.
var HTTP1 = instrument.Network{Transport: "tcp", Protocol: "http", ProtocolVersion: "1.1"}

// New returns a handler that serves s. If cfg has a store of sessions, the handler may call s before New returns.
func New(s Server, cfg *Options) *Handler {
	h := &Handler{
		server: s, cfg: *cfg,
		guard:     guard{cfg.AllowedOrigins, cfg.AllowedHosts},
		gate:      gate{places: quota.NewShares(cfg.MaxRequests), waits: quota.NewShares(cfg.MaxWaiting)},
		room:      quota.NewMemory(cfg.MaxBodies),
		stateless: statelessCalls{total: cfg.Total, live: map[*rpc.Call]struct{}{}},
		sessions: sessions{
			places: quota.NewShares(cfg.MaxSessions), introductions: quota.NewShares(cfg.MaxIntroductionBytes),
			byID: map[string]*session{},
		},
	}
	h.gate.room = h.room
	h.engine = rpc.Engine{
		Calls: &h.stateless, Group: rpc.NewGroup(rpc.MaxSpare), FrameLimit: cfg.FrameLimit, NullID: cfg.NullID,
	}
	h.http1 = s.Observer(HTTP1)
	h.http2 = s.Observer(instrument.Network{Transport: "tcp", Protocol: "http", ProtocolVersion: "2"})
	h.life, h.kill = context.WithCancel(context.Background())
	if cfg.Sessions != nil {
		h.fleet = newFleet(h)
	}
	return h
}

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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

// notAllowed refuses an HTTP method. The response lists the allowed methods, which depend on whether legacy clients get
// sessions.
func (h *Handler) notAllowed(w http.ResponseWriter, r *http.Request) {
	allowed := http.MethodPost
	if h.hasSessions() {
		allowed = "POST, GET, DELETE"
	}
	w.Header().Set("Allow", allowed)
	h.turnAway(w, r, refusal{reason: names.RefusalMethod, status: http.StatusMethodNotAllowed,
		err: &mcp.Error{Code: mcp.CodeInvalidRequest, Message: "method not allowed"}})
}

// hasSessions reports whether legacy clients get sessions.
func (h *Handler) hasSessions() bool { return !h.cfg.Stateless && len(h.cfg.Legacy) > 0 }

// observer returns the observer for clients that use r's HTTP version.
func (h *Handler) observer(r *http.Request) rpc.Observer {
	_, unix := r.Context().Value(http.LocalAddrContextKey).(*net.UnixAddr)
	switch {
	case unix:
		return h.server.Observer(instrument.Network{Transport: "unix", Protocol: "http", ProtocolVersion: "1.1"})
	case r.ProtoMajor > 2:
		return h.server.Observer(instrument.Network{Transport: "quic", Protocol: "http", ProtocolVersion: "3"})
	case r.ProtoMajor == 2:
		return h.http2
	}
	return h.http1
}

// Shutdown ends the handler gracefully. See mcpserver.HTTPHandler.Shutdown.
func (h *Handler) Shutdown(ctx context.Context) error {
	h.gate.close()
	h.server.EndStreams()
	h.gate.waitPosts(ctx)
	var drained sync.WaitGroup
	for _, s := range h.sessions.close() {
		drained.Go(func() {
			x := s.conn.Exchange()
			x.Asks.Close() // accept no more answers from the client
			x.Group.Wait(ctx)
			s.conn.Because(ErrShutdown)
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
		h.stateless.close(errStopping)
		// The contexts of stateless calls have ended. Sessions end after their own limits.
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*rpc.Settle+h.server.Farewell())
		defer cancel()
		h.gate.waitAll(last)
	}
	if left := h.stray.Swap(0) + h.stateless.size(); left > 0 {
		err = errors.Join(err, fmt.Errorf("handlers still running although their contexts have ended: %d", left))
	}
	if h.fleet != nil {
		h.fleet.leave(context.WithoutCancel(ctx))
	}
	h.server.Close(context.WithoutCancel(ctx))
	h.kill()
	rpc.Wait(h.engine.Group, rpc.Settle)
	rpc.CloseGroup(h.engine.Group)
	return err
}
