package tasks

import (
	"context"
	"encoding/json"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// Handler handles the call of a [Run].
type Handler interface {
	// Bind checks the arguments before the call becomes a task. On an error the call does not become a task, and the
	// error is its answer; a task of 2025-11-25 fails with the error.
	Bind(ctx context.Context) error
	// Handle handles the call. A panic is an internal error.
	Handle(ctx context.Context) (*mcp.CallToolResult, error)
	// Answer converts the results of Bind or Handle into the answer to the call.
	Answer(ctx context.Context, result *mcp.CallToolResult, err error) (*mcp.CallToolResult, error)
	// Encode encodes an answer in the revision of the client.
	Encode(answer *mcp.CallToolResult) (json.RawMessage, error)
	// Outcome describes the end of the task for telemetry: with an answer, or with an error.
	Outcome(answer *mcp.CallToolResult, err error) instrument.Result
	// Value returns the value for [rpc.InfoKey] in the context of the handler.
	Value() any
}

// Client describes a client for the visibility of tasks. A task is visible to its own principal, and to clients that
// know tasks of the same kind.
type Client struct {
	Principal string      // empty if it is unknown
	Version   mcp.Version // revision of its request
}

// modern reports whether the client knows tasks as an extension.
func (c Client) modern() bool { return c.Version.Era() == mcp.Modern }

// Asker sends requests to the client of a tasks/result request that waits for a task of 2025-11-25.
type Asker interface {
	// CanAsk reports whether the client can be asked now.
	CanAsk() bool
	// Ask sends a request and waits for the answer. If the client refuses, the error is a [*rpc.RefusalError].
	Ask(ctx context.Context, q rpc.Question) (json.RawMessage, error)
}

// Session is the session of a client of 2025-11-25.
type Session interface {
	// NotifyTask queues a notification about a task, unless the same notification is already queued. It does not wait.
	// When the notification is sent, its params come from [Keeper.LegacyStatus] or [Keeper.DueProgress].
	NotifyTask(method, id string)
}
