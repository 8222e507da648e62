// Package oversize has what is left of a frame above the limit: its size and its two ends, and the error that says so.
// The readers of streams, events and bodies share it, so that what a peer sent too much of is told in one way.
package oversize

import "fmt"

// Kept is how much of the beginning and of the end of a frame is kept, in bytes.
const Kept = 1 << 10

// Error is the error for a frame above the limit.
type Error struct {
	Size  int // in bytes: of the whole frame if it was skipped, else as far as it was seen
	Limit int
	Head  []byte // its first KiB
	Tail  []byte // its last KiB if it was skipped, else nil
}

func (e *Error) Error() string {
	return fmt.Sprintf("frame of %d bytes or more is above the limit of %d", e.Size, e.Limit)
}

// Ends remembers the size, the beginning and the end of what is written to it. The zero value is that of nothing. It is
// not safe for concurrent use.
type Ends struct {
	head, tail []byte // of the tail a byte more than Kept, for the carriage return that Chomp takes away
	size       int
}

// Write adds to the end of the frame. It returns no error.
func (e *Ends) Write(b []byte) (int, error) {
	e.size += len(b)
	e.head = append(e.head, b[:min(len(b), Kept-len(e.head))]...)
	e.tail = append(e.tail, b[max(0, len(b)-Kept-1):]...)
	if n := len(e.tail) - Kept - 1; n > 0 {
		e.tail = append(e.tail[:0], e.tail[n:]...)
	}
	return len(b), nil
}

// Chomp takes away a carriage return at the end, which is a part of the line and none of the frame.
func (e *Ends) Chomp() {
	if n := len(e.tail); n > 0 && e.tail[n-1] == '\r' {
		e.tail, e.size = e.tail[:n-1], e.size-1
		e.head = e.head[:min(len(e.head), e.size)]
	}
}

// Over returns the error for the frame. skipped says that all of it was written.
func (e *Ends) Over(limit int, skipped bool) *Error {
	err := &Error{Size: e.size, Limit: limit, Head: e.head}
	if skipped {
		err.Tail = e.tail[max(0, len(e.tail)-Kept):]
	}
	return err
}
