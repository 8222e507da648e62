package mcpserver

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpotel/mcpotel/internal/given"
	"github.com/mcpotel/mcpotel/internal/server/rates"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/server/tasks"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

func (t *serverTasks) methods() []*method {
	return []*method{
		{Method: named(mcp.MethodGetTask), handle: t.get, rate: rates.Tasks},
		{Method: named(mcp.MethodUpdateTask), handle: t.update, rate: rates.Tasks},
		{Method: named(mcp.MethodCancelTask), handle: t.cancel, rate: rates.Tasks},
		{Method: named(mcp.MethodTaskResult), handle: t.result, rate: rates.Tasks},
		{Method: named(mcp.MethodListTasks), handle: t.list, rate: rates.Tasks},
	}
}

func (t *serverTasks) get(ctx context.Context, c *call) (any, error) {
	id, err := c.readTaskID(new(mcp.TaskParams))
	if err != nil {
		return nil, err
	}
	return t.keeper.Get(ctx, c.taskClient(), id)
}

func (t *serverTasks) update(ctx context.Context, c *call) (any, error) {
	var p mcp.UpdateTaskParams
	id, err := c.readTaskID(&p)
	if err != nil {
		return nil, err
	}
	return nil, t.keeper.Update(ctx, c.taskClient(), id, p.InputResponses)
}

func (t *serverTasks) cancel(ctx context.Context, c *call) (any, error) {
	id, err := c.readTaskID(new(mcp.TaskParams))
	if err != nil {
		return nil, err
	}
	return t.keeper.Cancel(ctx, c.taskClient(), id)
}

// result answers tasks/result, which has no time limit.
func (t *serverTasks) result(_ context.Context, c *call) (any, error) {
	id, err := c.readTaskID(new(mcp.TaskParams))
	if err != nil {
		return nil, err
	}
	return t.keeper.Result(&c.Call, resultAsker{c}, c.taskClient(), id)
}

// resultAsker asks the client through its tasks/result.
type resultAsker struct{ c *call }

func (a resultAsker) CanAsk() bool { return a.c.canAsk() == nil }

func (a resultAsker) Ask(ctx context.Context, q rpc.Question) (json.RawMessage, error) {
	return a.c.inquirer().Ask(ctx, q)
}

// list answers tasks/list.
func (t *serverTasks) list(ctx context.Context, c *call) (any, error) {
	var p mcp.PageParams
	if err := c.readTaskParams(&p); err != nil {
		return nil, err
	}
	if c.x.Client.Principal == "" {
		return nil, rpc.Refusal(mcp.CodeMethodNotFound, "%s: the server does not know who asks", c.info.Method)
	}
	behind, ok := readTaskCursor(p.Cursor)
	if !ok {
		return nil, errUnknownCursor
	}
	page, next, err := t.keeper.List(ctx, c.taskClient(), behind, t.s.cfg.PageSize)
	if err != nil {
		return nil, err
	}
	result := &mcp.LegacyListTasksResult{Tasks: page}
	if next != nil {
		result.NextCursor = new(taskCursor(*next))
	}
	return result, nil
}

// taskCursor returns the cursor for the tasks behind p.
func taskCursor(p store.TaskPlace) string {
	return dressed(strconv.FormatInt(p.Created, 10) + " " + p.ID)
}

// readTaskCursor returns the place in a cursor. For a nil cursor this is the beginning. It reports false for a cursor
// that taskCursor has not made.
func readTaskCursor(cursor *string) (p store.TaskPlace, ok bool) {
	if cursor == nil {
		return p, true
	}
	created, id, _ := strings.Cut(undressed(*cursor), " ")
	n, err := strconv.ParseInt(created, 10, 64)
	p = store.TaskPlace{Created: n, ID: id}
	return p, err == nil && n >= 0 && taskCursor(p) == *cursor
}

// readTaskID decodes the params of a task method, and returns the id of the task.
func (c *call) readTaskID(params any) (id string, err error) {
	if err := c.readTaskParams(params); err != nil {
		return "", err
	}
	if id = mcp.TargetOf(params); id == "" {
		return "", rpc.InvalidParams("params.taskId is missing or empty")
	}
	return id, nil
}

// readTaskParams decodes the params of a task method. It refuses a client that does not know tasks.
func (c *call) readTaskParams(params any) error {
	switch {
	case !c.modern() && !c.legacyTasks():
		return rpc.Refusal(mcp.CodeMethodNotFound, "%s: the session began before there were tasks", c.info.Method)
	case c.modern() && !c.declares(mcp.ExtensionTasks):
		return missingExtension(mcp.ExtensionTasks)
	}
	if err := given.Decode(c.params, params); err != nil {
		return rpc.InvalidParams("params: %w", err)
	}
	return nil
}

// watchable returns those tasks of ids that the client may watch.
func (t *serverTasks) watchable(ctx context.Context, c *call, ids []string) ([]string, error) {
	if len(ids) == 0 || !t.offered.Load() {
		return nil, nil
	}
	if !c.declares(mcp.ExtensionTasks) {
		return nil, missingExtension(mcp.ExtensionTasks)
	}
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	if len(ids) > tasks.MaxWatched {
		return nil, rpc.InvalidParams("params.notifications.taskIds: %d tasks, want %d at most", len(ids), tasks.MaxWatched)
	}
	return t.keeper.Watchable(ctx, c.taskClient(), ids)
}

// watchTasks starts sending the states of the subscription's tasks, if there are any.
func (sub *subscription) watchTasks(k *tasks.Keeper) {
	if len(sub.filter.TaskIDs) == 0 {
		return
	}
	w := k.NewWatch(sub.call.Context(), sub.call.x.Group, sub.filter.TaskIDs, sub.sendTask)
	sub.mu.Lock()
	defer sub.mu.Unlock()
	if !sub.over {
		sub.tasks = w
		w.Start()
	}
}

// sendTask sends the state of a task, and reports whether it could.
func (sub *subscription) sendTask(params json.RawMessage) bool {
	c := sub.call
	sub.mu.Lock()
	over := sub.over
	var err error
	if !over {
		err = c.x.Peer.Notify(c.x.Work, c.Out, c.info.Version, mcp.NotificationTaskStatus, sub.meta, params)
	}
	sub.mu.Unlock()
	if err != nil {
		c.Cancel(err)
	}
	return err == nil && !over
}
