package mcpserver

import (
	"context"
	"net/http"
	"time"

	"github.com/mcpotel/mcpotel/internal/server/engine"
	"github.com/mcpotel/mcpotel/internal/server/storeguard"
	"github.com/mcpotel/mcpotel/internal/server/web"
)

// HTTPHandler serves a [Server] over HTTP: it serves clients of every revision under one URL, over every HTTP
// transport of the specification. Create it with [Server.HTTPHandler], and stop it with [HTTPHandler.Shutdown].
//
// A request that names a modern revision, in a header or in its body, is stateless, and its headers must match its
// body. A legacy client gets a session when it initializes. In both eras, the response is plain JSON if the handler
// sends no message before the answer. Otherwise the response becomes a stream of events.
//
// The context of a tool's handler carries the values of the HTTP request's context. The context ends when a modern
// client closes the response. A legacy client cancels a request only by a notification, and may reconnect to get
// the messages that it missed.
//
// Each request has its own SERVER span. With otelhttp around the handler, a request has two spans: one for HTTP and one
// for MCP. The parent of the MCP span depends on whether the server trusts the client (see
// [HTTPOptions.TrustTraceContext]):
//
//   - For a trusted client, the parent of the MCP span is the client's span, and the MCP span links to the span of
//     otelhttp.
//   - For any other client, the parent is the span of otelhttp, and the MCP span links to the client's span.
//
// Without otelhttp, and if the message contains no trace context, headers such as traceparent identify the client's
// span.
// (specification 2026-07-28, basic/transports/streamable-http; 2025-11-25 and 2024-11-05, basic/transports)
type HTTPHandler struct{ engine *engine.HTTP }

// HTTPHandler returns a handler that serves s under the URL where it is mounted. HTTPHandler panics if the options are
// invalid, since that is a mistake in the program.
func (s *Server) HTTPHandler(o *HTTPOptions) *HTTPHandler {
	cfg, err := newHTTPConfig(o, s.cfg.Limits.Frame)
	var h *engine.HTTP
	if err == nil {
		guard := storeguard.Apart(s.engine.Apart)
		cfg.Events, cfg.Sessions = guard.Events(cfg.Events), guard.Sessions(cfg.Sessions)
		h, err = s.engine.NewHTTP(cfg.forEngine())
	}
	if err != nil {
		panic("mcpserver: HTTPHandler: " + err.Error())
	}
	return &HTTPHandler{h}
}

// ServeHTTP implements [http.Handler].
func (h *HTTPHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.engine.Web.ServeHTTP(w, r) }

// Shutdown stops the handler gracefully: it refuses new requests with 503, ends subscriptions with a result, waits
// for the requests in flight, and closes all sessions and their streams. When ctx ends first, Shutdown ends the
// contexts of the handlers and returns the cause of ctx. Shutdown does not wait for handlers that ignore the end of
// their contexts; the error contains their number. Call Shutdown before the Shutdown of the [http.Server], which
// waits for streams but does not end them.
func (h *HTTPHandler) Shutdown(ctx context.Context) error { return h.engine.Shutdown(ctx) }

// Refused counts and logs a request that a middleware in front of h has refused with an HTTP status. Such requests
// appear with the requests that h itself refuses: in the metric mcp_server.request.refused, and in rate-limited log
// records of that name. The middleware of package bearer calls Refused. The reason is unauthorized for 401 and 403,
// rate_limited for 429, and _OTHER for any other status. err is for the log and may be nil. Refused is safe for
// concurrent use.
func (h *HTTPHandler) Refused(r *http.Request, status int, err error) {
	h.engine.Web.Refused(r, status, err)
}

// ErrNotResumable is the error of [RequestInfo.CloseStream] if the client could not get the remaining messages by
// reconnecting.
var ErrNotResumable = web.ErrNotResumable

// CloseStream closes the stream on which a legacy client over HTTP waits for the answer to the request, so that
// neither side has to hold a connection while the handler keeps working. The server asks the client to reconnect
// after the given time. Zero means [HTTPOptions.Retry]. After the reconnect, the client gets the answer and all
// messages sent in the meantime.
//
// CloseStream returns [ErrNotResumable] and does nothing in modern revisions and on other transports. In revisions
// before 2025-11-25, it also returns [ErrNotResumable] until the stream has carried a message from which the client
// could resume. (specification 2025-11-25, basic/transports, "Sending Messages to the Server")
func (r *RequestInfo) CloseStream(ctx context.Context, retry time.Duration) error {
	if r == nil || r.call == nil {
		return ErrNotResumable
	}
	return web.CloseStream(ctx, r.call.Out, retry)
}
