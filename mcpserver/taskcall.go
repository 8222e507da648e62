package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/server/engine"
	"github.com/mcpotel/mcpotel/internal/server/tasks"
	"github.com/mcpotel/mcpotel/mcp"
)

// taskCall is a call that is a task or may become one. It implements [tasks.Handler].
type taskCall struct {
	tasks.Run
	info        RequestInfo // for the tool's handler
	bind        bindTask
	work        taskWork
	interrupted error // cause of the end of the context, if the tool failed after it; nil otherwise
}

// taskWork does the work of a call with valid arguments.
type taskWork func(ctx context.Context) (*mcp.CallToolResult, error)

// bindTask checks the arguments of a call. Its error is the answer to the call.
type bindTask func(context.Context, *CallToolRequest) (taskWork, error)

// call answers a call of a task tool.
func (t *serverTasks) call(ctx context.Context, c *call, called *tool) (any, error) {
	legacy, err := c.legacyTask()
	switch {
	case err != nil:
		return nil, err
	case legacy == nil && !c.declares(mcp.ExtensionTasks):
		if called.task.required {
			return nil, c.refuseWithoutTask(called)
		}
		return c.callTool(ctx, called.handle)
	}
	r := &taskCall{
		Run: tasks.Run{
			Keeper: t.keeper, Peer: &c.x.Client.Peer, Account: c.x.Client.Account, Client: c.taskClient(), Tool: called.Name,
			Legacy: legacy, Waits: called.task.waits, After: called.task.after, TTL: called.task.timeToLive(t.ttl),
		},
		info: c.info, bind: called.task.bind,
	}
	r.Handler, r.info.task = r, &r.Run
	return r.Do(ctx)
}

// Bind implements [tasks.Handler], like the methods below.
func (r *taskCall) Bind(ctx context.Context) (err error) {
	r.work, err = r.bind(ctx,
		&CallToolRequest{RequestInfo: &r.info, Name: r.Tool, Arguments: r.info.call.arguments})
	return err
}

func (r *taskCall) Handle(ctx context.Context) (*mcp.CallToolResult, error) { return r.work(ctx) }

// Answer returns the answer to the call. A client of 2025-11-25 gets the same error for [URLElicitationRequired] as it
// would get without a task.
func (r *taskCall) Answer(ctx context.Context, result *mcp.CallToolResult, err error) (*mcp.CallToolResult, error) {
	if required, ok := errors.AsType[*urlRequired](err); ok && r.Legacy != nil {
		_, err = r.info.call.urlResult(required)
	}
	answer, err := toolAnswer(ctx, result, err, r.info.Version)
	r.interrupted = engine.Interruption(ctx, failed(answer, err))
	result, _ = answer.(*mcp.CallToolResult)
	return result, err
}

func (r *taskCall) Encode(answer *mcp.CallToolResult) (json.RawMessage, error) {
	return view{r.info.call.x.s, r.info.Version, r.info.Principal()}.encode(nil, answer)
}

func (r *taskCall) Outcome(answer *mcp.CallToolResult, err error) instrument.Result {
	return engine.Interrupted(outcome(answer, err), cmp.Or(r.interrupted, err))
}

func (r *taskCall) Value() any { return &r.info }
