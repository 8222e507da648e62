package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpotel/mcpotel/internal/given"
	"github.com/mcpotel/mcpotel/internal/identity"
	"github.com/mcpotel/mcpotel/internal/server/engine"
	"github.com/mcpotel/mcpotel/internal/server/rates"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/server/storeguard"
	"github.com/mcpotel/mcpotel/internal/server/tasks"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// serverTasks is the task feature of a server.
type serverTasks struct {
	s       *Server
	keeper  *tasks.Keeper
	ttl     time.Duration // the TTL of the options
	once    sync.Once     // registers the methods
	offered atomic.Bool   // the server handles the methods of tasks; false if they have other handlers
}

// ownTasks is a memory store that belongs to one server.
type ownTasks interface{ Close(identity.Mark) }

func newServerTasks(s *Server) (*serverTasks, error) {
	cfg, err := newTaskOptions(s.cfg.Tasks, s.cfg.Limits.Frame)
	var free func()
	if cfg.Store == nil {
		cfg.Store = store.NewMemoryTasks(0, 0)
		own := cfg.Store.(ownTasks)
		free = func() { own.Close(identity.Mark{}) }
	}
	keeper := tasks.New(tasks.Options{
		Store: storeguard.Apart(s.engine.Apart).Tasks(cfg.Store), Free: free,
		PollInterval: cfg.PollInterval, MaxRunning: cfg.MaxRunning, MaxKept: cfg.MaxKept,
		MaxKeptBytes: cfg.MaxKeptBytes, MaxResult: cfg.MaxResult, Lease: cfg.Lease, Stopping: engine.ErrStopping,
	})
	return &serverTasks{s: s, keeper: keeper, ttl: cfg.TTL}, err
}

// offer registers the methods of tasks. It returns false if they have other handlers.
func (t *serverTasks) offer() bool {
	t.once.Do(func() { t.offered.Store(t.s.methods.add(feature{declare: declareTasks, methods: t.methods()})) })
	return t.offered.Load()
}

// declareTasks declares that calls may become tasks: to modern clients as an extension, to others as part of their
// revision.
// (tasks extension, "Capability Negotiation")
func declareTasks(c *mcp.ServerCapabilities, v mcp.Version) {
	if v.Era() != mcp.Modern {
		declareLegacyTasks(c)
		return
	}
	c.Extensions = maps.Clone(c.Extensions)
	if c.Extensions == nil {
		c.Extensions = map[string]mcp.Object{}
	}
	if c.Extensions[mcp.ExtensionTasks] == nil {
		c.Extensions[mcp.ExtensionTasks] = mcp.Object("{}")
	}
}

// declareLegacyTasks declares that calls of tools may become tasks, as part of the revision 2025-11-25.
// (specification 2025-11-25, basic/utilities/tasks, "Server Capabilities")
func declareLegacyTasks(c *mcp.ServerCapabilities) {
	var declared mcp.TasksCapability
	if c.Tasks != nil {
		declared = *c.Tasks
	}
	declared.Cancel = mcp.Object("{}")
	requests := maps.Clone(declared.Requests)
	if requests == nil {
		requests = map[string]map[string]mcp.Object{}
	}
	tools := maps.Clone(requests["tools"])
	if tools == nil {
		tools = map[string]mcp.Object{}
	}
	tools["call"], requests["tools"] = mcp.Object("{}"), tools
	declared.Requests = requests
	c.Tasks = &declared
}

// declareList declares that the client can list its tasks, if the client has a principal. Clients without a principal
// would see each other's tasks.
// (specification 2025-11-25, basic/utilities/tasks, "Task Isolation and Access Control")
func (t *serverTasks) declareList(c *mcp.ServerCapabilities, principal string) {
	if principal != "" && c.Tasks != nil && t.offered.Load() {
		c.Tasks = new(*c.Tasks)
		c.Tasks.List = mcp.Object("{}")
	}
}

// taskClient returns the properties of the client that tasks depend on.
func (c *call) taskClient() tasks.Client {
	return tasks.Client{Principal: c.x.Client.Principal, Version: c.info.Version}
}

// declares reports whether the client declares an extension with this request.
func (c *call) declares(extension string) bool {
	if c.info.Version.Era() != mcp.Modern {
		return false
	}
	declared := c.info.from.Declared()
	return declared.Extensions[extension] != nil
}

// missingExtension returns the error for a request whose client has not declared an extension.
func missingExtension(name string) error {
	need := mcp.ClientCapabilities{Extensions: map[string]mcp.Object{name: mcp.Object("{}")}}
	return missingCapability(need, fmt.Errorf("the client has not declared the extension %s", name))
}

// legacyTasks reports whether the server has declared tasks of 2025-11-25 to the client. To a client without a session,
// the server declares them in every answer to initialize.
func (c *call) legacyTasks() bool {
	agreed := c.info.from.Agreed
	if c.info.Version != mcp.Version20251125 || agreed == nil || !c.x.s.tasks.offered.Load() {
		return false
	}
	return c.x.conn == nil || agreed.Declared.Tasks.Allows(mcp.MethodCallTool)
}

// wantsTask reports whether a call requests a task of 2025-11-25. The server ignores such a request if it has not
// declared tasks.
// (specification 2025-11-25, basic/utilities/tasks, "Task Support and Handling")
func (c *call) wantsTask() bool { return c.task != nil && c.legacyTasks() }

// legacyTask returns the parameters of the task that a client of 2025-11-25 requests with a call. It returns nil if
// the call requests no task.
func (c *call) legacyTask() (*tasks.Legacy, error) {
	if !c.wantsTask() {
		return nil, nil
	}
	var wish mcp.TaskMetadata
	if err := given.Decode(c.task, &wish); err != nil {
		return nil, rpc.InvalidParams("params.task: %w", err)
	}
	if wish.TTL != nil && *wish.TTL < 0 {
		return nil, rpc.InvalidParams("params.task.ttl is negative")
	}
	l := &tasks.Legacy{TTL: wish.TTL, Answered: c.Context()}
	if c.progress != nil {
		l.Token = c.progress.token
	}
	if c.x.conn != nil {
		l.Session = c.x.conn
	}
	return l, nil
}

// refuseTask returns the error for a call that requests a task from a tool without tasks.
// (specification 2025-11-25, basic/utilities/tasks, "Tool-Level Negotiation")
func (c *call) refuseTask(t *tool) error {
	return rpc.Refusal(mcp.CodeMethodNotFound, "the tool %s cannot run as a task", t.Name)
}

// refuseWithoutTask returns the error for a call without a task to a tool that runs only as a task.
// (tasks extension, "Capability Negotiation"; 2025-11-25, basic/utilities/tasks, "Tool-Level Negotiation")
func (c *call) refuseWithoutTask(t *tool) error {
	if c.info.Version.Era() == mcp.Modern {
		return missingExtension(mcp.ExtensionTasks)
	}
	return rpc.Refusal(mcp.CodeMethodNotFound, "the tool %s runs only as a task", t.Name)
}

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

// result answers tasks/result. The request has no time limit.
func (t *serverTasks) result(_ context.Context, c *call) (any, error) {
	id, err := c.readTaskID(new(mcp.TaskParams))
	if err != nil {
		return nil, err
	}
	return t.keeper.Result(&c.Call, resultAsker{c}, c.taskClient(), id)
}

// resultAsker asks the client during the client's tasks/result request.
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
		return nil, rpc.Refusal(mcp.CodeMethodNotFound, "%s: listing tasks requires an authenticated client", c.info.Method)
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

// taskCursor returns the cursor for the tasks after p.
func taskCursor(p store.TaskPlace) string {
	return dressed(strconv.FormatInt(p.Created, 10) + " " + p.ID)
}

// readTaskCursor returns the place in a cursor; a nil cursor means the beginning. It returns false for a cursor that
// taskCursor has not made.
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

// readTaskParams decodes the params of a task method. It returns an error if the client does not know tasks.
func (c *call) readTaskParams(params any) error {
	switch {
	case !c.modern() && !c.legacyTasks():
		return rpc.Refusal(mcp.CodeMethodNotFound, "%s: the server did not declare tasks when the session began",
			c.info.Method)
	case c.modern() && !c.declares(mcp.ExtensionTasks):
		return missingExtension(mcp.ExtensionTasks)
	}
	if err := given.Decode(c.params, params); err != nil {
		return rpc.InvalidParams("params: %w", err)
	}
	return nil
}

// watchable returns the ids of the tasks that the client may watch.
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

// sendTask sends the state of a task. It returns false if the state cannot be sent.
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
