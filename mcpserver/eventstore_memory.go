package mcpserver

import (
	"bytes"
	"cmp"
	"container/list"
	"context"
	"iter"
	"slices"
	"sync"
)

// NewMemoryEventStore returns a store that keeps, for each session, the latest events: at most so many, with so many bytes
// of data together. Zero means 1,000 events and 4 MiB. All sessions together keep 64 MiB, or what one may keep if that is
// more; beyond that the oldest events of all go first. It is a [SharedEventStore] for the handlers of one process.
func NewMemoryEventStore(events, size int) EventStore {
	events, size = cmp.Or(max(events, 0), 1000), cmp.Or(max(size, 0), 4<<20)
	return &memoryStore{events: events, size: size, total: max(64<<20, size), sessions: map[string]*kept{}}
}

type memoryStore struct {
	events, size int // of one session
	total        int // bytes of all

	mu       sync.Mutex
	sessions map[string]*kept // guarded by mu
	ages     list.List        // guarded by mu; *kept for each event, of the session it is the oldest of, in the order of their coming
	bytes    int              // guarded by mu

	shared map[string]*numberedStreams // guarded by mu; sessions with streams from Open
	news   chan struct{}               // guarded by mu; closed when something happens, nil unless somebody waits
}

// kept are the events of a session, the oldest first.
type kept struct {
	session string
	events  []keptEvent
	bytes   int
}

type keptEvent struct {
	Event
	age *list.Element
}

func (s *memoryStore) Append(_ context.Context, session string, e Event) error {
	e.Data = bytes.Clone(e.Data)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.shared) > 0 || e.ID.Sequence == 0 {
		if err := s.number(session, &e); err != nil {
			return err
		}
	}
	s.tell()
	k := s.sessions[session]
	if k == nil {
		k = &kept{session: session}
		s.sessions[session] = k
	}
	k.events = append(k.events, keptEvent{e, s.ages.PushBack(k)})
	k.bytes += len(e.Data)
	s.bytes += len(e.Data)
	for len(k.events) > s.events || k.bytes > s.size {
		s.drop(k)
	}
	for s.bytes > s.total {
		s.drop(s.ages.Front().Value.(*kept))
	}
	return nil
}

// drop drops the oldest event of a session. mu is held.
func (s *memoryStore) drop(k *kept) {
	oldest := k.events[0]
	k.events[0] = keptEvent{}
	k.events = k.events[1:]
	k.bytes -= len(oldest.Data)
	s.bytes -= len(oldest.Data)
	s.ages.Remove(oldest.age)
	if len(k.events) == 0 {
		delete(s.sessions, k.session)
	}
}

func (s *memoryStore) Behind(_ context.Context, session string, id EventID) iter.Seq2[Event, error] {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.behind(session, id)
	return func(yield func(Event, error) bool) {
		for _, e := range slices.Clip(found) {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// behind returns the events of a stream behind one. mu is held.
func (s *memoryStore) behind(session string, id EventID) (found []Event) {
	if k := s.sessions[session]; k != nil {
		for _, e := range k.events {
			if e.ID.Stream == id.Stream && e.ID.Sequence > id.Sequence {
				found = append(found, e.Event)
			}
		}
	}
	return found
}

func (s *memoryStore) Forget(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.shared, session)
	s.tell()
	for k := s.sessions[session]; k != nil && len(k.events) > 0; {
		s.drop(k)
	}
}
