package mcpserver

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// declareList says that the client may list its tasks, if the server can tell which are its own: a client without a
// principal would see those of all others that have none.
// (specification 2025-11-25, basic/utilities/tasks, "Task Isolation and Access Control")
func (k *taskKeeper) declareList(c *mcp.ServerCapabilities, principal string) {
	if principal != "" && c.Tasks != nil && k.offered.Load() {
		c.Tasks = new(*c.Tasks)
		c.Tasks.List = mcp.Object("{}")
	}
}

// list answers tasks/list with the tasks that the principal may ask for one by one, the oldest first.
// (specification 2025-11-25, basic/utilities/tasks, "Task Listing")
func (k *taskKeeper) list(ctx context.Context, c *call) (any, error) {
	var p mcp.PageParams
	if err := c.readTask(&p); err != nil {
		return nil, err
	}
	if c.x.client.principal == "" {
		return nil, refusal(mcp.CodeMethodNotFound, "%s: the server does not know who asks", c.info.Method)
	}
	behind, ok := readTaskCursor(p.Cursor)
	if !ok {
		return nil, errUnknownCursor
	}
	size := c.x.s.cfg.PageSize
	found, err := k.cfg.Store.List(ctx, c.x.client.principal, behind, size+1)
	if err != nil {
		return nil, err
	}
	result := &mcp.LegacyListTasksResult{Tasks: make([]*mcp.LegacyTask, 0, min(size, len(found)))}
	if len(found) > size {
		found = found[:size]
		result.NextCursor = new(taskCursor(found[size-1].Place()))
	}
	for _, t := range found {
		if k.orphaned(t, stamp()) {
			if t, err = k.load(ctx, t.ID); errors.Is(err, store.ErrNoTask) {
				continue
			} else if err != nil {
				return nil, err
			}
		}
		if c.mayTake(t) {
			result.Tasks = append(result.Tasks, new(k.shownLegacy(t)))
		}
	}
	return result, nil
}

// taskCursor is the place of the last task of the page before.
func taskCursor(p store.TaskPlace) string {
	return dressed(strconv.FormatInt(p.Created, 10) + " " + p.ID)
}

// readTaskCursor returns the place in a cursor, the beginning for none, and false for what taskCursor has not made.
func readTaskCursor(cursor *string) (p store.TaskPlace, ok bool) {
	if cursor == nil {
		return p, true
	}
	created, id, _ := strings.Cut(undressed(*cursor), " ")
	n, err := strconv.ParseInt(created, 10, 64)
	p = store.TaskPlace{Created: n, ID: id}
	return p, err == nil && n >= 0 && taskCursor(p) == *cursor
}
