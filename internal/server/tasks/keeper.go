package tasks

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/lock"
	"github.com/mcpotel/mcpotel/internal/server/quota"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// Options configure a [Keeper].
type Options struct {
	// Store stores the tasks. Its methods must return in bounded time.
	Store store.Tasks
	// Free removes all tasks from a store that only this server uses. It is nil for a store that several servers share;
	// there, each running task has a lease.
	Free func()

	PollInterval time.Duration // interval at which clients should poll a task
	MaxRunning   int           // maximum number of concurrent runs
	MaxKept      int           // maximum number of tasks of this server in the store
	MaxKeptBytes int           // maximum total weight of these tasks, in bytes
	MaxResult    int           // maximum size of a task's result, in bytes
	Lease        time.Duration // time without a renewal after which other servers fail a task
	Stopping     *mcp.Error    // error of the calls and tasks that Shutdown ends
}

// Keeper manages the tasks of a server. It runs the tasks that this server has created, and answers requests about all
// tasks in the store.
type Keeper struct {
	Options Options // immutable once the first task was created

	owner  string     // id of this server in the store
	group  *rpc.Group // runs the handlers, and [Run.sync]
	ledger *ledger

	turn lock.Mutex // held while a watch of the store starts or stops

	mu        sync.Mutex
	runs      map[string]*Run                  // guarded by mu; by task id, even if the call has not become a task yet
	listeners map[string]map[listener]struct{} // guarded by mu; by task id
	claims    map[question]*wait               // guarded by mu; for each question of a task, the wait that asks the client
	places    quota.Shares                     // guarded by mu; limits the number of runs
	unwatch   func()                           // guarded by mu; stops watching the store; nil if not watching
	closed    bool                             // guarded by mu; no new runs start
}

// New returns a Keeper.
func New(o Options) *Keeper {
	return &Keeper{
		Options: o, owner: rand.Text(), group: rpc.NewGroup(0),
		ledger: newLedger(o.MaxKept, o.MaxKeptBytes), places: quota.NewShares(o.MaxRunning),
		runs: map[string]*Run{}, listeners: map[string]map[listener]struct{}{}, claims: map[question]*wait{},
	}
}

// expired is the type of ErrExpired. It counts as a time limit.
type expired struct{}

func (expired) Error() string        { return "the task has expired" }
func (expired) Is(target error) bool { return target == rpc.ErrTimeLimit }

var (
	// ErrExpired is the cancellation cause of a handler's context when its task has expired.
	ErrExpired error = expired{}

	errTaken  = errors.New("another process took the task over, because this process did not renew its lease in time")
	errLost   = &mcp.Error{Code: mcp.CodeInternalError, Message: "the server process that ran the task has ended"}
	errResult = &mcp.Error{Code: mcp.CodeInternalError, Message: "the result of the task is too large to store"}
)

// storeTimeout limits store calls that no client waits for.
const storeTimeout = 10 * time.Second

// lease returns the end of a lease that starts at the given time. It is zero for a store that only this server uses.
func (k *Keeper) lease(at time.Time) time.Time {
	if k.Options.Free != nil {
		return time.Time{}
	}
	return at.Add(k.Options.Lease)
}

// renewal returns the time between two renewals of the lease.
func (k *Keeper) renewal() time.Duration { return k.Options.Lease / 3 }

// orphaned reports whether the server that runs the task is dead. It is always false for this server's own tasks,
// because wall clocks jump, processes pause, and stores become unreachable. The server renews the lease of such a task
// instead.
func (k *Keeper) orphaned(t *store.Task, at time.Time) bool {
	if !lapsed(t, at) {
		return false
	}
	r := k.run(t.ID)
	if r != nil {
		r.errand.start()
	}
	return r == nil
}

// run returns the run of a task, or nil if the task does not run in this server.
func (k *Keeper) run(id string) *Run {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.runs[id]
}

// change applies f to a task and saves the new revision. f reports whether it has changed anything. If another server
// saves a revision at the same time, change calls f again with that revision. known is the revision to start from; if
// known is nil, change loads the task.
func (k *Keeper) change(ctx context.Context, id string, known *store.Task, f func(*store.Task) bool) (*store.Task,
	error) {
	for {
		var t *store.Task
		if t, known = known, nil; t != nil {
			t = new(*t)
		} else {
			var err error
			if t, err = k.Options.Store.Load(ctx, id); err != nil {
				return nil, err
			}
		}
		if !f(t) {
			return t, nil
		}
		t.Revision++
		err := k.ledger.save(t, func() error { return k.Options.Store.Save(ctx, t) })
		if !errors.Is(err, store.ErrConflict) {
			return t, err
		}
	}
}

// load loads a task. If the server of the task is dead, load marks the task as failed.
func (k *Keeper) load(ctx context.Context, id string) (*store.Task, error) {
	t, err := k.Options.Store.Load(ctx, id)
	if err != nil || !k.orphaned(t, now()) {
		return t, err
	}
	return k.change(ctx, id, t, func(t *store.Task) bool {
		at := now()
		if !lapsed(t, at) {
			return false
		}
		abandon(t, errLost, at)
		return true
	})
}

// listener is notified of each change of a task. changed must not wait.
type listener interface{ changed(id string) }

// listen adds a listener for a task. mu is held.
func (k *Keeper) listen(id string, l listener) {
	if k.listeners[id] == nil {
		k.listeners[id] = map[listener]struct{}{}
	}
	k.listeners[id][l] = struct{}{}
}

// unlisten removes a listener. mu is held.
func (k *Keeper) unlisten(id string, l listener) {
	delete(k.listeners[id], l)
	if len(k.listeners[id]) == 0 {
		delete(k.listeners, id)
	}
}

// watch watches the store until Shutdown. Without watching, this server sees the changes of other servers only when it
// renews the lease.
func (k *Keeper) watch(ctx context.Context) {
	if k.turn.LockContext(ctx) != nil {
		return
	}
	defer k.turn.Unlock()
	k.mu.Lock()
	watched := k.closed || k.unwatch != nil
	k.mu.Unlock()
	if watched {
		return
	}
	stop, err := k.Options.Store.Watch(ctx, k.saved)
	if err != nil {
		return // best effort: the next task tries again
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.unwatch = stop
}

// saved reports a revision, which any server may have saved, to the run and the listeners of the task.
func (k *Keeper) saved(id string, revision int64) {
	k.mu.Lock()
	r := k.runs[id]
	listeners := slices.Collect(maps.Keys(k.listeners[id]))
	k.mu.Unlock()
	if r != nil {
		r.saved(revision)
	}
	for _, l := range listeners {
		l.changed(id)
	}
}

// enter reserves a place for a run and registers the run.
func (k *Keeper) enter(r *Run) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.closed:
		return k.Options.Stopping
	case !k.places.Affords(r.Account, 1):
		return rpc.ErrBusy
	}
	k.places.Reserve(r.Account, 1)
	k.runs[r.id] = r
	return nil
}

// leave releases the place of a run.
func (k *Keeper) leave(r *Run) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.runs[r.id] != nil {
		delete(k.runs, r.id)
		k.places.Release(r.Account, 1)
	}
}

// Each calls the function see for each run, with the run's tool and the latest revision of its task. The revision is
// nil before the call becomes a task.
func (k *Keeper) Each(see func(tool string, task *store.Task)) {
	for _, r := range k.running() {
		see(r.Tool, r.latest())
	}
}

// running returns all runs.
func (k *Keeper) running() []*Run {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Collect(maps.Values(k.runs))
}

// Usage yields the number of runs, the number of kept tasks and their size, each with its limit.
func (k *Keeper) Usage(yield rpc.YieldUsage) {
	k.mu.Lock()
	running, limit := k.places.Used, k.places.Limit
	k.mu.Unlock()
	yield(names.CapacityTask, running, limit)
	k.ledger.mu.Lock()
	kept, bytes := k.ledger.tasks, k.ledger.bytes
	k.ledger.mu.Unlock()
	yield(names.CapacityKeptTask, kept.Used, kept.Limit)
	yield(names.MemoryTaskResult, bytes.Used, bytes.Limit)
}

// Shutdown refuses new runs and waits for the current runs. If ctx ends first, Shutdown cancels the contexts of the
// handlers, which fails their tasks, and returns the cause of ctx. If a handler ignores the cancellation, Shutdown
// marks its task as failed after [rpc.Settle]; the error contains the number of such handlers.
func (k *Keeper) Shutdown(ctx context.Context) error {
	k.mu.Lock()
	k.closed = true
	k.mu.Unlock()
	var err error
	if k.group.Wait(ctx) > 0 {
		err = context.Cause(ctx)
		for _, r := range k.running() {
			r.cancel(k.Options.Stopping)
		}
		rpc.Wait(k.group, rpc.Settle)
		if left := k.running(); len(left) > 0 {
			err = errors.Join(err, fmt.Errorf("tasks with handlers still running although their contexts have ended: %d",
				len(left)))
			k.disown(left)
		}
	}
	k.stopWatching()
	rpc.CloseGroup(k.group)
	k.ledger.close()
	if k.Options.Free != nil {
		k.Options.Free()
	}
	return err
}

// stopWatching ends the watch of the store.
func (k *Keeper) stopWatching() {
	k.turn.Lock() // watch holds turn no longer than the timeout of its store call
	defer k.turn.Unlock()
	k.mu.Lock()
	unwatch := k.unwatch
	k.unwatch = nil
	k.mu.Unlock()
	if unwatch != nil {
		unwatch()
	}
}

// disown marks the tasks of some runs as failed: Shutdown no longer waits for these runs.
func (k *Keeper) disown(runs []*Run) {
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	var all sync.WaitGroup
	for _, r := range runs {
		all.Go(func() {
			_, _ = k.change(ctx, r.id, nil, func(t *store.Task) bool { // on failure, the task's lease expires
				if t.Status.Terminal() {
					return false
				}
				abandon(t, k.Options.Stopping, now())
				return true
			})
			k.leave(r)
		})
	}
	all.Wait()
}
