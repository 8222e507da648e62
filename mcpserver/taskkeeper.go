package mcpserver

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpotel/mcpotel/internal/identity"
	"github.com/mcpotel/mcpotel/internal/lock"
	"github.com/mcpotel/mcpotel/internal/server/quota"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// taskKeeper has the tasks of a server: it runs those that began here, and looks after all that are in the store.
type taskKeeper struct {
	s     *Server
	cfg   TaskOptions
	owner string     // names this server in the store
	group *rpc.Group // of handlers, and of errands to the store
	once  sync.Once
	own   ownTasks // the store, if no other server can have it; nil otherwise

	ledger   *taskLedger
	conflict bool // a method of tasks has another handler; set by offer
	offered  atomic.Bool

	turn lock.Mutex // held to begin and to end to watch the store

	mu sync.Mutex
	// guarded by mu; handlers that run here, of tasks and of calls that may become some
	runs    map[string]*taskRun
	watches map[string]map[taskListener]struct{} // guarded by mu; by the tasks that they are about
	claims  map[askedKey]*taskWait               // guarded by mu; who puts what a task asks to its client
	places  quota.Shares                         // guarded by mu; of those that run
	unwatch func()                               // guarded by mu; ends to watch the store, nil while it is not watched
	closed  bool                                 // guarded by mu; no task begins any more
}

func newTaskKeeper(s *Server) (*taskKeeper, error) {
	cfg, err := newTaskOptions(s.cfg.Tasks, s.cfg.FrameLimit)
	return &taskKeeper{
		s: s, cfg: cfg, owner: rand.Text(), group: rpc.NewGroup(0),
		ledger: newTaskLedger(cfg.MaxKept, cfg.MaxKeptBytes), places: quota.NewShares(cfg.MaxRunning),
		runs: map[string]*taskRun{}, watches: map[string]map[taskListener]struct{}{}, claims: map[askedKey]*taskWait{},
	}, err
}

// offer makes the server answer the methods of tasks, and reports false if they have other handlers.
func (k *taskKeeper) offer() bool {
	k.once.Do(func() {
		if k.cfg.Store == nil {
			k.cfg.Store = store.NewMemoryTasks(0, 0)
			k.own, _ = k.cfg.Store.(ownTasks)
		}
		k.cfg.Store = k.s.guardTasks(k.cfg.Store)
		k.conflict = !k.s.methods.add(feature{declare: declareTasks, methods: k.methods()})
		k.offered.Store(!k.conflict)
	})
	return !k.conflict
}

// ownTasks is a store in memory that belongs to one server.
type ownTasks interface{ Close(identity.Mark) }

// lease returns the end of the lease of a task that this server runs, zero for none: only other servers need it.
func (k *taskKeeper) lease(now time.Time) time.Time {
	if k.own != nil {
		return time.Time{}
	}
	return now.Add(k.cfg.Lease)
}

// orphaned reports whether the server that runs the task is gone. This server is never gone for itself: wall clocks
// jump, processes pause, and stores are out of reach, so it renews the lease instead.
func (k *taskKeeper) orphaned(r *store.Task, now time.Time) bool {
	if !lapsed(r, now) {
		return false
	}
	k.mu.Lock()
	run := k.runs[r.ID]
	k.mu.Unlock()
	if run != nil {
		run.errand.ask()
	}
	return run == nil
}

// declareTasks says that calls may become tasks, to clients that know tasks as an extension or as part of their
// revision. (tasks extension, "Capability Negotiation")
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

// storeTimeout bounds what the server asks of a store on its own account.
const storeTimeout = 10 * time.Second

// change saves what f makes of a task, and does so again with what another has made of it meanwhile. It begins with
// what is known, nil for nothing. f reports whether there is anything to save; it replaces maps and does not change
// them.
func (k *taskKeeper) change(ctx context.Context, id string, known *store.Task, f func(*store.Task) bool) (*store.Task,
	error) {
	for {
		var r *store.Task
		if r, known = known, nil; r != nil {
			r = new(*r)
		} else {
			var err error
			if r, err = k.cfg.Store.Load(ctx, id); err != nil {
				return nil, err
			}
		}
		if !f(r) {
			return r, nil
		}
		r.Revision++
		if err := k.ledger.save(r, func() error { return k.cfg.Store.Save(ctx, r) }); !errors.Is(err, store.ErrConflict) {
			return r, err
		}
	}
}

// load returns a task as it is, and sees to it that one whose server is gone fails.
func (k *taskKeeper) load(ctx context.Context, id string) (*store.Task, error) {
	r, err := k.cfg.Store.Load(ctx, id)
	if err != nil || !k.orphaned(r, stamp()) {
		return r, err
	}
	return k.change(ctx, id, r, func(r *store.Task) bool {
		now := stamp()
		if !lapsed(r, now) {
			return false
		}
		abandonTask(r, errTaskLost, now)
		return true
	})
}

// changed is told of each revision that is saved by anybody.
func (k *taskKeeper) changed(id string, revision int64) {
	k.mu.Lock()
	run := k.runs[id]
	watches := slices.Collect(maps.Keys(k.watches[id]))
	k.mu.Unlock()
	if run != nil {
		run.changed(revision)
	}
	for _, w := range watches {
		w.note(id)
	}
}

// taskListener is told of each change of a task, and does not wait.
type taskListener interface{ note(id string) }

// listen tells l of a task until unlisten is called. mu is held.
func (k *taskKeeper) listen(id string, l taskListener) {
	if k.watches[id] == nil {
		k.watches[id] = map[taskListener]struct{}{}
	}
	k.watches[id][l] = struct{}{}
}

// unlisten takes a listener off the table. mu is held.
func (k *taskKeeper) unlisten(id string, l taskListener) {
	delete(k.watches[id], l)
	if len(k.watches[id]) == 0 {
		delete(k.watches, id)
	}
}

// watch sees to it that changed is told, until the server shuts down. Without it, what others do to a task is seen when
// this server renews its lease.
func (k *taskKeeper) watch(ctx context.Context) {
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
	stop, err := k.cfg.Store.Watch(ctx, k.changed)
	if err != nil {
		return // the next task tries again
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.unwatch = stop
}

// enter takes the place of a handler, unless there are too many.
func (k *taskKeeper) enter(r *taskRun) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.closed:
		return errShuttingDown
	case !k.places.Affords(r.peer.who, 1):
		return rpc.ErrBusy
	}
	k.places.Reserve(r.peer.who, 1)
	k.runs[r.id] = r
	return nil
}

// leave gives the place back.
func (k *taskKeeper) leave(r *taskRun) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.runs[r.id] != nil {
		delete(k.runs, r.id)
		k.places.Release(r.peer.who, 1)
	}
}

// Shutdown ends the tasks that run in this server, after whatever serves its clients has ended: it lets no more begin,
// and waits for those that run. When ctx ends before they do, the contexts of their handlers end, which fails the
// tasks, and the cause of ctx is returned; a handler that ignores that for a second is left behind, its task failed all
// the same, and the error says how many there are. A server that never had tasks need not be shut down.
//
// The server forgets the tasks in a store of its own, one that [TaskOptions] do not name.
//
// A task whose process dies without that fails when its lease is over, if others share its store. See [TaskOptions].
func (s *Server) Shutdown(ctx context.Context) error {
	k := s.tasks
	k.mu.Lock()
	k.closed = true
	k.mu.Unlock()
	var err error
	if k.group.Wait(ctx) > 0 {
		err = context.Cause(ctx)
		for _, r := range k.left() {
			r.cancel(errShuttingDown)
		}
		rpc.Wait(k.group, rpc.Settle)
		if left := k.left(); len(left) > 0 {
			err = errors.Join(err, fmt.Errorf("tasks whose handlers ignore the end of their contexts: %d", len(left)))
			k.disown(left)
		}
	}
	k.turn.Lock() // held by those who wait for the store, for as long as they wait at most
	defer k.turn.Unlock()
	k.mu.Lock()
	unwatch := k.unwatch
	k.unwatch = nil
	k.mu.Unlock()
	if unwatch != nil {
		unwatch()
	}
	rpc.CloseGroup(k.group)
	k.ledger.close()
	if k.own != nil {
		k.own.Close(identity.Mark{})
	}
	return err
}

// left returns the tasks that still run.
func (k *taskKeeper) left() []*taskRun {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Collect(maps.Values(k.runs))
}

// disown fails tasks whose handlers the shutdown does not wait for any more.
func (k *taskKeeper) disown(runs []*taskRun) {
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	var all sync.WaitGroup
	for _, r := range runs {
		all.Go(func() {
			_, _ = k.change(ctx, r.id, nil, func(r *store.Task) bool { // else its lease will end
				if r.Status.Terminal() {
					return false
				}
				abandonTask(r, errShuttingDown, stamp())
				return true
			})
			k.leave(r)
		})
	}
	all.Wait()
}

var (
	errTaskLost    = &mcp.Error{Code: mcp.CodeInternalError, Message: "the server that ran the task is gone"}
	errTaskResult  = &mcp.Error{Code: mcp.CodeInternalError, Message: "the result of the task is too large to be kept"}
	errTaskExpired = errors.New("the time of the task is up")
	errTaskTaken   = errors.New("the task was given up: no sign of life of this server was seen in time")
)

// errand does one thing in a task of a group, when asked: once at a time, and once more if it was asked meanwhile.
type errand struct {
	group *rpc.Group
	do    func()

	mu      sync.Mutex
	running bool // guarded by mu
	again   bool // guarded by mu
}

// ask does not wait.
func (e *errand) ask() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.running {
		e.again = true
		return
	}
	e.running = e.group.Start(e)
}

func (e *errand) Run() {
	usercode.Pass(func() {
		for again := true; again; again = e.more() {
			e.do()
		}
	}, e.dropped)
}

// more reports whether it was asked for meanwhile.
func (e *errand) more() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.running, e.again = e.again, false
	return e.running
}

// dropped goes on in another goroutine if there is more to do than what has ended this one.
func (e *errand) dropped() {
	if e.more() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.running = e.group.Start(e)
	}
}
