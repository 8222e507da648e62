package store

import (
	"bytes"
	"cmp"
	"container/list"
	"context"
	"iter"
	"slices"
	"sync"

	"github.com/mcpotel/mcpotel/internal/broadcast"
	"github.com/mcpotel/mcpotel/internal/identity"
)

// NewMemoryEvents returns a memory store for the handlers of one process. For each session, it keeps the latest
// events: at most the given number, and at most size bytes of data. Zero means 1,000 events and 4 MiB. All sessions
// together keep 64 MiB, or the limit of one session if that is higher; each event counts its data and 128 bytes.
// Beyond this limit, the store drops the oldest events of the largest holder. A holder is an account
// (HTTPOptions.Account of mcpserver) with all its sessions, or a session without an account. If another store wraps
// the memory store, there are no accounts. The store keeps session ids of 64 bytes or more as a hash.
func NewMemoryEvents(events, size int) SharedEvents {
	events, size = cmp.Or(max(events, 0), 1000), cmp.Or(max(size, 0), 4<<20)
	return &memoryEvents{
		events: events, size: size, total: max(keptInAll, size+events*eventCost), sessions: map[string]*kept{},
		holders: eventHolders{byKey: map[eventHolderKey]*eventHolder{}},
	}
}

type memoryEvents struct {
	events, size int // limits of one session
	total        int // limit of all sessions, in bytes

	mu       sync.Mutex
	sessions map[string]*kept // guarded by mu
	holders  eventHolders     // guarded by mu
	last     uint64           // guarded by mu; number of the latest event in the store
	bytes    int              // guarded by mu; includes eventCost for each event

	shared map[string]*numberedStreams // guarded by mu; by session; sessions with streams from Open
	news   broadcast.Signal            // guarded by mu; sent after each change
}

// keptInAll is the default limit for the size of all sessions together, in bytes.
const keptInAll = 64 << 20

// eventCost is the approximate memory of an event without its data, in bytes.
const eventCost = 128

// kept holds the events of a session, oldest first.
type kept struct {
	session string
	holder  *eventHolder
	events  []keptEvent
	bytes   int
}

type keptEvent struct {
	Event
	number uint64 // position among the events of all sessions
	age    *list.Element
}

func (s *memoryEvents) Append(_ context.Context, session string, e Event) error {
	return s.keep(nil, session, e)
}

// AppendFor is Append for an account, which is a comparable value, or nil without an account.
func (s *memoryEvents) AppendFor(_ identity.Mark, account any, session string, e Event) error {
	return s.keep(account, session, e)
}

func (s *memoryEvents) Own(identity.Mark) {}

// keep implements Append and AppendFor.
func (s *memoryEvents) keep(account any, session string, e Event) error {
	e.Data, session = bytes.Clone(e.Data), keptID(session)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.shared) > 0 || e.ID.Sequence == 0 {
		if err := s.number(session, &e); err != nil {
			return err
		}
	}
	s.news.Send()
	k := s.sessions[session]
	if k == nil {
		k = &kept{session: session, holder: s.holders.of(account, session)}
		s.sessions[session] = k
	}
	cost := len(e.Data) + eventCost
	s.last++
	k.events = append(k.events, keptEvent{Event: e, number: s.last})
	k.events[len(k.events)-1].age = s.holders.add(k, cost)
	k.bytes += len(e.Data)
	s.bytes += cost
	for len(k.events) > s.events || k.bytes > s.size {
		s.drop(k)
	}
	for s.bytes > s.total {
		s.drop(s.holders.most())
	}
	return nil
}

// drop drops the oldest event of a session. mu is held.
func (s *memoryEvents) drop(k *kept) {
	oldest := k.events[0]
	k.events[0] = keptEvent{}
	k.events = k.events[1:]
	k.bytes -= len(oldest.Data)
	s.bytes -= len(oldest.Data) + eventCost
	s.holders.remove(k.holder, oldest.age, len(oldest.Data)+eventCost)
	if len(k.events) == 0 {
		delete(s.sessions, k.session)
	}
}

func (s *memoryEvents) Behind(_ context.Context, session string, id EventID) iter.Seq2[Event, error] {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.behind(keptID(session), id)
	return func(yield func(Event, error) bool) {
		for _, e := range slices.Clip(found) {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// behind returns the events after id on the stream of id. mu is held.
func (s *memoryEvents) behind(session string, id EventID) (found []Event) {
	if k := s.sessions[session]; k != nil {
		for _, e := range k.events {
			if e.ID.Stream == id.Stream && e.ID.Sequence > id.Sequence {
				found = append(found, e.Event)
			}
		}
	}
	return found
}

func (s *memoryEvents) Forget(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	session = keptID(session)
	delete(s.shared, session)
	s.news.Send()
	for k := s.sessions[session]; k != nil && len(k.events) > 0; {
		s.drop(k)
	}
}
