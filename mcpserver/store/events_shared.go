package store

import (
	"bytes"
	"context"
	"iter"
)

// numberedStreams holds the streams of one session to which the memory store assigns numbers: stream 0 and streams of
// Open.
type numberedStreams struct {
	last int64 // number of the newest stream
	open map[int64]*numberedStream
}

type numberedStream struct {
	note   []byte
	latest int64 // sequence of the latest event
}

// of returns the numbered streams of a session. mu is held.
func (s *memoryEvents) of(session string) *numberedStreams {
	n := s.shared[session]
	if n == nil {
		n = &numberedStreams{open: map[int64]*numberedStream{0: {}}}
		if s.shared == nil {
			s.shared = map[string]*numberedStreams{}
		}
		s.shared[session] = n
	}
	return n
}

// number checks that the event is newer than the latest event of its stream, and assigns a sequence to an event without
// one. It does neither for a stream that the caller numbers itself. mu is held.
func (s *memoryEvents) number(session string, e *Event) error {
	n := s.of(session)
	st := n.open[e.ID.Stream]
	switch {
	case st == nil && e.ID.Stream <= n.last, st != nil && e.ID.Stream > 0 && e.ID.Sequence > 0 &&
		e.ID.Sequence <= st.latest:
		return ErrConflict
	case st == nil: // the caller numbers its streams itself
		return nil
	case e.ID.Sequence == 0:
		e.ID.Sequence = st.latest + 1
	}
	e.Previous, st.latest = st.latest, e.ID.Sequence
	if e.Final && e.ID.Stream > 0 {
		delete(n.open, e.ID.Stream)
	}
	return nil
}

func (s *memoryEvents) Open(_ context.Context, session string, note []byte) (stream int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.of(keptID(session))
	n.last++
	n.open[n.last] = &numberedStream{note: bytes.Clone(note)}
	return n.last, nil
}

func (s *memoryEvents) Note(_ context.Context, session string, stream int64) (note []byte, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.shared[keptID(session)]; n != nil && stream > 0 && n.open[stream] != nil {
		return n.open[stream].note, nil
	}
	return nil, ErrNoStream
}

func (s *memoryEvents) Follow(ctx context.Context, session string, id EventID) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for ctx.Err() == nil {
			events, over, news := s.follow(session, id)
			for _, e := range events {
				id = e.ID
				if !yield(e, nil) {
					return
				}
			}
			if over {
				return
			}
			select {
			case <-news:
			case <-ctx.Done():
			}
		}
	}
}

func (s *memoryEvents) Latest(_ context.Context, session string) (sequence int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.shared[keptID(session)]; n != nil {
		return n.open[0].latest, nil
	}
	return 0, nil
}

// follow returns the events after id. over reports whether these events complete the stream. news is closed when there
// may be more events.
func (s *memoryEvents) follow(session string, id EventID) (events []Event, over bool, news <-chan struct{}) {
	session = keptID(session)
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.shared[session]
	if id.Stream > 0 {
		over = n == nil || n.open[id.Stream] == nil
	}
	return s.behind(session, id), over, s.news.Next()
}
