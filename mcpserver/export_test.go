package mcpserver

import (
	"context"
	"errors"

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
	a, err := askerOf(ctx)
	switch {
	case err != nil:
		return nil, err
	case a == nil:
		return nil, ErrNoTask
	}
	return a.ask(ctx, requests)
}

// ErrNoTask is returned by AskInTask if what is asked has to go by way of the request.
var ErrNoTask = errors.New("no task to ask in")

// FirstTrust is after how many quick runs the goroutine that reads runs a handler, Patience how long it may keep it.
const (
	FirstTrust = firstTrust
	Patience   = patience
)
