package mcpserver

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// maxTasksWatched is how many tasks one subscription may be about.
const maxTasksWatched = 1000

// watchedTaskCost is about how many bytes it takes to watch a task: its id is one that the server has made.
const watchedTaskCost = 256

// taskWatch tells one subscription how its tasks get on: each status once it is there, but for those that others have
// overtaken before the client took them.
// (tasks extension, "Task Status Notifications")
type taskWatch struct {
	k      *taskKeeper
	sub    *subscription
	errand errand

	mu   sync.Mutex
	sent map[string]int64 // guarded by mu; the latest change the client knows, for each task that is not over
	due  []string         // guarded by mu; tasks to look at
	// guarded by mu; to look at all of them: a server that has died tells no other. Nil when all is over
	timer *time.Timer
	over  bool // guarded by mu
}

// watchable returns those of the tasks that a client may watch.
func (k *taskKeeper) watchable(ctx context.Context, c *call, ids []string) ([]string, error) {
	if len(ids) == 0 || !k.offered.Load() {
		return nil, nil
	}
	if !c.declares(mcp.ExtensionTasks) {
		return nil, missingExtension(mcp.ExtensionTasks)
	}
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	if len(ids) > maxTasksWatched {
		return nil, invalidParams("params.notifications.taskIds: %d tasks, want %d at most", len(ids), maxTasksWatched)
	}
	var known []string
	for _, id := range ids {
		_, err := k.find(ctx, c, id)
		switch _, unknown := errors.AsType[*mcp.Error](err); {
		case err == nil:
			known = append(known, id)
		case !unknown:
			return nil, err
		}
	}
	return known, nil
}

// serve begins to tell a subscription of its tasks, if there are any, beginning with how they are now: a status that
// was reached before the client could listen is news to it none the less.
func (k *taskKeeper) serve(sub *subscription) {
	if len(sub.filter.TaskIDs) == 0 {
		return
	}
	w := &taskWatch{k: k, sub: sub, sent: map[string]int64{}}
	w.errand = errand{group: sub.call.x.Group, do: w.tell}
	k.watch(sub.call.Context())
	sub.mu.Lock()
	defer sub.mu.Unlock()
	if sub.over {
		return
	}
	sub.tasks = w
	for _, id := range sub.filter.TaskIDs {
		w.sent[id] = 0
	}
	w.mu.Lock()
	w.due = slices.Clone(sub.filter.TaskIDs)
	w.timer = time.AfterFunc(k.cfg.Lease, w.look)
	w.mu.Unlock()
	k.mu.Lock()
	for _, id := range sub.filter.TaskIDs {
		k.listen(id, w)
	}
	k.mu.Unlock()
	w.errand.ask()
}

// note sees to it that the client hears of a change. It does not wait.
func (w *taskWatch) note(id string) {
	w.mu.Lock()
	if !w.over && !slices.Contains(w.due, id) {
		w.due = append(w.due, id)
	}
	w.mu.Unlock()
	w.errand.ask()
}

// look sees to it that all tasks are looked at.
func (w *taskWatch) look() {
	w.mu.Lock()
	if !w.over && len(w.sent) > 0 {
		w.due = slices.Collect(maps.Keys(w.sent))
		w.timer.Reset(w.k.cfg.Lease)
	}
	w.mu.Unlock()
	w.errand.ask()
}

// tell looks at the tasks that are due, and tells the client what it does not know.
func (w *taskWatch) tell() {
	for id, known, ok := w.next(); ok; id, known, ok = w.next() {
		ctx, cancel := context.WithTimeout(w.sub.call.Context(), storeTimeout)
		t, err := w.k.load(ctx, id)
		cancel()
		switch {
		case errors.Is(err, store.ErrNoTask):
			w.forget(id)
			continue
		case err != nil || t.Change <= known:
			continue
		}
		params, err := mcp.AppendParams(nil, &mcp.TaskStatusParams{DetailedTask: w.k.shown(t)})
		if err != nil || !w.sub.tellTask(params) {
			w.stop()
			return
		}
		w.knows(t)
	}
}

// next returns a task that is due, and its latest change that the client knows.
func (w *taskWatch) next() (id string, known int64, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for !w.over && len(w.due) > 0 {
		id = w.due[0]
		w.due = w.due[1:]
		if known, ok = w.sent[id]; ok {
			return id, known, true
		}
	}
	return "", 0, false
}

// knows notes what the client has been told. Of a task that is over there is no more to tell.
func (w *taskWatch) knows(t *store.Task) {
	if t.Status.Terminal() {
		w.forget(t.ID)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent[t.ID] = t.Change
}

func (w *taskWatch) forget(id string) {
	w.mu.Lock()
	delete(w.sent, id)
	w.mu.Unlock()
	w.k.mu.Lock()
	defer w.k.mu.Unlock()
	w.k.unlisten(id, w)
}

// stop ends the watch, nil or not. Nothing is begun afterwards.
func (w *taskWatch) stop() {
	if w == nil {
		return
	}
	w.mu.Lock()
	w.over, w.due = true, nil
	w.timer.Stop()
	w.mu.Unlock()
	w.k.mu.Lock()
	defer w.k.mu.Unlock()
	for _, id := range w.sub.filter.TaskIDs {
		w.k.unlisten(id, w)
	}
}

// tellTask sends how a task is, and reports whether that was possible.
func (sub *subscription) tellTask(params []byte) bool {
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
