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

// NewMemoryTasks returns a store that keeps tasks in this process: at most so many, with so many bytes of results and
// of what they ask and are told. Zero means 10,000 tasks and 256 MiB. A task is kept as long as its client was
// promised: when the store is full it takes no more, instead of forgetting some.
func NewMemoryTasks(tasks, size int) Tasks {
	return &memoryTasks{
		tasks: cmp.Or(max(tasks, 0), 10_000), size: cmp.Or(max(size, 0), 256<<20),
		byID: map[string]*Task{}, watchers: map[*func(string, int64)]struct{}{},
	}
}

type memoryTasks struct {
	tasks, size int

	mu       sync.Mutex
	byID     map[string]*Task                  // guarded by mu; records are replaced, never changed
	bytes    int                               // guarded by mu
	watchers map[*func(string, int64)]struct{} // guarded by mu
	sweep    *time.Timer                       // guarded by mu; nil if no task expires
	next     time.Time                         // guarded by mu; when it fires
	closed   bool                              // guarded by mu; it keeps nothing any more
	telling  sync.RWMutex                      // held for reading while watchers are called
}

func (s *memoryTasks) Own(identity.Mark) {}

// Close frees the tasks. The store keeps no others: to save one returns [ErrNoTask].
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

// of returns the tasks of a principal behind a place, in no order.
func (s *memoryTasks) of(principal string, behind TaskPlace, now time.Time) (found []*Task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.byID {
		if r.Principal == principal && !r.Expired(now) && r.Place().Compare(behind) > 0 {
			found = append(found, r)
		}
	}
	return found
}

// replace puts r in the place of the revision before it.
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

// full reports whether there is no room for r in the place of old, nil for none. mu is held.
func (s *memoryTasks) full(old, r *Task) bool {
	if old == nil {
		return len(s.byID) >= s.tasks || s.bytes+r.Weight() > s.size
	}
	grows := r.Weight() - old.Weight()
	return grows > TaskSlack && s.bytes+grows > s.size
}

// drop forgets a task. mu is held.
func (s *memoryTasks) drop(r *Task) {
	delete(s.byID, r.ID)
	s.bytes -= r.Weight()
}

// sweepPause is how long expired tasks may stay, so that those which expire together are found together.
const sweepPause = time.Second

// expect sees to it that a task is dropped soon after it has expired. mu is held.
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

// expire drops the tasks whose time is up.
func (s *memoryTasks) expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.purge(time.Now())
}

// purge drops the tasks whose time is up, and waits for the next. mu is held.
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
		s.telling.Lock() // until no listener is being told
		defer s.telling.Unlock()
	}, nil
}

// tell calls those who watch.
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
