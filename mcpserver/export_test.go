package mcpserver

import (
	"context"
	"errors"

	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// NetworkOf returns the transport that c says it runs over.
func NetworkOf(c Conn) string {
	return c.(*streamConn).Network().Transport
}

// ContentIn returns content as a revision has it.
var ContentIn = contentIn

// AskInTask puts requests to the client by way of the task that the handler whose context is ctx is working on.
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

// ErrNoTask is returned by AskInTask if what is asked has to go by way of the request.
var ErrNoTask = errors.New("no task to ask in")

// FirstTrust is after how many quick runs the goroutine that reads runs a handler, Patience how long it may keep it.
const (
	FirstTrust = rpc.FirstTrust
	Patience   = rpc.Patience
)

// Taken is what an HTTP handler counts for requests: places, bytes of bodies, requests inside, and sessions, opened or
// being opened, with what their clients have said about themselves. All are zero when nothing is going on.
type Taken struct{ Places, Bytes, Inside, Sessions, Introductions, Accounts int }

// Taken returns what is taken now.
func (h *HTTPHandler) Taken() Taken {
	l := h.web.Load()
	return Taken{l.Requests, l.Bytes, l.Inside, l.Sessions, l.Introductions, l.Accounts}
}
