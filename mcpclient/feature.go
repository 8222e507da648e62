package mcpclient

import (
	"context"

	"github.com/mcpotel/mcpotel/mcp"
)

// Feature is something a client can do for its server, or wants to hear from it, decided before the first connection:
// [HandleElicitation], [UseRoots], [HandleNotification] and its kin such as [HandleResourceUpdated],
// [HandleRequest], [UseTasks].
type Feature interface{ feature() feature }

// feature is what one Feature contributes to a client. Every member may be nil.
type feature struct {
	declare func(*mcp.ClientCapabilities)
	answers map[string]RequestHandler
	hears   map[string]NotificationHandler
	missing bool                // those of hears also want to know of what they may have missed
	join    func(*Client) error // is called when the client is made, for what needs it
}

func (f feature) feature() feature { return f }

// RequestHandler answers one request of the server. The result is encoded as JSON; a nil result is an empty object.
//
// For a legacy server it runs in a goroutine of its own, and ctx ends when the server cancels the request, the
// connection ends or the client stops. An error of type [*mcp.Error] goes to the server as it is, any other as -32603
// with a neutral message. For a modern server, which asks in its answer to a call, it runs in the goroutine of that
// call, with its context, and an error ends the call.
//
// A panic, and the end of its goroutine by [runtime.Goexit], is an error like any other, which is logged and counted;
// but a goroutine of a call that a handler has ended does not come back.
type RequestHandler func(ctx context.Context, r *Request) (any, error)

// NotificationHandler hears one notification. Handlers run one at a time in the order of arrival, off the read loop, so
// one may call the client; while it runs, the notifications behind it wait in a bounded queue (see
// [Options.NotificationQueue]). ctx ends when the client stops. If one panics, or ends its goroutine, that is logged
// and counted, and the next one runs.
type NotificationHandler func(ctx context.Context, n *Notification)

// HandleRequest answers the server's requests of one method; there is one handler for each method. What it implies is
// for [Options.Capabilities] to declare: a method alone does not tell. Requests of a method without a handler get
// -32601, except ping, which the client answers itself.
func HandleRequest(method string, h RequestHandler) Feature {
	return feature{answers: map[string]RequestHandler{method: h}}
}

// HandleNotification hears the server's notifications of one method, or of all methods if method is empty. Unlike
// [Client.OnNotification] it misses none that follow the handshake at once.
func HandleNotification(method string, h NotificationHandler) Feature {
	return feature{hears: map[string]NotificationHandler{method: h}}
}
