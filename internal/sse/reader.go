package sse

import (
	"bytes"
	"io"

	"github.com/mcpotel/mcpotel/internal/grow"
	"github.com/mcpotel/mcpotel/internal/oversize"
)

// Reader reads the events of a stream. It is not safe for concurrent use.
type Reader struct {
	lines lines
	limit int
	skip  bool

	event  Event          // the current event without its data
	named  bool           // the event has a name, perhaps an empty one
	held   []byte         // data of the event, in the buffer of lines
	data   []byte         // data of the event, in separate memory
	over   *oversize.Ends // ends of data above the limit; nil if within the limit
	cut    cut            // treatment of the rest of an overlong line
	lastID string
	err    error // error of all further calls of Next
}

// cut is the treatment of the rest of a line, after the reader has removed its beginning from the buffer.
type cut uint8

const (
	uncut   cut = iota
	ignored     // drop the rest
	counted     // the rest is data above the limit
)

// NewReader returns a reader of events with at most limit bytes of data; limit must be positive.
//
// For an event above the limit, [Reader.Next] returns an [*oversize.Error]. If skip is false, it does so at once and on
// every further call. If skip is true, it first reads and drops the rest of the event, and the next call returns the
// event behind it.
func NewReader(r io.Reader, limit int, skip bool) *Reader {
	if limit <= 0 {
		panic("sse: limit must be positive")
	}
	return &Reader{lines: lines{r: r}, limit: limit, skip: skip, event: Event{Retry: -1}}
}

// Reset makes the reader read another stream from its beginning. The reader keeps only its limit, its record of event
// sizes, and its buffer unless that is large.
func (r *Reader) Reset(src io.Reader) {
	buf := r.lines.buf
	if len(buf) > grow.Kept {
		buf = nil
	}
	l := lines{r: src, buf: buf, lately: r.lines.lately}
	*r = Reader{lines: l, limit: r.limit, skip: r.skip, event: Event{Retry: -1}}
}

// LastEventID returns the value for the header Last-Event-ID that makes the server resume after the last complete
// event. It is the last id that an event had, even an event without data. An id with a NUL is ignored.
func (r *Reader) LastEventID() string { return r.lastID }

// Next returns the next event that has data, an id or a retry time. The data belong to the caller: nothing else refers
// to their memory.
//
// [io.EOF] means that the stream ended after a complete event; [io.ErrUnexpectedEOF] means that its end cut off an
// event. Next returns any other error of the stream unchanged.
func (r *Reader) Next() (Event, error) {
	for r.err == nil {
		line, whole := r.lines.next()
		switch {
		case r.cut != uncut:
			r.pass(line, whole)
		case whole && len(line) == 0:
			if e, ok, err := r.dispatch(); ok {
				return e, err
			}
		case whole:
			r.field(line)
		default:
			r.check(line)
		}
		if !whole && r.err == nil {
			r.more()
		}
	}
	return Event{Retry: -1}, r.err
}

// more reads from the stream once, or fails if the stream has ended.
func (r *Reader) more() {
	if err := r.lines.err; err != nil {
		if err == io.EOF && (r.begun() || r.unfinished()) {
			err = io.ErrUnexpectedEOF
		}
		r.fail(err)
		return
	}
	r.own()
	r.lines.fill(r.limit - len(r.data))
}

// begun reports whether the current event has any field.
func (r *Reader) begun() bool {
	return r.event.HasData || r.event.HasID || r.event.Retry >= 0 || r.named
}

// unfinished reports whether an unfinished line other than a comment has been read.
func (r *Reader) unfinished() bool {
	line, _ := r.lines.next()
	return r.cut != uncut || len(line) > 0 && line[0] != ':'
}

// fail makes every further call of Next return err.
func (r *Reader) fail(err error) {
	r.err = err
	r.lines, r.held, r.data, r.over = lines{}, nil, nil, nil
}

// own moves the data out of the buffer before the buffer changes.
func (r *Reader) own() {
	if r.held != nil {
		r.data = r.lines.release(r.held)
		r.held = nil
	}
}

// check handles an unfinished line. If the line is already too long, check removes its beginning from the buffer.
func (r *Reader) check(line []byte) {
	value, isData := bytes.CutPrefix(line, []byte("data:"))
	switch {
	case isData && len(value) > 0 && (r.over != nil || !r.fits(trim(value), r.event.HasData)):
		r.cut = counted
		r.addData(trim(value))
	case !isData && len(line) > maxField:
		r.cut = ignored
	default:
		return
	}
	r.lines.skip()
}

// pass handles the next piece of an overlong line.
func (r *Reader) pass(piece []byte, last bool) {
	if r.cut == counted {
		r.over.Write(piece)
	}
	if last {
		r.cut = uncut
	} else {
		r.lines.skip()
	}
}
