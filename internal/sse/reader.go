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

	event  Event          // as far as it has been read, without its data
	named  bool           // it has a name, maybe an empty one
	held   []byte         // its data as a part of the buffer, until that changes, or
	data   []byte         // in memory of their own, or
	over   *oversize.Ends // what is left of them, once they are above the limit
	cut    cut            // what becomes of the rest of the line
	lastID string
	err    error // what every Next returns from now on
}

// cut says what the rest of a line is whose beginning has been taken out of the buffer.
type cut uint8

const (
	uncut   cut = iota
	ignored     // nothing
	counted     // data above the limit
)

// NewReader returns a reader of events with at most limit bytes of data; limit must be positive.
//
// At an event above the limit, [Reader.Next] returns an [*oversize.Error]: at once, and for good, if skip is false. If
// it is true, the rest of the event is read and dropped first, and the next Next returns the event behind.
func NewReader(r io.Reader, limit int, skip bool) *Reader {
	if limit <= 0 {
		panic("sse: limit must be positive")
	}
	return &Reader{lines: lines{r: r}, limit: limit, skip: skip, event: Event{Retry: -1}}
}

// Reset makes the reader begin anew with another stream. It keeps its buffer unless that is large, its limit, what it
// knows of the sizes of events, and nothing else.
func (r *Reader) Reset(src io.Reader) {
	buf := r.lines.buf
	if len(buf) > grow.Kept {
		buf = nil
	}
	l := lines{r: src, buf: buf, lately: r.lines.lately}
	*r = Reader{lines: l, limit: r.limit, skip: r.skip, event: Event{Retry: -1}}
}

// LastEventID returns what a client sends as Last-Event-ID to go on behind the last event that is over: its id, or that
// of the last one before it that had one, even without data. An id with a NUL counts for nothing.
func (r *Reader) LastEventID() string { return r.lastID }

// Next returns the next event that has data, an id or a retry time. Its data belong to the caller: nothing else refers
// to their memory.
//
// [io.EOF] says that the stream has ended behind an event, [io.ErrUnexpectedEOF] that its end has cut one off. Any
// other error of the stream is returned as it is.
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

// more reads more of the stream.
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

// begun reports whether there is a part of an event.
func (r *Reader) begun() bool {
	return r.event.HasData || r.event.HasID || r.event.Retry >= 0 || r.named
}

// unfinished reports whether there is a part of a line that is not a comment.
func (r *Reader) unfinished() bool {
	line, _ := r.lines.next()
	return r.cut != uncut || len(line) > 0 && line[0] != ':'
}

// fail makes err what every Next returns from now on.
func (r *Reader) fail(err error) {
	r.err = err
	r.lines, r.held, r.data, r.over = lines{}, nil, nil, nil
}

// own takes the data out of the buffer, which is about to change.
func (r *Reader) own() {
	if r.held != nil {
		r.data = r.lines.release(r.held)
		r.held = nil
	}
}

// check looks at the beginning of a line whose end has not been read yet, and takes it out of the buffer if it is too
// long.
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

// pass takes the next piece of such a line.
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
