package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

const (
	// MaxWatched is the maximum number of tasks in one watch.
	MaxWatched = 1000
	// WatchedCost is the approximate memory for a watched task, in bytes. The server generates task ids, so their length
	// is bounded.
	WatchedCost = 256
)

// Watch sends the states of tasks to one subscription. If a state changes again before the Watch has sent it, the Watch
// sends only the later state. (tasks extension, "Task Status Notifications")
type Watch struct {
	keeper *Keeper
	ctx    context.Context
	ids    []string
	send   func(params json.RawMessage) bool
	errand errand // calls sendDue

	mu    sync.Mutex
	sent  map[string]int64 // guarded by mu; latest change sent for each unfinished task
	due   []string         // guarded by mu; tasks to examine
	timer *time.Timer      // guarded by mu; makes all tasks due, because a dead server reports no changes
	over  bool             // guarded by mu
}

// Watchable returns the tasks among ids that are visible to the client.
func (k *Keeper) Watchable(ctx context.Context, c Client, ids []string) ([]string, error) {
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

// NewWatch returns a watch of tasks that ends with ctx. send sends the params of notifications/tasks, and reports false
// if the subscription has ended; it is called in a goroutine of the group. NewWatch may wait for the store.
func (k *Keeper) NewWatch(ctx context.Context, g *rpc.Group, ids []string, send func(json.RawMessage) bool) *Watch {
	w := &Watch{keeper: k, ctx: ctx, ids: ids, send: send, sent: map[string]int64{}}
	w.errand = errand{group: g, do: w.sendDue}
	k.watch(ctx)
	return w
}

// Start starts the watch. It first sends the current states of the tasks, because the client may have missed them.
// Start does not wait.
func (w *Watch) Start() {
	w.mu.Lock()
	for _, id := range w.ids {
		w.sent[id] = 0
	}
	w.due = slices.Clone(w.ids)
	w.timer = time.AfterFunc(w.keeper.Options.Lease, w.lookAtAll)
	w.mu.Unlock()
	w.keeper.mu.Lock()
	for _, id := range w.ids {
		w.keeper.listen(id, w)
	}
	w.keeper.mu.Unlock()
	w.errand.start()
}

// changed implements [listener].
func (w *Watch) changed(id string) {
	w.mu.Lock()
	if !w.over && !slices.Contains(w.due, id) {
		w.due = append(w.due, id)
	}
	w.mu.Unlock()
	w.errand.start()
}

// lookAtAll makes all tasks due.
func (w *Watch) lookAtAll() {
	w.mu.Lock()
	if !w.over && len(w.sent) > 0 {
		w.due = slices.Collect(maps.Keys(w.sent))
		w.timer.Reset(w.keeper.Options.Lease)
	}
	w.mu.Unlock()
	w.errand.start()
}

// sendDue examines the due tasks and sends states that are newer than the last one sent.
func (w *Watch) sendDue() {
	for id, known, ok := w.next(); ok; id, known, ok = w.next() {
		ctx, cancel := context.WithTimeout(w.ctx, storeTimeout)
		t, err := w.keeper.load(ctx, id)
		cancel()
		switch {
		case errors.Is(err, store.ErrNoTask):
			w.forget(id)
			continue
		case err != nil || t.Change <= known:
			continue
		}
		params, err := mcp.AppendParams(nil, &mcp.TaskStatusParams{DetailedTask: w.keeper.show(t)})
		if err != nil || !w.send(params) {
			w.Stop()
			return
		}
		w.noteSent(t)
	}
}

// next removes a due task and returns it, with the number of the latest change that was sent.
func (w *Watch) next() (id string, known int64, ok bool) {
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

// noteSent records the state that was sent. After a final state it forgets the task.
func (w *Watch) noteSent(t *store.Task) {
	if t.Status.Terminal() {
		w.forget(t.ID)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent[t.ID] = t.Change
}

func (w *Watch) forget(id string) {
	w.mu.Lock()
	delete(w.sent, id)
	w.mu.Unlock()
	w.keeper.mu.Lock()
	defer w.keeper.mu.Unlock()
	w.keeper.unlisten(id, w)
}

// Stop ends the watch. For one state that is already loaded, a call of send may still follow. w may be nil; otherwise
// Start must have been called.
func (w *Watch) Stop() {
	if w == nil {
		return
	}
	w.mu.Lock()
	w.over, w.due = true, nil
	w.timer.Stop()
	w.mu.Unlock()
	w.keeper.mu.Lock()
	defer w.keeper.mu.Unlock()
	for _, id := range w.ids {
		w.keeper.unlisten(id, w)
	}
}
