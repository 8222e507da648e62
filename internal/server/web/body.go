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

// bodyWindow is how long a body may take for what BodyRate says comes in that time.
const bodyWindow = 10 * time.Second

// bodyPatience is how long the first bytes of a body may take; zero or less for ever.
func (c *Options) bodyPatience() time.Duration {
	switch {
	case c.BodyRate < 0:
		return c.BodyTimeout
	case c.BodyTimeout <= 0:
		return bodyWindow
	}
	return min(c.BodyTimeout, bodyWindow)
}

// readBody reads the body of a request, which then belongs to the caller. It refuses the request if that fails.
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
		if p.r.ProtoMajor == 1 { // nothing waits for the rest
			p.w.Header().Set("Connection", "close")
		}
		h.refuse(p.w, p.r, bodyRefusal(err))
		return false
	}
	if patience > 0 { // of what was refused, net/http reads the rest, in the time that is left
		p.allow(time.Time{})
	}
	p.closeBody()
	return true
}

// closeBody says that all of the body has been read. Otherwise net/http, for HTTP/1, looks for more of it before it
// sends headers: a fortieth of what it allocates for a request.
func (p *post) closeBody() {
	if p.pump == nil && p.r.ProtoMajor == 1 {
		_ = p.r.Body.Close()
	}
}

// body returns what to read the body from.
func (p *post) body() io.Reader {
	if p.pump != nil {
		return p.pump
	}
	return p.r.Body
}

// allow gives the body time until then; the zero time is for ever.
func (p *post) allow(until time.Time) {
	if p.pump != nil {
		p.pump.until = until
		return
	}
	_ = p.ctl.SetReadDeadline(until)
}

// noDeadlines tells the operator, once, that a writer allows no deadlines, if that is what err says.
func (h *Handler) noDeadlines(r *http.Request, err error) {
	if errors.Is(err, http.ErrNotSupported) && !h.warned.Swap(true) {
		o := h.observer(r)
		o.Tel.NoDeadlines()
	}
}

// upload is a body that may be large while it is being read: it takes room as it comes, and has to come at a rate. It
// is used by the goroutine of its request.
type upload struct {
	*post
	cfg   *Options
	room  *quota.Memory
	begun time.Time
	came  int // in this window
}

func (h *Handler) readLarge(p *post) ([]byte, error) {
	u := &upload{post: p, cfg: &h.cfg, room: h.room, begun: time.Now()}
	b := grow.Body{Announced: p.r.ContentLength, Limit: h.cfg.FrameLimit, Grow: u.grow}
	return b.Read(u)
}

// Read reads from the body. What keeps up with the rate gets more time.
func (u *upload) Read(b []byte) (int, error) {
	n, err := u.body().Read(b)
	if u.came += n; err == nil && u.cfg.BodyRate >= 0 && u.came >= u.cfg.BodyRate*int(bodyWindow/time.Second) {
		u.came = 0
		u.extend(bodyWindow)
	}
	return n, err
}

// extend gives the body some time from now on, within BodyTimeout.
func (u *upload) extend(d time.Duration) {
	until := time.Now().Add(d)
	if end := u.begun.Add(u.cfg.BodyTimeout); u.cfg.BodyTimeout > 0 && end.Before(until) {
		until = end
	}
	u.allow(until)
}

// grow takes room for a larger buffer. Until the request has been answered, what it needs is the visit's.
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

// roomWait is how long a body waits for memory.
const roomWait = 5 * time.Second

// await waits for room. Meanwhile nothing is read, so the time does not count.
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

// bodyRefusal returns the refusal of a request whose body could not be read.
func bodyRefusal(err error) refusal {
	f := badRequest(names.RefusalBody, "the body is cut off")
	switch {
	case err == ErrNoRoom:
		return tooBusy(ErrNoRoom)
	case errors.Is(err, grow.ErrLimit):
		f.reason, f.status = names.RefusalTooLarge, http.StatusRequestEntityTooLarge
		f.err.Message = "the body is above the limit of this server"
	case errors.Is(err, os.ErrDeadlineExceeded):
		f.status, f.err.Message = http.StatusRequestTimeout, "the body was not there in time"
	}
	return f
}
