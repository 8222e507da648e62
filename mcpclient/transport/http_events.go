package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/waits"
	"github.com/mcpotel/mcpotel/internal/oversize"
	"github.com/mcpotel/mcpotel/internal/sse"
)

const maxResumes = 5 // in a row without an event

// lasting is how long a stream must last to be of use even if it brings nothing: proxies end those that are idle.
const lasting = 10 * time.Second

// cursor is where in a stream we are, and how it did so far.
type cursor struct {
	id      string        // of the last event, "" if it cannot be resumed
	retry   time.Duration // what the server wants us to wait before resuming, negative if it has not said
	tries   int           // to resume it, since the last event
	useless int           // times in a row that it brought nothing and ended soon, or could not be opened
	brief   int           // times in a row that it ended soon, whatever it brought, or could not be opened
	since   time.Time     // it was opened
	first   bool          // it answers the first request, and a server of HTTP+SSE says there that it is one
	asks    *exchange     // whose answer it is to bring; nil for none, and once Receive has got something of it
}

// note takes in an event.
func (cur *cursor) note(e sse.Event) {
	cur.tries = 0
	if len(e.Data) > 0 || e.HasID && e.ID != cur.id {
		cur.useless = 0
	}
	if e.HasID {
		cur.id = ""
		if headerValue(e.ID) {
			cur.id = e.ID
		}
	}
	if e.Retry >= 0 {
		cur.retry = e.Retry
	}
}

// opened notes that the stream is open.
func (cur *cursor) opened() { cur.since = time.Now() }

// pause returns how long to wait before the next try to open the stream, which has ended or, because of failure, was
// not opened.
func (cur *cursor) pause(failure *RequestError) time.Duration {
	if failure == nil && time.Since(cur.since) >= lasting {
		cur.useless, cur.brief = 0, 0
	}
	wait := waits.Reopen(cur.retry, cur.useless, cur.brief)
	cur.tries++
	cur.useless++
	cur.brief++
	if failure != nil {
		wait = max(wait, failure.RetryAfter)
	}
	return wait
}

// follow delivers what comes on the stream that answers the request, until that has its answer.
func (ex *exchange) follow(w *worker, resp *http.Response) {
	cur := cursor{retry: -1, first: ex.introduces() && ex.conn.h.Mode == Auto, asks: ex}
	for resp != nil {
		events := w.eventsOf(ex.conn.bound)
		events.Reset(resp.Body)
		cur.opened()
		complete, err := ex.conn.consume(ex.ctx, ex.session, events, ex.m.ID, &cur)
		if complete {
			ex.linger(resp)
		}
		_ = resp.Body.Close()
		events.Reset(nil) // it holds on to nothing
		if complete {
			return
		}
		if err == errOldServer {
			ex.postToOld(w)
			return
		}
		resp = ex.resume(&cur, err)
	}
}

// consume delivers the messages of a stream in session s. It returns true when it has delivered the answer to the
// request with this id, and otherwise why the stream has ended. The id is 0 if the stream serves no single request. An
// answer before which nothing came is offered to the one who asked; another one might overtake what came before it.
func (c *httpConn) consume(ctx context.Context, s *session, events *sse.Reader, id int64, cur *cursor) (bool, error) {
	for {
		e, err := events.Next()
		tooLarge, isTooLarge := errors.AsType[*oversize.Error](err)
		frame, complete := Frame{Data: e.Data, Request: id}, false
		switch {
		case isTooLarge && !c.bound.skip:
			c.fail(endedBy(tooLarge))
			return false, err
		case isTooLarge:
			cur.tries, cur.useless = 0, 0
			frame, complete = tooLargeFrame(tooLarge, id)
		case err != nil:
			return false, err
		default:
			cur.note(e)
			if e.Name == endpointEvent && cur.first {
				return false, errOldServer
			}
			if len(e.Data) == 0 || e.Name != "" && e.Name != "message" {
				continue
			}
			complete = id != 0 && answers(e.Data, id)
		}
		if complete && frame.Err == nil && cur.asks != nil && cur.asks.offer(frame) {
			return true, nil
		}
		cur.asks = nil
		if !c.inbox.deliver(ctx, s, frame) {
			return false, context.Cause(ctx)
		}
		if complete {
			return true, nil
		}
	}
}

// tooLargeFrame returns the report of an event that was skipped on the stream of a request, or of none. complete says
// that it was the answer.
func tooLargeFrame(e *oversize.Error, request int64) (f Frame, complete bool) {
	f.Err = skipped(e)
	if request != 0 && isAnswerTo(e.Head, e.Tail, request) {
		f.Request = request
		return f, true
	}
	return f, false
}

// linger lets a stream end that has no more to say. The exchange is settled meanwhile; it keeps its place, unless
// another needs that.
func (ex *exchange) linger(resp *http.Response) {
	ex.conn.lingering.add(ex)
	ex.conn.settle(ex)
	if ex.conn.anyInLine() {
		defer time.AfterFunc(lingerBriefly, ex.stop).Stop()
	}
	_, _ = io.CopyN(io.Discard, resp.Body, 4<<10)
	ex.conn.lingering.remove(ex)
}

// resume opens a stream again that has ended with err before its answer, if its server lets it. Otherwise it reports
// the failure of the request and returns nil.
// (specification 2025-11-25, basic/transports, "Resumability and Redelivery")
func (ex *exchange) resume(cur *cursor, err error) *http.Response {
	c := ex.conn
	for failure := (*RequestError)(nil); ; {
		if ex.ctx.Err() != nil || c.isOver() {
			return nil
		}
		if ex.modern || cur.id == "" || cur.tries == maxResumes {
			ex.fail(&RequestError{Reason: Lost, Err: fmt.Errorf("the stream ended before the answer: %w", err)})
			return nil
		}
		if await(ex.ctx, c.whenOver(), cur.pause(failure)) || ex.ctx.Err() != nil {
			return nil
		}
		var resp *http.Response
		resp, failure = c.openStream(ex.ctx, ex.session, cur.id)
		switch {
		case failure == nil:
			return resp
		case failure.Reason == SessionGone:
			ex.fail(&RequestError{Reason: SessionGone, Status: failure.Status, Err: failure.Err}) // the request was sent, though
			return nil
		case !passing(failure):
			ex.fail(&RequestError{Reason: Lost, Err: fmt.Errorf("the stream ended before the answer: %w; resume: %w", err,
				failure)})
			return nil
		}
		err = failure
	}
}

// passing reports whether a stream that could not be opened may be opened some time later.
func passing(e *RequestError) bool {
	return e.Reason == Lost || e.Reason == Unreachable || e.Reason == Busy || e.Status >= 500
}
