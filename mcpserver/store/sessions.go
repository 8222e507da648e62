package store

import (
	"context"
	"iter"
	"time"
)

// Sessions stores legacy sessions over HTTP for several processes, so that each process can serve every session. It
// also carries messages between the processes. [NewMemorySessions] returns a store for the handlers of one process,
// and package redisstore has a store for several processes. Package storetest has the conformance tests.
//
// A Sessions must be safe for concurrent use. Its methods should be quick, because each request of a session waits for
// Use.
type Sessions interface {
	// Create stores the record of a new session as revision 1. The session expires when ttl has passed without a call of
	// Use; zero means never. Create returns [ErrConflict] if the id is in use.
	Create(ctx context.Context, id string, record []byte, ttl time.Duration) error

	// Use returns the record of a session and its revision. It restarts the expiry of the session with ttl; zero means
	// never. If the revision equals known, Use omits the record. The caller must not change the record. Use returns
	// [ErrNoSession] if the session does not exist.
	Use(ctx context.Context, id string, known int64, ttl time.Duration) (record []byte, revision int64, err error)

	// Replace replaces the record with the given revision by record, as the next revision. It returns [ErrConflict] if
	// the store has another revision, and [ErrNoSession] if the session does not exist. Replace does not restart the
	// expiry.
	Replace(ctx context.Context, id string, record []byte, revision int64) error

	// Delete deletes a session that no process has used for the given time. Zero deletes the session in any case. Delete
	// reports whether it deleted the session; of several concurrent callers, at most one gets true.
	Delete(ctx context.Context, id string, unused time.Duration) (deleted bool, err error)

	// Beat registers a process as alive for ttl from now on. If ttl is zero or negative, Beat unregisters the process,
	// which never registers again. The store keeps messages to a process while the process is alive.
	Beat(ctx context.Context, process string, ttl time.Duration) error

	// Alive reports whether a process is registered and its ttl has not passed.
	Alive(ctx context.Context, process string) (bool, error)

	// Publish sends a message to a process, or to all processes if process is empty. Every process receives the
	// messages to all processes in the same order. Publish returns [ErrNoProcess] if the process is not alive.
	Publish(ctx context.Context, process string, message []byte) error

	// Receive yields the messages to a process whose position is above the number behind, and then new messages as they
	// arrive. An empty process means the messages to all processes. Position 0 starts with the oldest stored message.
	// When ctx ends, Receive returns without an error. A store may drop the oldest messages, and messages to one
	// process that it has already yielded. The Previous of the next message then shows the gap.
	Receive(ctx context.Context, process string, behind int64) iter.Seq2[Message, error]
}

// Message is a message between processes that share a [Sessions]. If Previous is not the position of the last message
// that the receiver got, messages are missing.
type Message struct {
	Position int64 // increases with each message to the same receiver, or to all processes; never 0
	Previous int64 // position of the preceding message; 0 for the first
	Data     []byte
}
