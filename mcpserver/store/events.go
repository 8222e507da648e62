package store

import (
	"context"
	"iter"
	"strconv"
)

// Events keeps what was sent on the streams of legacy sessions, so that a client whose connection broke can read on
// where it stopped. Its methods may be called from any goroutine. They are called while the stream is held, so they
// should be quick; what a store cannot keep it may drop, from the oldest on, and then the client is told that it is
// gone.
type Events interface {
	// Append keeps an event of a session. It copies the data if it keeps them. Events of one stream come in the order of
	// their numbers. The event is sent even if there is an error, but a client that misses it will not get the rest.
	Append(ctx context.Context, session string, e Event) error

	// Behind returns the events that it has of the stream of an event, behind that one and in their order.
	Behind(ctx context.Context, session string, id EventID) iter.Seq2[Event, error]

	// Forget drops all events of a session, which is over.
	Forget(session string)
}

// SharedEvents is an [Events] that several processes have in common: a client may read on in one what another
// sends. It is what Events of mcpserver.HTTPOptions must be where Sessions is set.
//
// Its Append refuses with [ErrConflict] an event of a stream from Open that is not behind the latest one of that
// stream, or whose stream is over. Events that a store has lost leave a gap. To an event with sequence 0 it gives a
// higher number than to any before, which need not be the next one. A final event may have no data.
//
// A store that may lose its latest writes, as a failover to a replica that lags does, never gives the number of a
// stream, or of an event of stream 0, twice.
type SharedEvents interface {
	Events

	// Open begins a stream of a session and returns its number, above 0, which no stream of the session has had before. A
	// note about the stream is kept until its final event, or Forget.
	Open(ctx context.Context, session string, note []byte) (stream int64, err error)

	// Note returns the note about a stream, [ErrNoStream] if that is over.
	Note(ctx context.Context, session string, stream int64) (note []byte, err error)

	// Latest returns the sequence of the latest event of the stream that belongs to no request, 0 if there was none.
	Latest(ctx context.Context, session string) (sequence int64, err error)

	// Follow returns the events that Behind returns, and then each that is appended, until a stream from Open is over, or
	// ctx ends, which is no error.
	Follow(ctx context.Context, session string, id EventID) iter.Seq2[Event, error]
}

// Event is a message that was sent on a stream.
type Event struct {
	ID    EventID
	Data  []byte
	Final bool // nothing follows on this stream

	// Previous is the sequence of the event before it on stream 0 of a [SharedEvents], 0 for the first. Events are missing
	// if it is not the sequence of the last event read. Other streams and Append do not use it.
	Previous int64
}

// EventID says where an event stands among those of its session.
type EventID struct {
	Stream   int64 // counts the streams of the session; 0 is the one that belongs to no request
	Sequence int64 // rises; without a gap from 1, but on stream 0 of a SharedEvents
}

// String returns the id as clients see it.
func (id EventID) String() string {
	b := strconv.AppendInt(make([]byte, 0, 24), id.Stream, 10)
	return string(strconv.AppendInt(append(b, '-'), id.Sequence, 10))
}
