// Package grow reads data from a peer into memory that grows with the received data. An announced length, such as a
// Content-Length, only determines where to stop; it is never a reason to allocate. Both ends read the bodies of HTTP
// messages with this package.
//
// With an announced length, the buffer grows in few large steps, because the last step fits exactly: 4 KiB, 64 KiB, 1
// MiB, the rest. So a body of 16 MiB allocates 1.07 times its size in all, and a peer must send at least a sixteenth of
// the bytes that it makes this end allocate.
package grow

import (
	"errors"
	"io"
)

// First is the size of the first buffer.
const First = 4 << 10

const (
	known   = 16 // growth factor with an announced length
	unknown = 4  // growth factor without an announced length; a small factor limits the unused part of the last buffer
)

// ErrLimit means that the data exceed the limit.
var ErrLimit = errors.New("above the limit")

// Start returns the size of the first buffer. announced is negative if the length is unknown.
func Start(announced int64) int {
	if announced < 0 {
		return First
	}
	return int(min(announced, First))
}

// Next returns the size of the buffer that replaces a full one of the given size. If the length is unknown, the buffer
// may grow to one byte more than limit, to detect larger data.
func Next(size int, announced int64, limit int) int {
	if announced < 0 {
		return int(min(max(unknown*int64(size), First), int64(limit)+1))
	}
	return int(min(max(known*int64(size), First), announced))
}

// Body describes the data to read.
type Body struct {
	Announced int64 // length in bytes; negative if unknown
	Limit     int   // maximum length in bytes

	// Read calls Grow, unless it is nil, before it replaces a buffer by a larger one; from and to are the sizes in
	// bytes. An error of Grow prevents the replacement. Both buffers exist until Read calls grown.
	Grow func(from, to int) (grown func(), err error)
}

// Read reads the body from r. The error is [ErrLimit], or an error of Grow or r. It is io.ErrUnexpectedEOF if r ends
// before the announced length.
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

// next returns a larger buffer that begins with the contents of buf.
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
