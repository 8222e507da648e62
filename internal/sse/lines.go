package sse

import (
	"bytes"
	"io"

	"github.com/mcpotel/mcpotel/internal/grow"
)

const (
	firstBuffer = 1 << 10 // first size of the buffer: most events fit
	handOver    = 1 << 20 // data from this size on keep the buffer that they were read into
)

// lines splits a stream into lines, which end with CR, LF or CRLF.
type lines struct {
	r   io.Reader
	err error // error of r

	buf        []byte // length equals capacity
	start, end int    // bounds of the unread data in buf
	// offsets of the next LF and CR: end if there is none, below start if not searched yet
	lf, cr  int
	afterCR bool // an LF at start belongs to the previous line
	begun   bool // the start of the stream has been checked for a byte order mark

	lately grow.Lately // recent sizes of event data, including those of earlier streams
}

// next returns the next line as a part of the buffer. If the end of the line has not been read yet, next returns the
// part that has been read and reports false.
func (l *lines) next() (line []byte, whole bool) {
	if !l.begin() {
		return nil, false
	}
	if l.afterCR && l.start < l.end {
		l.afterCR = false
		if l.buf[l.start] == '\n' {
			l.start++
		}
	}
	at := min(l.find(&l.lf, '\n'), l.find(&l.cr, '\r'))
	line = l.buf[l.start:at]
	if at == l.end {
		return line, false
	}
	l.start = at + 1
	l.afterCR = l.buf[at] == '\r'
	return line, true
}

// find returns the offset of the first c in the unread data, or end if there is none. *at holds the previous result;
// with it, find reads no byte twice.
func (l *lines) find(at *int, c byte) int {
	*at = max(*at, l.start)
	if i := bytes.IndexByte(l.buf[*at:l.end], c); i >= 0 {
		*at += i
	} else {
		*at = l.end
	}
	return *at
}

// begin skips a byte order mark. It reports false if more data is needed to recognize one.
func (l *lines) begin() bool {
	const mark = "\xEF\xBB\xBF"
	if l.begun {
		return true
	}
	first := l.buf[l.start:min(l.start+len(mark), l.end)]
	if len(first) < len(mark) && string(first) == mark[:len(first)] && l.err == nil {
		return false
	}
	if string(first) == mark {
		l.start += len(mark)
	}
	l.begun = true
	return true
}

// skip drops the buffered part of an unfinished line.
func (l *lines) skip() { l.start = l.end }

// fill makes room in the buffer and reads once. Lines returned before become invalid.
func (l *lines) fill(limit int) {
	l.makeRoom(limit)
	for range 100 {
		n, err := l.r.Read(l.buf[l.end:])
		l.end += n
		if l.err = err; n > 0 || err != nil {
			return
		}
	}
	l.err = io.ErrNoProgress
}

// makeRoom ensures space behind buf[end]. The buffer grows fourfold, up to the size of a data line at the limit. If the
// last large event needed more, the buffer grows to that size in one step. makeRoom replaces a buffer that has become
// too large for its use.
func (l *lines) makeRoom(limit int) {
	unread := l.end - l.start
	switch size := len(l.buf); {
	case size > grow.Kept && unread < size/32:
		l.move(make([]byte, max(firstBuffer, 2*unread)))
	case l.end < size && unread > 0:
	case unread < size:
		l.move(l.buf)
	default:
		most := max(limit, maxField) + len("data: \r\n\r\n")
		next := l.lately.Next(size, most)
		if next == 0 {
			next = grown(size, most)
		}
		l.move(make([]byte, next))
	}
}

// grown returns the next size of a full buffer. If this size is close to most, grown returns most, to avoid another
// step.
func grown(size, most int) int {
	next := max(firstBuffer, 4*size)
	if size == handOver {
		next = 2 * size // many events are slightly larger than handOver
	}
	if 2*next > most {
		return max(most, size+firstBuffer)
	}
	return next
}

// move copies the unread data to the beginning of buf and makes buf the buffer.
func (l *lines) move(buf []byte) {
	l.lf, l.cr = l.lf-l.start, l.cr-l.start
	l.end = copy(buf, l.buf[l.start:l.end])
	l.buf, l.start = buf, 0
}

// release returns the bytes of part in memory that the reader no longer uses. part lies in the buffer, before the
// unread data.
func (l *lines) release(part []byte) []byte {
	l.lately.Note(len(part))
	if len(part) < handOver || len(part) < len(l.buf)/2 {
		return append([]byte{}, part...) // exact size, and not nil
	}
	l.move(make([]byte, max(firstBuffer, l.end-l.start)))
	return part[:len(part):len(part)]
}
