package sse

import (
	"bytes"
	"io"

	"github.com/mcpotel/mcpotel/internal/grow"
)

const (
	firstBuffer = 1 << 10 // of a reader at first: most events fit in
	handOver    = 1 << 20 // from this size on, data keep the buffer they were read into
)

// lines finds the lines of a stream, which end with CR, LF or CRLF.
type lines struct {
	r   io.Reader
	err error // of r

	buf        []byte // its length is its capacity
	start, end int    // what has been read and not been returned
	// where the next LF and CR are; end if there is none, anything below start if that has not been looked for
	lf, cr  int
	afterCR bool // an LF at start belongs to the line before
	begun   bool // the beginning has been looked at for a byte order mark

	lately grow.Lately // data of events, of streams before this one, too
}

// next returns the next line, as a part of the buffer, if it is there with its end, else what there is of it.
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

// find returns where the first c is, end if there is none. *at is what it returned the last time: no byte is looked at
// twice, however short the lines are.
func (l *lines) find(at *int, c byte) int {
	*at = max(*at, l.start)
	if i := bytes.IndexByte(l.buf[*at:l.end], c); i >= 0 {
		*at += i
	} else {
		*at = l.end
	}
	return *at
}

// begin skips a byte order mark and reports whether there is enough to tell.
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

// skip drops what there is of an unfinished line.
func (l *lines) skip() { l.start = l.end }

// fill reads once, making room first. It ends the life of every line.
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

// makeRoom leaves space behind buf[end]. The buffer grows fourfold, up to a data line of the limit, and at once to what
// the last large event needed; one that is too large for its use by now is replaced.
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

// grown returns the size of a buffer that follows one of this size. It is most, rather than so little less that there
// would have to be another one.
func grown(size, most int) int {
	next := max(firstBuffer, 4*size)
	if size == handOver {
		next = 2 * size // many events are just above
	}
	if 2*next > most {
		return max(most, size+firstBuffer)
	}
	return next
}

// move takes what is unread to the beginning of buf and goes on with that.
func (l *lines) move(buf []byte) {
	l.lf, l.cr = l.lf-l.start, l.cr-l.start
	l.end = copy(buf, l.buf[l.start:l.end])
	l.buf, l.start = buf, 0
}

// release returns part, which is a part of the buffer in front of what is unread, in memory of its own.
func (l *lines) release(part []byte) []byte {
	l.lately.Note(len(part))
	if len(part) < handOver || len(part) < len(l.buf)/2 {
		return append([]byte{}, part...) // exact in size, and not nil
	}
	l.move(make([]byte, max(firstBuffer, l.end-l.start)))
	return part[:len(part):len(part)]
}
