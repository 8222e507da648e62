package tasks

import (
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/server/quota"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// ledger has the accounts of the tasks that this server has created and that are kept, in whatever store, until they
// expire. It bounds their number and their bytes, so that one account leaves room in the store to the others.
type ledger struct {
	mu      sync.Mutex
	tasks   quota.Shares      // guarded by mu; number of tasks
	bytes   quota.Shares      // guarded by mu; their weights
	entries map[string]*entry // guarded by mu; by the id of the task
}

// entry is a task in the ledger.
type entry struct {
	who      quota.Account
	weight   int         // of the revision, in bytes
	revision int64       // the latest that was saved
	end      *time.Timer // removes the task when it expires; nil for a task that never expires
}

func newLedger(tasks, bytes int) *ledger {
	return &ledger{tasks: quota.NewShares(tasks), bytes: quota.NewShares(bytes), entries: map[string]*entry{}}
}

// add adds a new task, and reports false if there is no room for the task.
func (l *ledger) add(who quota.Account, r *store.Task) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := &entry{who: who, weight: r.Weight(), revision: r.Revision}
	if !l.tasks.Affords(who, 1) || !l.bytes.Affords(who, e.weight) {
		return false
	}
	l.tasks.Reserve(who, 1)
	l.bytes.Reserve(who, e.weight)
	l.entries[r.ID] = e
	if !r.Expires.IsZero() {
		e.end = time.AfterFunc(time.Until(r.Expires), func() { l.remove(r.ID) })
	}
	return true
}

// remove removes a task.
func (l *ledger) remove(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.entries[id]
	if e == nil {
		return
	}
	delete(l.entries, id)
	l.tasks.Release(e.who, 1)
	l.bytes.Release(e.who, e.weight)
	if e.end != nil {
		e.end.Stop()
	}
}

// save calls save to save the next revision of a task, or returns [store.ErrFull] if there is no room for its growth.
// A task that another server has created is in the ledger of that server.
func (l *ledger) save(r *store.Task, save func() error) error {
	e, grows, ok := l.reserve(r)
	if !ok {
		return store.ErrFull
	}
	err := save()
	if e != nil {
		l.settle(e, r, grows, err == nil)
	}
	return err
}

// reserve reserves the bytes by which a task grows. A task may always grow a little, so that it can fail.
func (l *ledger) reserve(r *store.Task) (e *entry, grows int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e = l.entries[r.ID]; e == nil {
		return nil, 0, true
	}
	grows = max(0, r.Weight()-e.weight)
	if grows > store.TaskSlack && !l.bytes.Affords(e.who, grows) {
		return nil, 0, false
	}
	l.bytes.Reserve(e.who, grows)
	return e, grows, true
}

// settle releases the reserved bytes, and enters the weight of a revision that was saved, unless a later revision was
// saved before.
func (l *ledger) settle(e *entry, r *store.Task, reserved int, saved bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.bytes.Release(e.who, reserved)
	if !saved || r.Revision <= e.revision || l.entries[r.ID] != e {
		return
	}
	l.bytes.Release(e.who, e.weight)
	e.weight, e.revision = r.Weight(), r.Revision
	l.bytes.Reserve(e.who, e.weight)
}

// close removes all tasks. No task is added after that.
func (l *ledger) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, e := range l.entries {
		if e.end != nil {
			e.end.Stop()
		}
		delete(l.entries, id)
	}
}
