package mcpserver

import (
	"context"
	"errors"
	"maps"
	"math"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// What there is in this file and in those beside it makes the tasks of clients of 2025-11-25, which ask for each with
// the call, out of the same handlers and the same records as those of the extension.
// (specification 2025-11-25, basic/utilities/tasks)

// legacyRun is what a run has beyond others whose task is one of 2025-11-25.
type legacyRun struct {
	meta  mcp.Meta   // of all that is said on behalf of the task
	token jsonrpc.ID // of progress; zero for a client that wants none

	// What follows is guarded by taskRun.mu.
	answered bool  // the client knows the task
	change   int64 // the latest that is known
	told     int64 // the latest that the session is told of, or is about to be
	progress taskProgress
}

// declareLegacyTasks says that calls of tools may become tasks, to clients that know them as part of their revision.
// (specification 2025-11-25, basic/utilities/tasks, "Server Capabilities")
func declareLegacyTasks(c *mcp.ServerCapabilities) {
	var tasks mcp.TasksCapability
	if c.Tasks != nil {
		tasks = *c.Tasks
	}
	tasks.Cancel = mcp.Object("{}")
	requests := maps.Clone(tasks.Requests)
	if requests == nil {
		requests = map[string]map[string]mcp.Object{}
	}
	tools := maps.Clone(requests["tools"])
	if tools == nil {
		tools = map[string]mcp.Object{}
	}
	tools["call"], requests["tools"] = mcp.Object("{}"), tools
	tasks.Requests = requests
	c.Tasks = &tasks
}

// legacyTasks reports whether the client has been told that calls may become tasks of 2025-11-25. One that has no
// session is told anew each time that it asks.
func (c *call) legacyTasks() bool {
	agreed := c.info.from.agreed
	if c.info.Version != mcp.Version20251125 || agreed == nil || !c.x.s.tasks.offered.Load() {
		return false
	}
	return c.x.conn == nil || agreed.declared.Tasks.Allows(mcp.MethodCallTool)
}

// wantsTask reports whether a call asks for a task of 2025-11-25. A client that has not been told of them asks for
// none. (specification 2025-11-25, basic/utilities/tasks, "Task Support and Handling")
func (c *call) wantsTask() bool { return c.task != nil && c.legacyTasks() }

// wishForTask returns what a call asks for that asks for a task of 2025-11-25, nil if it does not.
func (c *call) wishForTask() (*mcp.TaskMetadata, error) {
	if !c.wantsTask() {
		return nil, nil
	}
	wish := new(mcp.TaskMetadata)
	if err := decodeCopy(c.task, wish); err != nil {
		return nil, invalidParams("params.task: %w", err)
	}
	if wish.TTL != nil && *wish.TTL < 0 {
		return nil, invalidParams("params.task.ttl is negative")
	}
	return wish, nil
}

// refuseTask refuses to make a task of a call.
// (specification 2025-11-25, basic/utilities/tasks, "Tool-Level Negotiation")
func (c *call) refuseTask(t *tool) error {
	return refusal(mcp.CodeMethodNotFound, "the tool %s does not run as a task", t.Name)
}

// makeLegacy makes the run of a call that of a task of 2025-11-25, which begins at once.
func (r *taskRun) makeLegacy(c *call, wish *mcp.TaskMetadata) error {
	meta, err := mcp.Meta(nil).With(mcp.MetaRelatedTask, mcp.RelatedTask{TaskID: r.id})
	if err != nil {
		return err
	}
	r.legacy = &legacyRun{meta: meta, change: 1, told: 1}
	r.legacy.progress.last = math.Inf(-1)
	if c.progress != nil {
		r.legacy.token = c.progress.token
	}
	r.waits, r.after = false, 0
	r.ttl = legacyTTL(wish.TTL, r.ttl, r.k.cfg.PollInterval)
	context.AfterFunc(c.Context(), r.introduce) // which ends when the request has been answered
	return nil
}

// legacyTTL returns how long a task is kept whose client has asked for so many milliseconds, nil for no matter: not
// longer than the server keeps it, zero standing for ever, and not so short that the client would never see it.
func legacyTTL(asked *int64, most, least time.Duration) time.Duration {
	if asked == nil {
		return most
	}
	limit := most
	if most == 0 {
		limit = math.MaxInt64
	}
	ms := min(*asked, int64(limit/time.Millisecond))
	return min(max(time.Duration(ms)*time.Millisecond, least), limit)
}

// related returns a result with the task that it belongs to in its _meta.
// (specification 2025-11-25, basic/utilities/tasks, "Related Task Metadata")
func (r *taskRun) related(answer *mcp.CallToolResult) (*mcp.CallToolResult, error) {
	if r.legacy == nil {
		return answer, nil
	}
	meta, err := r.legacy.relate(answer.Meta)
	if err != nil {
		return nil, err
	}
	answer = new(*answer)
	answer.Meta = meta
	return answer, nil
}

// relate adds the task to the _meta of something.
func (l *legacyRun) relate(meta mcp.Meta) (mcp.Meta, error) {
	task, _ := l.meta.Lookup(mcp.MetaRelatedTask)
	return meta.With(mcp.MetaRelatedTask, task)
}

// settleLegacy makes a task fail of which the tool says that it has failed: what it says is still the result.
// (specification 2025-11-25, basic/utilities/tasks, "Task Execution Errors")
func (r *taskRun) settleLegacy(t *store.Task, result any) {
	answer, ok := result.(*mcp.CallToolResult)
	if r.legacy == nil || !ok || !answer.IsError || t.Status != mcp.TaskCompleted {
		return
	}
	t.Status, t.Message = mcp.TaskFailed, shortened(answer.Text())
}

// maxStatusMessage is how much of what a tool says about a failure becomes a status message, in bytes.
const maxStatusMessage = 1 << 10

func shortened(s string) string {
	if len(s) <= maxStatusMessage {
		return s
	}
	return strings.ToValidUTF8(s[:maxStatusMessage], "") + "…"
}

// legacyError returns what a client without a task would have got for an error that is not what it looks like.
func (r *taskRun) legacyError(err error) error {
	if e, ok := errors.AsType[*urlRequired](err); ok {
		_, err = r.info.call.urlResult(e)
	}
	return err
}

// shownLegacy is a task as clients of 2025-11-25 see it.
func (k *taskKeeper) shownLegacy(r *store.Task) mcp.LegacyTask {
	t := k.shown(r).Task
	return mcp.LegacyTask{
		TaskID: t.TaskID, Status: t.Status, StatusMessage: t.StatusMessage, CreatedAt: t.CreatedAt,
		LastUpdatedAt: t.LastUpdatedAt,
		TTL:           t.TTLMs, PollInterval: t.PollIntervalMs,
	}
}
