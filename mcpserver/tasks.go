package mcpserver

import (
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpotel/mcpotel/internal/identity"
	"github.com/mcpotel/mcpotel/internal/server/engine"
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
	offered atomic.Bool   // the server answers the methods of tasks; false if they have other handlers
}

// ownTasks is a memory store that belongs to one server.
type ownTasks interface{ Close(identity.Mark) }

func newServerTasks(s *Server) (*serverTasks, error) {
	cfg, err := newTaskOptions(s.cfg.Tasks, s.cfg.FrameLimit)
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

// offer registers the methods of tasks, and reports false if they have other handlers.
func (t *serverTasks) offer() bool {
	t.once.Do(func() { t.offered.Store(t.s.methods.add(feature{declare: declareTasks, methods: t.methods()})) })
	return t.offered.Load()
}

// declareTasks declares to clients that calls may become tasks, as an extension or as part of their revision.
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

// declareList declares that the client can list its tasks, if the server knows the client's principal: clients without
// a principal would see each other's tasks.
// (specification 2025-11-25, basic/utilities/tasks, "Task Isolation and Access Control")
func (t *serverTasks) declareList(c *mcp.ServerCapabilities, principal string) {
	if principal != "" && c.Tasks != nil && t.offered.Load() {
		c.Tasks = new(*c.Tasks)
		c.Tasks.List = mcp.Object("{}")
	}
}
