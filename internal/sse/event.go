package sse

import "time"

// Event is one event of a stream.
type Event struct {
	ID      string        // id of this event itself; see [Reader.LastEventID]
	HasID   bool          // the event has an id; an empty id resets the last event id
	Name    string        // value of the event field; empty means "message"
	Data    []byte        // data lines, joined by line feeds
	HasData bool          // the event has at least one data line, which may be empty
	Retry   time.Duration // delay before the client reconnects; negative if the event has none
}
