package web

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/mcpotel/mcpotel/internal/grow"
	"github.com/mcpotel/mcpotel/internal/server/quota"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// bodyWindow is the period over which BodyRate is measured.
const bodyWindow = 10 * time.Second

// bodyPatience returns the time limit for the first bytes of a body. Zero or a negative value means no limit.
func (c *Options) bodyPatience() time.Duration {
	switch {
	case c.BodyRate < 0:
		return c.BodyTimeout
	case c.BodyTimeout <= 0:
		return bodyWindow
	}
	return min(c.BodyTimeout, bodyWindow)
}

// readBody reads the body of a request into p.frame, which belongs to the caller afterwards. After an error, readBody
// refuses the request.
func (h *Handler) readBody(p *post) (ok bool) {
	patience := h.cfg.bodyPatience()
	if patience > 0 {
		until := time.Now().Add(patience)
		if err := p.ctl.SetReadDeadline(until); err != nil {
			h.noDeadlines(p.r, err)
			p.pump = newPump(p.r.Body, until)
			defer p.pump.stop()
		}
	}
	var err error
	if n := p.r.ContentLength; n >= 0 && n <= int64(min(grow.First, h.cfg.FrameLimit)) {
		p.frame = make([]byte, n)
		_, err = io.ReadFull(p.body(), p.frame)
	} else {
		p.frame, err = h.readLarge(p)
	}
	if err != nil {
		if p.r.ProtoMajor == 1 { // do not wait for the rest of the body
			p.w.Header().Set("Connection", "close")
		}
		h.refuse(p.w, p.r, bodyRefusal(err))
		return false
	}
	if patience > 0 { // after a refusal, the deadline limits how long net/http reads the rest
		p.allow(time.Time{})
	}
	p.closeBody()
	return true
}

// closeBody closes a body that was read completely. Without this, net/http looks for more of an HTTP/1 body before it
// sends headers, which costs a fortieth of its allocations for a request.
func (p *post) closeBody() {
	if p.pump == nil && p.r.ProtoMajor == 1 {
		_ = p.r.Body.Close()
	}
}

// body returns the reader of the body.
func (p *post) body() io.Reader {
	if p.pump != nil {
		return p.pump
	}
	return p.r.Body
}

// allow sets the deadline for reading the body. The zero time means no deadline.
func (p *post) allow(until time.Time) {
	if p.pump != nil {
		p.pump.until = until
		return
	}
	_ = p.ctl.SetReadDeadline(until)
}

// noDeadlines warns the operator if err shows that the response writer supports no deadlines. It warns only once.
func (h *Handler) noDeadlines(r *http.Request, err error) {
	if errors.Is(err, http.ErrNotSupported) && !h.warned.Swap(true) {
		o := h.observer(r)
		o.Tel.NoDeadlines()
	}
}

// upload reads a large body. It reserves memory as the buffer grows, and requires a minimum rate. Only the goroutine
// of the request uses it.
type upload struct {
	*post
	cfg   *Options
	room  *quota.Memory
	begun time.Time
	came  int // bytes read in the current window
}

func (h *Handler) readLarge(p *post) ([]byte, error) {
	u := &upload{post: p, cfg: &h.cfg, room: h.room, begun: time.Now()}
	b := grow.Body{Announced: p.r.ContentLength, Limit: h.cfg.FrameLimit, Grow: u.grow}
	return b.Read(u)
}

// Read reads from the body. A body that reaches the minimum rate gets more time.
func (u *upload) Read(b []byte) (int, error) {
	n, err := u.body().Read(b)
	if u.came += n; err == nil && u.cfg.BodyRate >= 0 && u.came >= u.cfg.BodyRate*int(bodyWindow/time.Second) {
		u.came = 0
		u.extend(bodyWindow)
	}
	return n, err
}

// extend moves the read deadline to d from now, but not beyond BodyTimeout.
func (u *upload) extend(d time.Duration) {
	until := time.Now().Add(d)
	if end := u.begun.Add(u.cfg.BodyTimeout); u.cfg.BodyTimeout > 0 && end.Before(until) {
		until = end
	}
	u.allow(until)
}

// grow reserves memory for a larger buffer. The visit owns the reservation until the request is answered.
func (u *upload) grow(from, to int) (grown func(), err error) {
	if !u.room.ReservePart(u.visit.who, to) && !u.await(to) {
		return nil, ErrNoRoom
	}
	u.visit.bytes += to
	return func() {
		if from > grow.First {
			u.visit.bytes -= from
			u.room.Change(u.visit.who, -from)
		}
	}, nil
}

// roomWait is how long a body waits for memory at most.
const roomWait = 5 * time.Second

// await waits for memory. The wait does not count against BodyRate, because the server reads nothing; but it counts
// against BodyTimeout.
func (u *upload) await(n int) bool {
	if u.cfg.BodyRate >= 0 {
		u.extend(roomWait + bodyWindow)
		u.came = 0
		defer u.extend(bodyWindow)
	}
	ctx, cancel := context.WithTimeout(u.r.Context(), roomWait)
	defer cancel()
	return u.room.WaitPart(ctx, u.visit.who, n)
}

// bodyRefusal returns the refusal for an error while reading the body.
func bodyRefusal(err error) refusal {
	f := badRequest(names.RefusalBody, "the body is incomplete")
	switch {
	case err == ErrNoRoom:
		return tooBusy(ErrNoRoom)
	case errors.Is(err, grow.ErrLimit):
		f.reason, f.status = names.RefusalTooLarge, http.StatusRequestEntityTooLarge
		f.err.Message = "the body exceeds the size limit of this server"
	case errors.Is(err, os.ErrDeadlineExceeded):
		f.status, f.err.Message = http.StatusRequestTimeout, "the body did not arrive in time"
	}
	return f
}
