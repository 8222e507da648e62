package ndjson

import (
	"bytes"
	"errors"
	"io"

	"github.com/mcpotel/mcpotel/internal/grow"
	"github.com/mcpotel/mcpotel/internal/oversize"
)

const (
	firstBuffer = 512     // what an idle connection holds that has seen small frames only
	fullRead    = 4 << 10 // a smaller buffer grows when a read fills it: there is more
	handOver    = 1 << 20 // from this size on, a frame keeps the buffer it was read into
	huge        = 4 << 20 // up to this size, a buffer that is full becomes twice as large, and then four times
)

// Reader reads frames from a stream. It is not safe for concurrent use.
type Reader struct {
	r     io.Reader
	limit int
	skip  bool

	buf        []byte // its length is its capacity
	start, end int    // what has been read and not been returned
	scanned    int    // no newline in buf[start:scanned]
	lately     grow.Lately
	err        error          // of r, or an oversize.Error that ends the reading
	skipping   *oversize.Ends // of a line that is being dropped
}

// ErrInterrupted is an error of a stream that goes on. [Reader.Next] returns it once, and loses nothing.
var ErrInterrupted = errors.New("interrupted")

// NewReader returns a reader of frames of at most limit bytes, the newline not counted; limit must be positive.
//
// At a frame above the limit, [Reader.Next] returns an [*oversize.Error]: at once, and for good, if skip is false. If
// it is true, the rest of the frame is read and dropped first, up to its newline, and the next Next returns the frame
// behind.
func NewReader(r io.Reader, limit int, skip bool) *Reader {
	if limit <= 0 {
		panic("ndjson: limit must be positive")
	}
	return &Reader{r: r, limit: limit, skip: skip}
}

// Next returns the next frame, without its newline and a carriage return before that. Lines of nothing but space are
// passed over. The end of the stream ends the last frame; after it comes [io.EOF]. Any other error of the stream drops
// an unfinished frame and is returned as it is.
//
// The frame belongs to the caller: nothing else refers to its memory. A frame below 1 MiB has memory of just its size,
// a larger one may be followed by as much unused memory again.
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

// Buffered reports whether there is more in memory than Next has returned.
func (r *Reader) Buffered() bool { return r.start < r.end }

// line returns the next line as a part of the buffer; release or the next call of line ends its life.
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

// limited returns the complete line without its carriage return, or the error that it is too large.
func (r *Reader) limited(line []byte) ([]byte, error) {
	if chomped := chomp(line); len(chomped) <= r.limit {
		return chomped, nil
	}
	var e oversize.Ends
	e.Write(line)
	return nil, r.tooLarge(&e)
}

// failed returns the error of the stream, which goes on after an interruption.
func (r *Reader) failed() error {
	err := r.err
	if err == ErrInterrupted {
		r.err = nil
	}
	return err
}

// overflow handles a line of which more than the limit has been read and the end has not.
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

// drop passes what is in the buffer of the current line to e and reports whether the line's end was there.
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

// tooLarge returns the error for the line whose ends are given. Unless such lines are skipped, it is the last one.
func (r *Reader) tooLarge(e *oversize.Ends) error {
	e.Chomp()
	err := e.Over(r.limit, r.skip)
	if !r.skip {
		r.err, r.buf, r.start, r.end, r.scanned = err, nil, 0, 0, 0
	}
	return err
}

// release returns the line in memory that the reader does not use any more.
func (r *Reader) release(line []byte) []byte {
	r.lately.Note(len(line))
	if len(line) < handOver || len(line) < len(r.buf)/2 {
		return bytes.Clone(line)
	}
	rest := r.buf[r.start:r.end]
	r.buf = make([]byte, max(grow.Kept, len(rest))) // the next one may be as large
	r.start, r.end, r.scanned = 0, copy(r.buf, rest), 0
	return line[:len(line):len(line)]
}

// fill reads once, making room first.
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

// makeRoom leaves space behind buf[end]. The buffer grows fourfold, first to that of a full read and then up to a frame
// of the limit with \r\n behind it, but twofold from 1 to 4 MiB, which many frames just exceed, and at once to what the
// last large frame needed. One that is too large for its use by now is replaced.
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

// move takes what is unread to the beginning of buf and goes on with that.
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

// blank reports whether there is nothing but space on the line.
func blank(line []byte) bool {
	for _, c := range line {
		if c != ' ' && c != '\t' && c != '\r' {
			return false
		}
	}
	return true
}
