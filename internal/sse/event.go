package sse

import (
	"fmt"
	"time"
)

// Event is one event of a stream.
type Event struct {
	ID      string        // of this event itself, see [Reader.LastEventID]
	HasID   bool          // there is one; it may be empty, which resets the last event id
	Name    string        // the event field; empty means "message"
	Data    []byte        // the data lines, joined by line feeds
	HasData bool          // there is at least one data line; it may be empty
	Retry   time.Duration // how long to wait before connecting again; negative if the event does not say
}

// TooLargeError is the error for an event whose data are above the limit.
type TooLargeError struct {
	Size  int // of the data in bytes: of all of them if they were skipped, else as far as they were seen
	Limit int
	Head  []byte // their first KiB
	Tail  []byte // their last KiB if they were skipped, else nil
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("event with %d bytes of data or more is above the limit of %d", e.Size, e.Limit)
}

// keptEnds is how much of the beginning and of the end of data above the limit is kept.
const keptEnds = 1 << 10

// Ends is what is kept of data that are too large to keep: their size, their first KiB and their last KiB. The zero
// value is that of no data.
type Ends struct {
	Head, Tail []byte
	Size       int
}

// Add adds to the end of the data.
func (e *Ends) Add(b []byte) {
	e.Size += len(b)
	e.Head = append(e.Head, b[:min(len(b), keptEnds-len(e.Head))]...)
	e.Tail = append(e.Tail, b[max(0, len(b)-keptEnds):]...)
	if n := len(e.Tail) - keptEnds; n > 0 {
		e.Tail = append(e.Tail[:0], e.Tail[n:]...)
	}
}
