package tasks

import (
	"context"
	"encoding/json"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// Handler is the part of a [Run] that knows the tool.
type Handler interface {
	// Bind validates the arguments before the call becomes a task. After an error the call does not become a task; the
	// error is the answer to the call. A task of 2025-11-25 exists already, and fails with the error.
	Bind(ctx context.Context) error
	// Handle handles the call. A panic becomes an internal error.
	Handle(ctx context.Context) (*mcp.CallToolResult, error)
	// Answer converts the results of Bind or Handle into the answer to the call.
	Answer(ctx context.Context, result *mcp.CallToolResult, err error) (*mcp.CallToolResult, error)
	// Encode encodes an answer for the revision of the client.
	Encode(answer *mcp.CallToolResult) (json.RawMessage, error)
	// Outcome describes the end of the task, with an answer or an error, for telemetry.
	Outcome(answer *mcp.CallToolResult, err error) instrument.Result
	// Value returns the value for [rpc.InfoKey] in the context of the handler.
	Value() any
}

// Client is a client that may see tasks. A task is visible to clients of its own principal that know tasks of the same
// kind.
type Client struct {
	Principal string      // empty if it is unknown
	Version   mcp.Version // revision of its request
}

// modern reports whether the client uses the tasks extension.
func (c Client) modern() bool { return c.Version.Era() == mcp.Modern }

// Asker sends requests to the client of a tasks/result request that waits for a task of 2025-11-25.
type Asker interface {
	// CanAsk reports whether the client can be asked at this moment.
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
