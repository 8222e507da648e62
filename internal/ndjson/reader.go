package ndjson

import (
	"bytes"
	"errors"
	"io"

	"github.com/mcpotel/mcpotel/internal/grow"
	"github.com/mcpotel/mcpotel/internal/oversize"
)

const (
	firstBuffer = 512     // buffer of a connection that has read only small frames
	fullRead    = 4 << 10 // smaller buffers grow when a read fills them, because more data is likely
	handOver    = 1 << 20 // frames from this size on keep the buffer that they were read into
	huge        = 4 << 20 // below this size, a full buffer doubles; above, it grows fourfold
)

// Reader reads frames from a stream. It is not safe for concurrent use.
type Reader struct {
	r     io.Reader
	limit int
	skip  bool

	buf        []byte // length equals capacity
	start, end int    // bounds of the unread data in buf
	scanned    int    // buf[start:scanned] has no newline
	lately     grow.Lately
	err        error          // error of r, or an oversize.Error that ends reading
	skipping   *oversize.Ends // ends of the line that is being dropped; nil for none
}

// ErrInterrupted is an error after which the stream continues. [Reader.Next] returns it once and loses no data.
var ErrInterrupted = errors.New("interrupted")

// NewReader returns a reader of frames of at most limit bytes, not counting the newline; limit must be positive.
//
// For a frame above the limit, [Reader.Next] returns an [*oversize.Error]. If skip is false, it does so at once and on
// every further call. If skip is true, it first reads and drops the rest of the frame, and the next call returns the
// frame behind it.
func NewReader(r io.Reader, limit int, skip bool) *Reader {
	if limit <= 0 {
		panic("ndjson: limit must be positive")
	}
	return &Reader{r: r, limit: limit, skip: skip}
}

// Next returns the next frame, without its newline and a carriage return before that. It skips blank lines. The end of
// the stream also ends the last frame; after that, Next returns [io.EOF]. On any other error of the stream, Next drops
// an unfinished frame and returns the error unchanged.
//
// The frame belongs to the caller: nothing else refers to its memory. A frame below 1 MiB has memory of exactly its
// size; a larger frame may have unused memory behind it, at most its own size.
func (r *Reader) Next() ([]byte, error) {
	for {
		line, err := r.line()
		if err != nil {
			return nil, err
		}
		if !blank(line) {
			return r.release(line), nil
		}
	}
}

// Buffered reports whether the buffer has data that Next has not returned yet.
func (r *Reader) Buffered() bool { return r.start < r.end }

// line returns the next line as a part of the buffer. The line is valid until the next call of line.
func (r *Reader) line() ([]byte, error) {
	if r.skipping != nil {
		return nil, r.overflow()
	}
	for {
		if i := bytes.IndexByte(r.buf[r.scanned:r.end], '\n'); i >= 0 {
			line := r.buf[r.start : r.scanned+i]
			r.start = r.scanned + i + 1
			r.scanned = r.start
			return r.limited(line)
		}
		r.scanned = r.end
		line := r.buf[r.start:r.end]
		switch {
		case len(chomp(line)) > r.limit:
			return nil, r.overflow()
		case r.err == io.EOF && len(line) > 0:
			r.start = r.end
			return r.limited(line)
		case r.err != nil:
			return nil, r.failed()
		}
		r.fill()
	}
}

// limited returns the complete line without its carriage return, or an error if it is too large.
func (r *Reader) limited(line []byte) ([]byte, error) {
	if chomped := chomp(line); len(chomped) <= r.limit {
		return chomped, nil
	}
	var e oversize.Ends
	e.Write(line)
	return nil, r.tooLarge(&e)
}

// failed returns the error of the stream, and clears it if it is an interruption.
func (r *Reader) failed() error {
	err := r.err
	if err == ErrInterrupted {
		r.err = nil
	}
	return err
}

// overflow handles an unfinished line that already exceeds the limit.
func (r *Reader) overflow() error {
	if !r.skip {
		var e oversize.Ends
		e.Write(r.buf[r.start:r.end])
		return r.tooLarge(&e)
	}
	if r.skipping == nil {
		r.skipping = new(oversize.Ends)
	}
	for !r.drop(r.skipping) {
		if r.err == ErrInterrupted {
			return r.failed()
		}
		if r.err != nil {
			break
		}
		r.fill()
	}
	e := r.skipping
	r.skipping = nil
	return r.tooLarge(e)
}

// drop moves the buffered part of the current line to e and reports whether it contained the end of the line.
func (r *Reader) drop(e *oversize.Ends) bool {
	rest := r.buf[r.start:r.end]
	i := bytes.IndexByte(rest, '\n')
	if i >= 0 {
		e.Write(rest[:i])
		r.start += i + 1
		r.scanned = r.start
		return true
	}
	e.Write(rest)
	if len(r.buf) > grow.Kept {
		r.buf = make([]byte, grow.Kept)
	}
	r.start, r.end, r.scanned = 0, 0, 0
	return false
}

// tooLarge returns the error for an oversized line with the given ends. Unless r skips such lines, the error is final.
func (r *Reader) tooLarge(e *oversize.Ends) error {
	e.Chomp()
	err := e.Over(r.limit, r.skip)
	if !r.skip {
		r.err, r.buf, r.start, r.end, r.scanned = err, nil, 0, 0, 0
	}
	return err
}

// release returns the line in memory that the reader no longer uses.
func (r *Reader) release(line []byte) []byte {
	r.lately.Note(len(line))
	if len(line) < handOver || len(line) < len(r.buf)/2 {
		return bytes.Clone(line)
	}
	rest := r.buf[r.start:r.end]
	r.buf = make([]byte, max(grow.Kept, len(rest))) // the next frame may be as large
	r.start, r.end, r.scanned = 0, copy(r.buf, rest), 0
	return line[:len(line):len(line)]
}

// fill makes room in the buffer and reads once.
func (r *Reader) fill() {
	r.makeRoom()
	for range 100 {
		n, err := r.r.Read(r.buf[r.end:])
		r.end += n
		if r.err = err; n > 0 || err != nil {
			return
		}
	}
	r.err = io.ErrNoProgress
}

// makeRoom ensures space behind buf[end]. The buffer grows fourfold, at first only up to the size of a full read, and
// later up to the size of a frame at the limit with its \r\n. From 1 to 4 MiB it only doubles, because many frames are
// slightly larger than 1 MiB. If the last large frame needed more, the buffer grows to that size in one step. makeRoom
// replaces a buffer that has become too large for its use.
func (r *Reader) makeRoom() {
	size := len(r.buf)
	unread, expected := r.end-r.start, r.lately.Next(size, r.limit+2)
	switch {
	case size > grow.Kept && unread < size/32 && (size > handOver || r.lately.Quiet()):
		size = max(firstBuffer, 2*unread)
	case r.end < size:
		if unread == 0 {
			r.move(r.buf)
		}
		return
	case size < fullRead:
		size = max(firstBuffer, min(4*size, fullRead))
	case r.start > 0:
		r.move(r.buf)
		return
	case expected > 0:
		size = expected
	case size < handOver:
		size = max(fullRead, min(4*size, handOver, r.limit+2))
	case size < huge:
		size = min(2*size, r.limit+2)
	default:
		size = min(4*size, r.limit+2)
	}
	r.move(make([]byte, size))
}

// move copies the unread data to the beginning of buf and makes buf the buffer.
func (r *Reader) move(buf []byte) {
	r.scanned -= r.start
	r.end = copy(buf, r.buf[r.start:r.end])
	r.buf, r.start = buf, 0
}

// chomp returns line without a carriage return at its end.
func chomp(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\r' {
		return line[:n-1]
	}
	return line
}

// blank reports whether the line consists of space.
func blank(line []byte) bool {
	for _, c := range line {
		if c != ' ' && c != '\t' && c != '\r' {
			return false
		}
	}
	return true
}
