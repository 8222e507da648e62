// Package oversize describes a frame above the limit: its size, its two ends, and the error. The readers of streams,
// events and bodies share it, so that they all report oversized data in the same way.
package oversize

import "fmt"

// Kept is the number of bytes kept from the beginning and from the end of a frame.
const Kept = 1 << 10

// Error is the error for a frame above the limit.
type Error struct {
	Size  int // size in bytes of the whole frame if it was skipped, otherwise of the part that was read
	Limit int
	Head  []byte // first KiB
	Tail  []byte // last KiB if the frame was skipped, otherwise nil
}

func (e *Error) Error() string {
	return fmt.Sprintf("frame of %d bytes or more is above the limit of %d", e.Size, e.Limit)
}

// Ends records the size, the beginning and the end of the written data. The zero value has no data. It is not safe for
// concurrent use.
type Ends struct {
	head, tail []byte // tail has up to Kept+1 bytes, because Chomp may remove one
	size       int
}

// Write appends to the frame. It never returns an error.
func (e *Ends) Write(b []byte) (int, error) {
	e.size += len(b)
	e.head = append(e.head, b[:min(len(b), Kept-len(e.head))]...)
	e.tail = append(e.tail, b[max(0, len(b)-Kept-1):]...)
	if n := len(e.tail) - Kept - 1; n > 0 {
		e.tail = append(e.tail[:0], e.tail[n:]...)
	}
	return len(b), nil
}

// Chomp removes a carriage return at the end, which belongs to the line and not to the frame.
func (e *Ends) Chomp() {
	if n := len(e.tail); n > 0 && e.tail[n-1] == '\r' {
		e.tail, e.size = e.tail[:n-1], e.size-1
		e.head = e.head[:min(len(e.head), e.size)]
	}
}

// Over returns the error for the frame. skipped means that the whole frame was written.
func (e *Ends) Over(limit int, skipped bool) *Error {
	err := &Error{Size: e.size, Limit: limit, Head: e.head}
	if skipped {
		err.Tail = e.tail[max(0, len(e.tail)-Kept):]
	}
	return err
}
