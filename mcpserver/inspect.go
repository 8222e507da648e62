package mcpserver

import (
	"time"

	"github.com/mcpotel/mcpotel/inspect"
	"github.com/mcpotel/mcpotel/internal/running"
	"github.com/mcpotel/mcpotel/internal/server/engine"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// Servers returns the active servers of this process in the order of their creation. A server is active while it
// serves a connection or has an [HTTPHandler] that is not shut down.
func Servers() []*Server {
	var all []*Server
	for _, v := range running.Servers.All() {
		all = append(all, v.(*Server))
	}
	return all
}

// Inspect returns a snapshot of the server's activity. The data of each connection and of each HTTP handler is
// consistent. The server collects these data one after the other, because it has no lock over all its connections.
func (s *Server) Inspect() inspect.Server {
	i := inspect.Server{
		Time: time.Now(), Server: s.info.Name, Version: s.info.Version,
		Tools: s.tools.len(), Resources: s.resources.len(), Templates: s.resources.templates.len(),
		Prompts: s.prompts.len(),
	}
	s.engine.Inspect(&i)
	i.Limits.RequestTimeout = s.cfg.RequestTimeout
	s.tasks.inspect(&i)
	return i
}

func (t *serverTasks) inspect(i *inspect.Server) {
	i.MaxTasks = t.keeper.Options.MaxRunning
	t.keeper.Each(func(tool string, task *store.Task) {
		see := inspect.Task{Tool: engine.Excerpt(tool)}
		if task != nil {
			see.Status, see.Since, see.Age = task.Status, task.Created, i.Time.Sub(task.Created)
		}
		i.RunningTasks++
		i.Tasks = engine.Among(i.Tasks, see, func(a, b inspect.Task) int { return a.Since.Compare(b.Since) })
	})
}

func (r *registry[T]) len() int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return len(r.byName)
}

func (a *audience) len() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.subs)
}

// len returns the number of URIs. A nil list has none.
func (w *watchlist) len() int {
	if w == nil {
		return 0
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.uris)
}

// Targets implements [engine.Targeted].
func (c *call) Targets() (target, uri string) { return c.target, c.uri }
