package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/mcpotel/mcpotel/internal/sse"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// openStream asks for an event stream: the one of session s, or, with the id of its last event, one that has ended.
func (c *httpConn) openStream(ctx context.Context, s *session, last string) (*http.Response, *RequestError) {
	c.mu.Lock()
	id, version := s.id, s.version
	c.mu.Unlock()
	resp, failure := c.roundTrip(outgoing{ctx: ctx, method: http.MethodGet, to: c.target, header: only{
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

// listens opens the stream for what the server says unasked in session s, in the background. It is called within an
// exchange. opened is called, more than once perhaps, when the server has said whether there is one, or takes too long.
func (c *httpConn) listens(s *session, opened func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.h.NoListening || c.shared != nil || c.closing {
		opened()
		return
	}
	limit := time.AfterFunc(listeningWait, opened)
	c.tasks.Go(func() {
		defer opened()
		defer limit.Stop()
		c.listen(s, opened)
	})
}

// listen reads that stream, and opens it again when it has ended, until the server refuses it or the session is over.
// It goes on behind the last event it has seen.
// (specification 2025-11-25, basic/transports, "Listening for Messages from the Server")
func (c *httpConn) listen(s *session, opened func()) {
	ctx, cur, had := c.living(s), cursor{retry: -1}, false
	for !s.dropped() && !c.isOver() {
		resp, failure := c.openStream(ctx, s, cur.id)
		opened()
		if failure == nil {
			had = true
			c.hear(ctx, s, resp, &cur)
		} else if !c.again(ctx, s, failure, had) {
			return
		}
		await(ctx, c.whenOver(), cur.pause(failure))
	}
}

// again reports whether a stream that could not be opened is worth another try. A session that had one before and is
// not known any more is gone.
func (c *httpConn) again(ctx context.Context, s *session, failure *RequestError, had bool) bool {
	switch {
	case s.dropped():
		return false
	case failure.Reason == SessionGone && had:
		c.deliver(ctx, s, Frame{Err: failure})
		return false
	case !passing(failure):
		record(c.logger, names.EventMCPClientStreamRefused, slog.String(names.KeyMCPClientStreamKind, names.StreamGet),
			slog.String(names.KeyError, withoutBody(failure)))
		return false
	case failure.Reason == Unreachable:
		if c.missed(false) {
			c.fail(failure.Err)
		}
	}
	return true
}

// hear delivers what comes on the stream until it ends.
func (c *httpConn) hear(ctx context.Context, s *session, resp *http.Response, cur *cursor) {
	ended := c.streamOpened("get")
	cur.opened()
	_, err := c.consume(ctx, s, sse.NewReader(resp.Body, c.limit, c.skip), 0, cur)
	_ = resp.Body.Close()
	if errors.Is(err, io.EOF) || s.dropped() {
		err = nil
	}
	ended(err)
}

// streamOpened tells whoever wants to know that a stream has opened, and returns a function to tell that it has ended.
func (c *httpConn) streamOpened(kind string) (ended func(error)) {
	var tell func(error)
	if c.opened != nil {
		tell = c.opened(kind)
	}
	c.streaming(1)
	return func(why error) {
		c.streaming(-1)
		if tell != nil {
			tell(why)
		}
	}
}
