package store

import (
	"context"
	"iter"
	"strconv"
)

// Events stores the events on the streams of legacy sessions, so that a client can resume after its connection breaks.
// An Events must be safe for concurrent use. The server may hold the lock of a stream during a call, so the methods
// should be quick. A store may drop the oldest events; the server then reports the gap to the client.
type Events interface {
	// Append stores an event of a session. Append must copy the data if the store keeps the data. The server appends the
	// events of one stream in the order of their numbers. After an error, the server still sends the event, but a client
	// that misses the event cannot resume.
	Append(ctx context.Context, session string, e Event) error

	// Behind returns the stored events after id on the stream of id, in order.
	Behind(ctx context.Context, session string, id EventID) iter.Seq2[Event, error]

	// Forget drops all events of a session that has ended.
	Forget(session string)
}

// SharedEvents is an [Events] that several processes share, so that a client may resume a stream in another process.
// If Sessions of mcpserver.HTTPOptions is set, Events must be a SharedEvents.
//
// For a stream from Open, Append returns [ErrConflict] if the event's number is not above the latest number or if the
// stream has ended. Events that the store has lost leave a gap. If an event has sequence 0, Append assigns a number
// above all earlier numbers, but not necessarily the next one. A final event may have no data.
//
// A store may lose its latest writes, for example in a failover to a lagging replica. Even then, it must not assign
// the same number twice to streams, or to events of stream 0.
type SharedEvents interface {
	Events

	// Open starts a stream of a session and returns its number, which is above 0 and unique in the session. The store
	// keeps the note until the final event of the stream or until Forget.
	Open(ctx context.Context, session string, note []byte) (stream int64, err error)

	// Note returns the note of a stream, or [ErrNoStream] if the stream has ended.
	Note(ctx context.Context, session string, stream int64) (note []byte, err error)

	// Latest returns the sequence of the latest event on stream 0, or 0 before the first event.
	Latest(ctx context.Context, session string) (sequence int64, err error)

	// Follow yields the events of Behind, and then new events as they are appended. It returns without an error when ctx
	// ends, or when a stream from Open ends.
	Follow(ctx context.Context, session string, id EventID) iter.Seq2[Event, error]
}

// Event is a message on a stream.
type Event struct {
	ID    EventID
	Data  []byte
	Final bool // the last event of its stream

	// Previous is the sequence of the preceding event on stream 0 of a [SharedEvents], and 0 for the first event. If
	// Previous differs from the sequence of the event that was read last, events are missing. Other streams and Append do
	// not use Previous.
	Previous int64
}

// EventID identifies an event within its session.
type EventID struct {
	Stream   int64 // number of the stream in the session; stream 0 is for messages that belong to no request
	Sequence int64 // increases from 1 without gaps, but may have gaps on stream 0 of a SharedEvents
}

// String returns the id in the form that clients get.
func (id EventID) String() string {
	b := strconv.AppendInt(make([]byte, 0, 24), id.Stream, 10)
	return string(strconv.AppendInt(append(b, '-'), id.Sequence, 10))
}
