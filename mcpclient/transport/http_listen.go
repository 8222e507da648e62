package transport

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// openStream requests an event stream with GET. If last, the id of the last event received, is not empty, openStream
// resumes the stream of that event; otherwise it opens the stream of session s.
func (c *httpConn) openStream(ctx context.Context, s *session, last string) (*http.Response, *RequestError) {
	c.mu.Lock()
	id, version := s.id, s.version
	c.mu.Unlock()
	resp, failure := c.requests.roundTrip(outgoing{ctx: ctx, method: http.MethodGet, to: c.requests.target, header: only{
		"Accept": eventsOnly, "Mcp-Session-Id": id, "Mcp-Protocol-Version": version, "Last-Event-Id": last,
	}})
	to := theServer
	if id != "" {
		to = theSession
	}
	if failure == nil {
		failure = noStream(resp, to)
	}
	if failure != nil {
		return nil, failure
	}
	return resp, nil
}

// noStream returns nil if the response is an event stream. Otherwise it closes the response and returns an error.
func noStream(resp *http.Response, to addressee) *RequestError {
	if resp.StatusCode == http.StatusOK && isType(resp, eventsOnly) {
		return nil
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return refusal(resp, to, bodyOf(resp, errorBody))
	}
	return &RequestError{
		Reason: ReasonMalformed, Status: resp.StatusCode,
		Err: fmt.Errorf("want an event stream, got content type %q", clip(resp.Header.Get("Content-Type"))),
	}
}

// listeningWait is how long other messages wait for the GET stream to open after notifications/initialized has
// been answered. Servers lose the requests that they send while there is no stream.
const listeningWait = 500 * time.Millisecond

// listen opens the GET stream of session s, for notifications and requests of the server, in the background. It is
// called during an exchange. It calls opened, possibly more than once, when the server has accepted or refused the
// stream, or after listeningWait. late is true if messages may have been lost before the stream opens; then listen
// reports a gap.
func (c *httpConn) listen(s *session, late bool, opened func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.h.NoListening || c.old.stream != nil || c.closing {
		if missed := c.requests.hooks.missed; missed != nil && late && c.old.stream != nil {
			c.mu.Unlock()
			missed(names.GapStream)
			c.mu.Lock()
		}
		opened()
		return
	}
	limit := time.AfterFunc(listeningWait, opened)
	l := &listening{conn: c, session: s, ctx: s.streaming(), cur: cursor{retry: -1}}
	if late {
		l.gap = names.GapStream
	}
	c.tasks.Go(func() {
		defer opened()
		defer limit.Stop()
		defer c.streamEnded(s)
		l.run(func() {
			if !limit.Stop() && !l.wasOpen { // other messages of the client were sent before the stream was open
				l.gap = names.GapStream
			}
			opened()
		})
	})
}

// streamEnded releases the session's stream when no goroutine reads it any more. Most servers have no such stream, so
// this saves half a KiB for most sessions: the stream's context and the contexts that net/http derives from it.
func (c *httpConn) streamEnded(s *session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.listening--; s.listening == 0 {
		s.stream.end()
		s.stream = nil
	}
}

// listening reads the GET stream of a session, and reopens it. It is owned by the goroutine of run.
type listening struct {
	conn    *httpConn
	session *session
	ctx     context.Context // context of the session's stream
	cur     cursor          // position in the stream
	wasOpen bool            // the stream has been open before
	gap     string          // why messages may be lost, a Gap constant of package names; empty if none are
}

// run reads the stream and reopens it after each end, until the server refuses the stream or the session is over.
// It resumes after the last event; if there was no event, or the server does not keep later events, run reports
// that messages may be lost.
// (specification 2025-11-25, basic/transports, "Listening for Messages from the Server")
func (l *listening) run(opened func()) {
	c := l.conn
	for !l.session.dropped() && !c.isOver() {
		resp, failure := c.openStream(l.ctx, l.session, l.cur.id)
		opened()
		if failure == nil {
			l.wasOpen = true
			l.report()
			l.read(resp)
		} else if !l.again(failure) {
			return
		}
		if l.cur.id == "" {
			l.gap = cmp.Or(l.gap, names.GapStream)
		}
		await(l.ctx, c.whenOver(), l.cur.pause(failure))
	}
}

// report reports that messages may have been lost before the stream was opened.
func (l *listening) report() {
	if missed := l.conn.requests.hooks.missed; missed != nil && l.gap != "" {
		missed(l.gap)
	}
	l.gap = ""
}

// again reports whether to try again after the stream could not be opened. If the stream was open before and the
// server no longer knows the session, the session is gone.
func (l *listening) again(failure *RequestError) bool {
	c := l.conn
	switch {
	case l.session.dropped():
		return false
	case failure.Reason == ReasonSessionGone && l.wasOpen:
		c.inbox.deliver(l.ctx, l.session, Frame{Err: failure})
		return false
	case !passing(failure) && l.cur.id != "": // the event is unknown, or too old
		l.cur.id, l.gap = "", names.GapReplay
	case !passing(failure):
		record(c.logger, names.EventMCPClientStreamRefused, slog.String(names.KeyMCPClientStreamKind, names.StreamGet),
			slog.String(names.KeyExceptionMessage, withoutBody(failure)))
		return false
	case failure.Reason == ReasonUnreachable:
		if c.requests.missed(false) {
			c.fail(failure.Err)
		}
	}
	return true
}

// read delivers the frames of the stream until it ends.
func (l *listening) read(resp *http.Response) {
	c := l.conn
	ended := c.inbox.streamOpened("get")
	l.cur.opened()
	_, err := c.consume(l.ctx, l.session, c.bound.events(resp.Body), 0, &l.cur)
	_ = resp.Body.Close()
	if errors.Is(err, io.EOF) || l.session.dropped() || l.ctx.Err() != nil {
		err = nil
	}
	ended(err)
}
