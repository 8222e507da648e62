// Package grow reads what a peer sends into memory that grows with what has come. What the peer announces, such as a
// Content-Length, says when to stop; it is never a reason to allocate. Both ends read the bodies of HTTP messages so.
//
// A length that was announced lets the buffer grow in few large steps, because the last of them fits: 4 KiB, 64 KiB, 1
// MiB, the rest. So a body of 16 MiB takes 1.07 times its size in all, and a peer has to send a sixteenth of what it
// wants allocated.
package grow

import (
	"errors"
	"io"
)

// First is how much room there is before any byte has come.
const First = 4 << 10

const (
	known   = 16 // times the size, where the length was announced
	unknown = 4  // where it was not: the last step may be too large by so much
)

// ErrLimit says that there is more than the limit.
var ErrLimit = errors.New("above the limit")

// Start returns the size of the first buffer. announced is negative if the length is not known.
func Start(announced int64) int {
	if announced < 0 {
		return First
	}
	return int(min(announced, First))
}

// Next returns the size of the buffer that follows a full one of the given size. A length that is not known may come to
// one byte above the limit, which is how that is found out.
func Next(size int, announced int64, limit int) int {
	if announced < 0 {
		return int(min(max(unknown*int64(size), First), int64(limit)+1))
	}
	return int(min(max(known*int64(size), First), announced))
}

// Body says what is read.
type Body struct {
	Announced int64 // length; negative if it is not known
	Limit     int   // of its size in bytes

	// Grow is asked before a buffer of the size from is replaced by one of the size to, and told when it has been: both
	// are there for a moment. Nil lets all of them grow.
	Grow func(from, to int) (grown func(), err error)
}

// Read reads the body from r. The error is [ErrLimit], that of Grow, or that of r; io.ErrUnexpectedEOF if r ends before
// the length that was announced.
func (b *Body) Read(r io.Reader) ([]byte, error) {
	if b.Announced > int64(b.Limit) {
		return nil, ErrLimit
	}
	buf, n := make([]byte, Start(b.Announced)), 0
	for int64(n) != b.Announced {
		if n == len(buf) {
			var err error
			if buf, err = b.next(buf); err != nil {
				return nil, err
			}
		}
		m, err := r.Read(buf[n:])
		n += m
		switch {
		case n > b.Limit:
			return nil, ErrLimit
		case err == nil, int64(n) == b.Announced:
		case err == io.EOF && b.Announced < 0:
			return buf[:n:n], nil
		case err == io.EOF:
			return nil, io.ErrUnexpectedEOF
		default:
			return nil, err
		}
	}
	return buf, nil
}

// next returns a larger buffer that begins with what is in buf.
func (b *Body) next(buf []byte) ([]byte, error) {
	size := Next(len(buf), b.Announced, b.Limit)
	grown := func() {}
	if b.Grow != nil {
		var err error
		if grown, err = b.Grow(len(buf), size); err != nil {
			return nil, err
		}
	}
	larger := make([]byte, size)
	copy(larger, buf)
	grown()
	return larger, nil
}
