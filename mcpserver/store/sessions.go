package store

import (
	"context"
	"iter"
	"time"
)

// Sessions keeps legacy sessions over HTTP where several processes find them, so that each may serve them all, and
// carries messages between these processes. [NewMemorySessions] returns one for the handlers of one process; package
// redisstore has one for many. The tests in package storetest say what such a store must do.
//
// Its methods may be called from any goroutine. They should be quick: each request in a session waits for Use.
type Sessions interface {
	// Create keeps the record of a new session, as revision 1, until ttl has passed without Use; zero means for ever. It
	// returns [ErrConflict] if the id is in use.
	Create(ctx context.Context, id string, record []byte, ttl time.Duration) error

	// Use returns the record of a session and its revision, and notes that the session is used now: it is kept for ttl
	// from now on, zero meaning for ever. If the revision is the known one, the record is left out. It is not to be
	// changed. The error is [ErrNoSession] if there is no session.
	Use(ctx context.Context, id string, known int64, ttl time.Duration) (record []byte, revision int64, err error)

	// Replace replaces the record of that revision by the next one. It returns [ErrConflict] if there is another revision,
	// and [ErrNoSession] if there is none. It does not count as use.
	Replace(ctx context.Context, id string, record []byte, revision int64) error

	// Delete ends a session that no process has used for so long, zero meaning in any case, and reports whether it did: of
	// several callers, at most one is told so.
	Delete(ctx context.Context, id string, unused time.Duration) (deleted bool, err error)

	// Beat says that a process lives, for ttl from now on; zero or less says that it has ended. A process never comes back
	// after that. Until it ends, what is published to it is kept.
	Beat(ctx context.Context, process string, ttl time.Duration) error

	// Alive reports whether a process lives, by what it has said of itself.
	Alive(ctx context.Context, process string) (bool, error)

	// Publish sends a message to a process, or to all if that is empty. All get those to all in the same order. It returns
	// [ErrNoProcess] if the one does not live.
	Publish(ctx context.Context, process string, message []byte) error

	// Receive returns the messages to a process, or those to all if that is empty, which have come behind a position, and
	// then each that comes, until ctx ends, which is no error. Behind 0 it begins with the oldest that is kept. A store
	// may drop the oldest messages, and those to one process that it has returned; the next message then has another
	// Previous.
	Receive(ctx context.Context, process string, behind int64) iter.Seq2[Message, error]
}

// Message is what one process tells another through a [Sessions].
type Message struct {
	Position int64 // grows from message to message to the same receiver, or to all; never 0
	Previous int64 // position of the message before it, 0 for the first; another one than the last received is a gap
	Data     []byte
}
