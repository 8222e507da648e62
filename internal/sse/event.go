package sse

import "time"

// Event is one event of a stream.
type Event struct {
	ID      string        // of this event itself, see [Reader.LastEventID]
	HasID   bool          // there is one; it may be empty, which resets the last event id
	Name    string        // the event field; empty means "message"
	Data    []byte        // the data lines, joined by line feeds
	HasData bool          // there is at least one data line; it may be empty
	Retry   time.Duration // how long to wait before connecting again; negative if the event does not say
}
