package mcpserver

import (
	"context"
	"errors"

	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// NetworkOf returns the transport of c according to its method Network.
func NetworkOf(c Conn) string {
	return c.(*streamConn).Network().Transport
}

// ContentIn adapts content to a revision.
var ContentIn = contentIn

// AskInTask sends requests to the client through the task whose handler has the context ctx.
func AskInTask(ctx context.Context, requests mcp.InputRequests) (mcp.InputResponses, error) {
	task, err := taskOf(ctx)
	switch {
	case err != nil:
		return nil, err
	case task == nil:
		return nil, ErrNoTask
	}
	return task.Ask(ctx, requests)
}

// ErrNoTask is the error of AskInTask if the handler must ask through its request instead.
var ErrNoTask = errors.New("no task to ask in")

// FirstTrust is the number of quick runs after which the reading goroutine itself runs a handler. Patience is the time
// that such a run may take.
const (
	FirstTrust = rpc.FirstTrust
	Patience   = rpc.Patience
)

// Taken counts the resources that the requests of an HTTP handler use: places, bytes of bodies, requests in flight,
// open and opening sessions, the memory for their introductions, and accounts. All counts of an idle handler are zero.
type Taken struct{ Places, Bytes, Inside, Sessions, Introductions, Accounts int }

// Taken returns the current usage.
func (h *HTTPHandler) Taken() Taken {
	l := h.engine.Web.Load()
	return Taken{l.Requests, l.Bytes, l.Inside, l.Sessions, l.Introductions, l.Accounts}
}
