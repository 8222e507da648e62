package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/internal/broadcast"
	"github.com/mcpotel/mcpotel/internal/identity"
)

// NewMemorySessions returns a memory store for the handlers of one process: for several handlers that serve the same
// sessions, and for tests that simulate several processes. For each handler, and for the messages to all handlers, the
// store keeps the latest 4,096 messages, 64 MiB at most. It stores ids of 64 bytes or more as a hash.
func NewMemorySessions() Sessions {
	return &memorySessions{
		sessions: map[string]*keptSession{}, processes: map[string]time.Time{}, topics: map[string]*topic{},
	}
}

// Limits of the messages to one receiver. The store always keeps the latest message, even if it is larger.
const (
	maxMessages     = 4096
	maxMessageBytes = 64 << 20
)

type memorySessions struct {
	mu        sync.Mutex
	sessions  map[string]*keptSession // guarded by mu
	processes map[string]time.Time    // guarded by mu; end of each lease
	topics    map[string]*topic       // guarded by mu; by receiver; the empty receiver is all processes
	news      broadcast.Signal        // guarded by mu; sent after each message
}

type keptSession struct {
	record   []byte
	revision int64
	used     time.Time
	until    time.Time // zero for never
}

// topic holds the messages to one receiver, or to all processes.
type topic struct {
	last     int64 // position of the latest message
	messages [][]byte
	bytes    int
}

// add adds a message, and drops the oldest messages beyond the limits.
func (t *topic) add(message []byte) {
	t.last++
	t.messages = append(t.messages, bytes.Clone(message))
	t.bytes += len(message)
	for len(t.messages) > 1 && (len(t.messages) > maxMessages || t.bytes > maxMessageBytes) {
		t.bytes -= len(t.messages[0])
		t.messages[0] = nil
		t.messages = t.messages[1:]
	}
}

func (t *memorySessions) Own(identity.Mark) {}

// find returns a session, or nil. mu is held.
func (t *memorySessions) find(id string) *keptSession {
	s := t.sessions[keptID(id)]
	if s != nil && !s.until.IsZero() && !time.Now().Before(s.until) {
		delete(t.sessions, keptID(id))
		return nil
	}
	return s
}

// use restarts the expiry of the session.
func (s *keptSession) use(ttl time.Duration) {
	s.used, s.until = time.Now(), time.Time{}
	if ttl > 0 {
		s.until = s.used.Add(ttl)
	}
}

func (t *memorySessions) Create(_ context.Context, id string, record []byte, ttl time.Duration) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.find(id) != nil {
		return ErrConflict
	}
	s := &keptSession{record: bytes.Clone(record), revision: 1}
	s.use(ttl)
	t.sessions[keptID(id)] = s
	return nil
}

func (t *memorySessions) Use(_ context.Context, id string, known int64, ttl time.Duration) (record []byte,
	revision int64, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.find(id)
	if s == nil {
		return nil, 0, ErrNoSession
	}
	s.use(ttl)
	if s.revision == known {
		return nil, known, nil
	}
	return s.record, s.revision, nil
}

func (t *memorySessions) Replace(_ context.Context, id string, record []byte, revision int64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch s := t.find(id); {
	case s == nil:
		return ErrNoSession
	case s.revision != revision:
		return ErrConflict
	default:
		s.record = bytes.Clone(record)
		s.revision++
		return nil
	}
}

func (t *memorySessions) Delete(_ context.Context, id string, unused time.Duration) (deleted bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.find(id)
	if s == nil || time.Since(s.used) < unused {
		return false, nil
	}
	delete(t.sessions, keptID(id))
	return true, nil
}

func (t *memorySessions) Beat(_ context.Context, process string, ttl time.Duration) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if ttl > 0 {
		t.processes[keptID(process)] = time.Now().Add(ttl)
		return nil
	}
	delete(t.processes, keptID(process))
	delete(t.topics, keptID(process))
	return nil
}

func (t *memorySessions) Alive(_ context.Context, process string) (bool, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.alive(process), nil
}

// alive implements Alive. mu is held.
func (t *memorySessions) alive(process string) bool {
	return time.Now().Before(t.processes[keptID(process)])
}

func (t *memorySessions) Publish(_ context.Context, process string, message []byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if process != "" && !t.alive(process) {
		return ErrNoProcess
	}
	to := t.topics[keptID(process)]
	if to == nil {
		to = new(topic)
		t.topics[keptID(process)] = to
	}
	to.add(message)
	t.news.Send()
	return nil
}

func (t *memorySessions) Receive(ctx context.Context, process string, behind int64) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		for ctx.Err() == nil {
			m, ok, news := t.next(process, behind)
			if !ok {
				select {
				case <-news:
				case <-ctx.Done():
				}
				continue
			}
			behind = m.Position
			if !yield(m, nil) {
				return
			}
		}
	}
}

// next returns the first stored message after a position. Without such a message, it returns a channel that is closed
// when a message arrives.
func (t *memorySessions) next(process string, behind int64) (m Message, ok bool, news <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	from := t.topics[keptID(process)]
	if from == nil || from.last <= behind {
		return Message{}, false, t.news.Next()
	}
	i := max(0, len(from.messages)-int(from.last-behind))
	position := from.last - int64(len(from.messages)-1-i)
	return Message{position, position - 1, from.messages[i]}, true, nil
}

// keptID returns the key of an id in a memory store: a short id itself, or the SHA-256 of a long id. The ids of
// servers are short. Keys never collide, because ids as long as a hash are hashed too.
func keptID(id string) string {
	if len(id) < hex.EncodedLen(sha256.Size) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])
}
