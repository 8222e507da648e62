package mcpserver

import (
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/server/quota"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// taskLedger says on whose account the tasks go that this server has made and that are kept, wherever the store is:
// until their time is up. It bounds them, so that one client leaves some of the store to the others.
type taskLedger struct {
	mu      sync.Mutex
	tasks   quota.Shares          // guarded by mu
	bytes   quota.Shares          // guarded by mu
	entries map[string]*taskEntry // guarded by mu; by the id of the task
}

// taskEntry is what the ledger says of a task.
type taskEntry struct {
	who      quota.Account
	weight   int
	revision int64
	end      *time.Timer // nil if the task is kept for ever
}

func newTaskLedger(tasks, bytes int) *taskLedger {
	return &taskLedger{tasks: quota.NewShares(tasks), bytes: quota.NewShares(bytes), entries: map[string]*taskEntry{}}
}

// open enters a new task, and reports false if there is no room for it.
func (l *taskLedger) open(who quota.Account, r *store.Task) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := &taskEntry{who: who, weight: r.Weight(), revision: r.Revision}
	if !l.tasks.Affords(who, 1) || !l.bytes.Affords(who, e.weight) {
		return false
	}
	l.tasks.Reserve(who, 1)
	l.bytes.Reserve(who, e.weight)
	l.entries[r.ID] = e
	if !r.Expires.IsZero() {
		e.end = time.AfterFunc(time.Until(r.Expires), func() { l.drop(r.ID) })
	}
	return true
}

// drop strikes a task off.
func (l *taskLedger) drop(id string) {
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

// save has the next revision of a task saved, if there is room for what it has more than the one before. Tasks that
// another server has made are in the ledger of that.
func (l *taskLedger) save(r *store.Task, save func() error) error {
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

// reserve takes what a task is about to grow. It may always grow a little, so that it can be said that it has failed.
func (l *taskLedger) reserve(r *store.Task) (e *taskEntry, grows int, ok bool) {
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

// settle gives back what was reserved, and enters the weight of what was saved unless there is something later.
func (l *taskLedger) settle(e *taskEntry, r *store.Task, reserved int, saved bool) {
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

// close forgets all tasks: the server makes no more.
func (l *taskLedger) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, e := range l.entries {
		if e.end != nil {
			e.end.Stop()
		}
		delete(l.entries, id)
	}
}
