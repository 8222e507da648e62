package tasks

import (
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/server/quota"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// ledger records the owner of each task that this server has created and that has not expired. It limits the number and
// the size of the tasks, so that no account fills the store. It works with any store.
type ledger struct {
	mu      sync.Mutex
	tasks   quota.Shares      // guarded by mu; limits the number of tasks
	bytes   quota.Shares      // guarded by mu; limits the total weight
	entries map[string]*entry // guarded by mu; by task id
}

// entry describes one task in the ledger.
type entry struct {
	who      quota.Account
	weight   int         // weight of the revision, in bytes
	revision int64       // latest saved revision
	end      *time.Timer // removes the entry when the task expires; nil if it never expires
}

func newLedger(tasks, bytes int) *ledger {
	return &ledger{tasks: quota.NewShares(tasks), bytes: quota.NewShares(bytes), entries: map[string]*entry{}}
}

// add adds a new task. It reports false if the limits leave no room for the task.
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

// save saves the next revision of a task by a call of the function save. It returns [store.ErrFull] if the task may not
// grow that much. A task of another server belongs to the ledger of that server, so save does not limit it.
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

// reserve reserves the bytes by which a task grows. A task may always grow by store.TaskSlack, so that it can be marked
// as failed.
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

// settle releases the reservation. If the revision was saved and is the latest one, settle records its weight.
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

// close removes all tasks. The caller must not add tasks after it.
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
