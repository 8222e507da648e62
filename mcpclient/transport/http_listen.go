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

// openStream asks for an event stream: the one of session s, or, with the id of its last event, one that has ended.
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

// noStream returns nil if the response is an event stream, and otherwise closes it and says what it is.
func noStream(resp *http.Response, to addressee) *RequestError {
	if resp.StatusCode == http.StatusOK && isType(resp, eventsOnly) {
		return nil
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return refusal(resp, to, bodyOf(resp, errorBody))
	}
	return &RequestError{
		Reason: Malformed, Status: resp.StatusCode,
		Err: fmt.Errorf("want an event stream, got content type %q", clip(resp.Header.Get("Content-Type"))),
	}
}

// listeningWait is how long other messages wait for the stream on which the server may ask something back, once
// notifications/initialized has been answered: servers lose what they ask while there is none.
const listeningWait = 500 * time.Millisecond

// listen opens the stream for what the server says unasked in session s, in the background. It is called within an
// exchange. opened is called, more than once perhaps, when the server has said whether there is one, or takes too long.
// If it is late, messages may have been lost before.
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
		defer c.streamsNoMore(s)
		l.run(func() {
			if !limit.Stop() && !l.had { // messages of the client did not wait for the stream
				l.gap = names.GapStream
			}
			opened()
		})
	})
}

// streamsNoMore says that the session's stream has ended for good, as it does at once with most servers, which have
// none. Its context, with what net/http has derived from it, is half a KiB.
func (c *httpConn) streamsNoMore(s *session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.listening--; s.listening == 0 {
		s.stream.end()
		s.stream = nil
	}
}

// listening is the stream for what the server says unasked in a session, however often it is opened. It is owned by the
// goroutine of run.
type listening struct {
	conn    *httpConn
	session *session
	ctx     context.Context // of the session's stream
	cur     cursor          // where in it we are
	had     bool            // it was open once
	gap     string          // why messages may be lost, a Gap word of package names; empty if none are
}

// run reads the stream, and opens it again when it has ended, until the server refuses it or the session is over. It
// goes on behind the last event it has seen; without an event, or if the server does not keep what follows it, it
// reports that messages may be lost.
// (specification 2025-11-25, basic/transports, "Listening for Messages from the Server")
func (l *listening) run(opened func()) {
	c := l.conn
	for !l.session.dropped() && !c.isOver() {
		resp, failure := c.openStream(l.ctx, l.session, l.cur.id)
		opened()
		if failure == nil {
			l.had = true
			l.report()
			l.hear(resp)
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

// again reports whether a stream that could not be opened is worth another try. A session that had one before and is
// not known any more is gone.
func (l *listening) again(failure *RequestError) bool {
	c := l.conn
	switch {
	case l.session.dropped():
		return false
	case failure.Reason == SessionGone && l.had:
		c.inbox.deliver(l.ctx, l.session, Frame{Err: failure})
		return false
	case !passing(failure) && l.cur.id != "": // the event is unknown, or too old
		l.cur.id, l.gap = "", names.GapReplay
	case !passing(failure):
		record(c.logger, names.EventMCPClientStreamRefused, slog.String(names.KeyMCPClientStreamKind, names.StreamGet),
			slog.String(names.KeyExceptionMessage, withoutBody(failure)))
		return false
	case failure.Reason == Unreachable:
		if c.requests.missed(false) {
			c.fail(failure.Err)
		}
	}
	return true
}

// hear delivers what comes on the stream until it ends.
func (l *listening) hear(resp *http.Response) {
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
