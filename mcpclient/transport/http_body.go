package transport

import (
	"bytes"
	"io"
	"math"
	"net/http"

	"github.com/mcpotel/mcpotel/internal/grow"
	"github.com/mcpotel/mcpotel/internal/oversize"
	"github.com/mcpotel/mcpotel/internal/sse"
)

// frameBound is the policy for large frames. It is immutable.
type frameBound struct {
	limit int  // the largest frame, in bytes
	skip  bool // skip frames above the limit instead of closing the connection
}

// events returns a reader for the events in a body.
func (b frameBound) events(body io.Reader) *sse.Reader { return sse.NewReader(body, b.limit, b.skip) }

// readBody reads the body of the response. The buffer grows only as bytes arrive, so a false Content-Length allocates
// little. With a Content-Length, the returned slice fills its buffer. Without one, a small body is copied out of the
// worker's buffer, and a large body may leave up to half of its buffer unused. For a body above the limit the error is
// an *oversize.Error; if skip is set, the body has then been read to its end.
func (b frameBound) readBody(w *worker, resp *http.Response) ([]byte, error) {
	switch n := resp.ContentLength; {
	case n > int64(b.limit):
		return nil, b.passBody(resp.Body, nil, int(min(n, math.MaxInt)))
	case n >= 0:
		body := grow.Body{Announced: n, Limit: b.limit}
		return body.Read(resp.Body)
	}
	return b.readUnknown(w, resp.Body)
}

// readUnknown reads a body of unknown length into the worker's buffer. The buffer grows by a factor of four, or
// directly to the size of the last large body.
func (b frameBound) readUnknown(w *worker, body io.Reader) ([]byte, error) {
	buf, n := w.body, 0
	for {
		if n == len(buf) {
			size := w.lately.Next(n, b.limit+1)
			if size == 0 {
				size = grow.Next(n, -1, b.limit)
			}
			w.keep(buf)
			buf = append(make([]byte, 0, size), buf...)
			buf = buf[:cap(buf)]
		}
		m, err := body.Read(buf[n:])
		n += m
		switch {
		case n > b.limit:
			return nil, b.passBody(body, buf[:n], 0)
		case err == nil:
		case err != io.EOF:
			return nil, err
		default:
			return w.handOver(buf, n), nil
		}
	}
}

// handOver returns the first n bytes of buf in memory that the worker does not reuse.
func (w *worker) handOver(buf []byte, n int) []byte {
	w.lately.Note(n)
	if w.keep(buf) || n < len(buf)/2 {
		return bytes.Clone(buf[:n])
	}
	return buf[:n:n]
}

// keep keeps buf for later bodies unless it is large, and reports whether it kept buf.
func (w *worker) keep(buf []byte) bool {
	if len(buf) > grow.Kept {
		return false
	}
	w.body = buf
	return true
}

// passBody returns the error for a body above the limit, given the part that has been read. size is the
// Content-Length, 0 if unknown.
func (b frameBound) passBody(body io.Reader, part []byte, size int) error {
	var ends oversize.Ends
	ends.Write(part)
	if !b.skip {
		_, _ = io.CopyN(&ends, body, int64(max(0, oversize.Kept-len(part))))
		e := ends.Over(b.limit, false)
		e.Size = max(size, e.Size)
		return e
	}
	if _, err := io.Copy(&ends, body); err != nil {
		return err
	}
	return ends.Over(b.limit, true)
}
