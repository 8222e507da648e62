package mcpclient

import (
	"context"

	"github.com/mcpotel/mcpotel/mcp"
)

// Feature is an ability of a client, or a handler of notifications, that is set before the first connection:
// [HandleElicitation], [UseRoots], [HandleNotification] and similar functions such as [HandleResourceUpdated],
// [HandleRequest], [UseTasks].
type Feature interface{ feature() feature }

// feature is the contribution of one Feature to a client. Every member may be nil.
type feature struct {
	declare func(*mcp.ClientCapabilities)
	answers map[string]RequestHandler
	hears   *Handler            // nil for none
	join    func(*Client) error // called when the client is created; nil for none
}

func (f feature) feature() feature { return f }

// RequestHandler answers one request of the server. The result is encoded as JSON; a nil result is an empty
// object.
//
// For a legacy server it runs in a goroutine of its own, and ctx ends when the server cancels the request, the
// connection ends or the client is closed. The server gets an error of type [*mcp.Error] unchanged, and any other
// error as -32603 with a neutral message. For a modern server, which requests input in its answer to a call, it
// runs in the goroutine of that call, with its context, and an error ends the call.
//
// A panic, or the end of its goroutine by [runtime.Goexit], counts as an error, which is logged and counted; but
// if a handler ends the goroutine of a call, the call does not return.
type RequestHandler func(ctx context.Context, r *Request) (any, error)

// NotificationHandler handles one notification. Handlers run sequentially in order of arrival, outside of the
// goroutine that reads, so they may call the client; meanwhile later notifications wait in a bounded queue (see
// [Limits.Notifications]). ctx ends when the client is closed. A panic, or the end of the goroutine, is logged
// and counted, and the next handler runs.
type NotificationHandler func(ctx context.Context, n *Notification)

// HandleRequest answers the server's requests of one method; each method has one handler. If the method needs a
// capability, declare it in [Options.Capabilities]. Requests without a handler get -32601, except ping, which the
// client answers itself.
func HandleRequest(method string, h RequestHandler) Feature {
	return feature{answers: map[string]RequestHandler{method: h}}
}

// HandleNotification handles the server's notifications of one method, or of all methods if method is empty.
func HandleNotification(method string, h NotificationHandler) Handler {
	return Handler{method: method, handle: h}
}
