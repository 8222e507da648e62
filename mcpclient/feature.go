package mcpclient

import (
	"context"

	"github.com/mcpotel/mcpotel/mcp"
)

// Feature is an ability of a client, or a handler of notifications, that is set before the first connection. Functions
// such as [HandleElicitation], [UseRoots], [HandleNotification], [HandleResourceUpdated], [HandleRequest] and
// [UseTasks] create features.
type Feature interface{ feature() feature }

// feature is what one Feature adds to a client. Every field may be nil.
type feature struct {
	declare func(*mcp.ClientCapabilities)
	answers map[string]RequestHandler
	hears   *Handler            // nil for none
	join    func(*Client) error // called when the client is created
}

func (f feature) feature() feature { return f }

// RequestHandler answers one request of the server. The result is encoded as JSON; a nil result means an empty object.
//
// For a legacy server, the handler runs in its own goroutine. ctx ends when the server cancels the request, the
// connection ends or the client is closed. The server gets an error of type [*mcp.Error] unchanged, and any other error
// as -32603 with a neutral message. A modern server requests input in its answer to a call; then the handler runs in
// the goroutine of that call, with the context of the call, and an error ends the call.
//
// If the handler panics, or ends its goroutine with [runtime.Goexit], the client treats that as an error, logs it and
// counts it. But if a handler ends the goroutine of a call, the call does not return.
type RequestHandler func(ctx context.Context, r *Request) (any, error)

// NotificationHandler handles one notification. Handlers run one at a time, in order of arrival, outside of the
// goroutine that reads; so they may call the client. While a handler runs, later notifications wait in a bounded queue
// (see [Limits.Notifications]). ctx ends when the client is closed. If a handler panics or ends its goroutine, the
// client logs and counts that, and runs the next handler.
type NotificationHandler func(ctx context.Context, n *Notification)

// HandleRequest answers the server's requests of one method. Each method has one handler. If the method needs a
// capability, declare the capability in [Options.Capabilities]. The client answers ping itself; other requests without
// a handler get -32601.
func HandleRequest(method string, h RequestHandler) Feature {
	return feature{answers: map[string]RequestHandler{method: h}}
}

// HandleNotification handles the server's notifications of one method, or of all methods if method is empty.
func HandleNotification(method string, h NotificationHandler) Handler {
	return Handler{method: method, handle: h}
}
