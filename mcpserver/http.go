package mcpserver

import (
	"context"
	"net/http"
	"time"

	"github.com/mcpotel/mcpotel/internal/server/quota"
	"github.com/mcpotel/mcpotel/internal/server/web"
	"github.com/mcpotel/mcpotel/mcp"
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
	s        *Server
	cfg      HTTPOptions
	web      *web.Handler
	role     role                   // for stateless messages
	audience *audience              // of stateless messages
	watching *quota.Memory          // for what sessions and subscriptions watch
	rates    rateBooks              // of the accounts
	none     terms                  // of modern clients
	assumed  map[mcp.Version]*terms // of legacy clients without sessions
	gone     func()                 // takes the handler out of the metrics of what is there now
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
		s: s, cfg: s.guardStores(cfg), audience: newAudience(cfg.MaxSubscriptions),
		watching: quota.NewMemory(cfg.MaxWatchedBytes), assumed: map[mcp.Version]*terms{},
	}
	h.role = s.roles.forHTTP(h)
	for _, v := range s.cfg.legacy {
		h.assumed[v] = new(terms)
		h.assumed[v].agreed.Store(&agreement{version: v})
	}
	h.web = web.New((*httpServer)(h), h.cfg.forWeb(s))
	h.observeLimits()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handlers[h] = struct{}{}
	s.enlist()
	if h.web.IsShared() {
		s.fleets[h] = struct{}{}
	} else {
		s.audiences[h.audience] = struct{}{}
	}
	return h
}

// ServeHTTP implements [http.Handler].
func (h *HTTPHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.web.ServeHTTP(w, r) }

// Shutdown ends the handler gracefully: it refuses new requests with 503, ends subscriptions with a result, lets the
// requests finish that are being handled, and closes all sessions and their streams. When ctx ends before that, the
// contexts of handlers end too, and the cause of ctx is returned; handlers that ignore that are left behind, and the
// error says how many. It is to be called before the Shutdown of the [http.Server], which waits for streams but does
// not end them.
func (h *HTTPHandler) Shutdown(ctx context.Context) error {
	err := h.web.Shutdown(ctx)
	h.s.flush(ctx, h.s.everyObserver()...)
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	delete(h.s.handlers, h)
	h.s.enlist()
	return err
}

// Refused counts and logs a request that a middleware in front of h has refused with a status, so that it is seen
// beside those that h refuses itself: in the metric mcp_server.request.refused, and in records of that name at a
// limited rate. The middleware of package bearer calls it. 401 and 403 have the reason unauthorized, 429 has
// rate_limited, and others have _OTHER. err is for the log and may be nil. Refused may be called by several goroutines.
func (h *HTTPHandler) Refused(r *http.Request, status int, err error) { h.web.Refused(r, status, err) }

// ErrNotResumable is returned by [CloseStream] when the client could not get the rest.
var ErrNotResumable = web.ErrNotResumable

// CloseStream closes the stream on which a legacy client over HTTP waits for the answer to the request of ctx, so that
// neither end has to hold a connection while the handler works on. The client is asked to come back after the given
// time, zero for what [HTTPOptions.Retry] says, and then gets what was sent meanwhile and the answer.
//
// The error is [ErrNotResumable] where that cannot be: in modern revisions and on any other transport, and in revisions
// before 2025-11-25 as long as nothing has been sent that the client could begin behind. Then nothing has happened.
// (specification 2025-11-25, basic/transports, "Sending Messages to the Server")
func CloseStream(ctx context.Context, retry time.Duration) error {
	r := RequestFrom(ctx)
	if r == nil || r.call == nil {
		return ErrNotResumable
	}
	return web.CloseStream(ctx, r.call.Out, retry)
}
