package store

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/identity"
)

// NewMemoryTasks returns a memory store for one process. It keeps at most the given number of tasks, and at most size
// bytes of results, requests and responses. Zero means 10,000 tasks and 256 MiB. A full store rejects new tasks
// instead of dropping old tasks, because a server promises its clients that tasks stay until they expire.
func NewMemoryTasks(tasks, size int) Tasks {
	return &memoryTasks{
		tasks: cmp.Or(max(tasks, 0), 10_000), size: cmp.Or(max(size, 0), 256<<20),
		byID: map[string]*Task{}, watchers: map[*func(string, int64)]struct{}{},
	}
}

type memoryTasks struct {
	tasks, size int

	mu       sync.Mutex
	byID     map[string]*Task                  // guarded by mu; each record is immutable
	bytes    int                               // guarded by mu
	watchers map[*func(string, int64)]struct{} // guarded by mu
	sweep    *time.Timer                       // guarded by mu; nil if no task expires
	next     time.Time                         // guarded by mu; time at which sweep fires
	closed   bool                              // guarded by mu; the store rejects all tasks
	telling  sync.RWMutex                      // read-locked during calls of watchers
}

func (s *memoryTasks) Own(identity.Mark) {}

// Close frees the tasks. After Close, Save returns [ErrNoTask].
func (s *memoryTasks) Close(identity.Mark) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	clear(s.byID)
	s.bytes = 0
	s.purge(time.Now())
}

func (s *memoryTasks) Load(ctx context.Context, id string) (*Task, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.byID[id]
	if r == nil || r.Expired(time.Now()) {
		return nil, ErrNoTask
	}
	return new(*r), nil
}

func (s *memoryTasks) Save(ctx context.Context, r *Task) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := s.replace(new(*r), time.Now()); err != nil {
		return err
	}
	s.tell(r.ID, r.Revision)
	return nil
}

func (s *memoryTasks) List(ctx context.Context, principal string, behind TaskPlace, limit int) ([]*Task, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	found := s.of(principal, behind, time.Now())
	slices.SortFunc(found, func(a, b *Task) int { return a.Place().Compare(b.Place()) })
	found = found[:min(limit, len(found))]
	for i, r := range found {
		found[i] = new(*r)
	}
	return found, nil
}

// of returns the tasks of a principal after place, unsorted.
func (s *memoryTasks) of(principal string, place TaskPlace, now time.Time) (found []*Task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.byID {
		if r.Principal == principal && !r.Expired(now) && r.Place().Compare(place) > 0 {
			found = append(found, r)
		}
	}
	return found
}

// replace replaces the previous revision of a task by r.
func (s *memoryTasks) replace(r *Task, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.byID[r.ID]
	if old != nil && old.Expired(now) {
		s.drop(old)
		old = nil
	}
	switch {
	case s.closed, old == nil && r.Revision != 1:
		return ErrNoTask
	case old != nil && old.Revision != r.Revision-1:
		return ErrConflict
	case s.full(old, r):
		if s.purge(now); s.full(old, r) {
			return ErrFull
		}
	}
	if old != nil {
		s.drop(old)
	}
	s.byID[r.ID] = r
	s.bytes += r.Weight()
	s.expect(r.Expires, now)
	return nil
}

// full reports whether the store has no room to replace the task old by r. old is nil if r is new. mu is held.
func (s *memoryTasks) full(old, r *Task) bool {
	if old == nil {
		return len(s.byID) >= s.tasks || s.bytes+r.Weight() > s.size
	}
	grows := r.Weight() - old.Weight()
	return grows > TaskSlack && s.bytes+grows > s.size
}

// drop removes a task. mu is held.
func (s *memoryTasks) drop(r *Task) {
	delete(s.byID, r.ID)
	s.bytes -= r.Weight()
}

// sweepPause is the delay of the timer after the expiry of a task, so that one sweep removes many tasks.
const sweepPause = time.Second

// expect sets the timer for a task that expires at the given time. mu is held.
func (s *memoryTasks) expect(expires, now time.Time) {
	if expires.IsZero() || s.sweep != nil && !expires.Before(s.next) {
		return
	}
	if s.sweep != nil {
		s.sweep.Stop()
	}
	s.next = expires.Add(sweepPause)
	s.sweep = time.AfterFunc(s.next.Sub(now), s.expire)
}

// expire removes the expired tasks.
func (s *memoryTasks) expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.purge(time.Now())
}

// purge removes the expired tasks and sets the timer for the next one. mu is held.
func (s *memoryTasks) purge(now time.Time) {
	if s.sweep != nil {
		s.sweep.Stop()
		s.sweep = nil
	}
	var soonest time.Time
	for _, r := range s.byID {
		switch {
		case r.Expired(now):
			s.drop(r)
		case !r.Expires.IsZero() && (soonest.IsZero() || r.Expires.Before(soonest)):
			soonest = r.Expires
		}
	}
	s.expect(soonest, now)
}

func (s *memoryTasks) Watch(_ context.Context, changed func(id string, revision int64)) (stop func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watchers[&changed] = struct{}{}
	return func() {
		s.mu.Lock()
		delete(s.watchers, &changed)
		s.mu.Unlock()
		s.telling.Lock() // wait for running calls of changed
		defer s.telling.Unlock()
	}, nil
}

// tell calls the watchers.
func (s *memoryTasks) tell(id string, revision int64) {
	s.telling.RLock()
	defer s.telling.RUnlock()
	s.mu.Lock()
	watchers := slices.Collect(maps.Keys(s.watchers))
	s.mu.Unlock()
	for _, changed := range watchers {
		(*changed)(id, revision)
	}
}
