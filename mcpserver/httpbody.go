package mcpserver

import (
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
)

// firstRead is how much room a body gets before any of it has come: what a client announces costs nothing yet.
const firstRead = 64 << 10

var errBodyTooLarge = errors.New("the body is above the limit of this server")

// readBody reads the body of a request, which then belongs to the caller. It refuses the request if that fails.
func (h *HTTPHandler) readBody(p *parcel) (ok bool) {
	bounded := h.cfg.BodyTimeout > 0 && p.ctl.SetReadDeadline(time.Now().Add(h.cfg.BodyTimeout)) == nil
	var err error
	if p.frame, err = readAll(p.r, h.s.cfg.FrameLimit); err != nil {
		if p.r.ProtoMajor == 1 { // nobody waits for the rest
			p.w.Header().Set("Connection", "close")
		}
		status, why := bodyRefusal(err)
		refuse(p.w, status, mcp.CodeInvalidRequest, why)
		return false
	}
	if bounded {
		_ = p.ctl.SetReadDeadline(time.Time{})
	}
	return true
}

// readAll reads the body of r, up to limit bytes.
func readAll(r *http.Request, limit int) ([]byte, error) {
	n := r.ContentLength
	if n > int64(limit) {
		return nil, errBodyTooLarge
	}
	if n >= 0 && n <= firstRead {
		body := make([]byte, n)
		_, err := io.ReadFull(r.Body, body)
		return body, err
	}
	return readGrowing(r.Body, make([]byte, 0, firstRead), limit)
}

// readGrowing reads all of r, up to limit bytes.
func readGrowing(r io.Reader, body []byte, limit int) ([]byte, error) {
	for {
		if len(body) == cap(body) {
			body = slices.Grow(body, len(body))
		}
		n, err := r.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case len(body) > limit:
			return nil, errBodyTooLarge
		case err == io.EOF:
			return body, nil
		case err != nil:
			return nil, err
		}
	}
}

// bodyRefusal returns the status for a body that could not be read, and what is wrong with it.
func bodyRefusal(err error) (status int, why string) {
	switch {
	case errors.Is(err, errBodyTooLarge):
		return http.StatusRequestEntityTooLarge, err.Error()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return http.StatusRequestTimeout, "the body was not there in time"
	}
	return http.StatusBadRequest, "the body is cut off"
}
