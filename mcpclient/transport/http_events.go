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

const maxResumes = 5 // attempts to resume a stream in a row without an event

// lasting is the duration after which even a stream without events counts as useful, because proxies close idle
// streams.
const lasting = 10 * time.Second

// cursor is a position in a stream, and the history of the attempts to read it.
type cursor struct {
	id      string        // id of the last event, "" if the stream cannot be resumed
	retry   time.Duration // delay that the server asks for before the stream is resumed, negative if unset
	tries   int           // attempts to resume since the last event
	useless int           // times in a row that the stream ended soon without an event, or did not open
	brief   int           // times in a row that the stream ended soon, with or without events, or did not open
	since   time.Time     // when the stream was opened
	first   bool          // the stream answers the first request: an endpoint event reveals HTTP+SSE
	asks    *exchange     // exchange that waits for the answer; nil if none, or after the stream has delivered a frame
}

// note records an event.
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

// opened records that the stream is open.
func (cur *cursor) opened() { cur.since = time.Now() }

// pause returns the delay before the next attempt to open the stream. failure is the error of the last attempt, or
// nil if the stream was open and has ended.
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

// follow delivers the frames of the stream that responds to the request, until the request has its answer.
func (ex *exchange) follow(w *worker, resp *http.Response) {
	cur := cursor{retry: -1, first: ex.isHandshake() && ex.conn.h.Mode == ModeAuto, asks: ex}
	for resp != nil {
		events := w.eventsOf(ex.conn.bound)
		events.Reset(resp.Body)
		cur.opened()
		complete, err := ex.conn.consume(ex.ctx, ex.session, events, ex.m.ID, &cur)
		if complete {
			ex.linger(resp)
		}
		_ = resp.Body.Close()
		events.Reset(nil) // release the body
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

// consume delivers the messages of a stream in session s. consume returns true when it has delivered the answer to the
// request with this id. Otherwise it returns the reason why the stream ended. The id is 0 if the stream serves no
// single request. Only an answer that is the first frame goes directly to the sender's callback; a later answer could
// overtake earlier frames.
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

// tooLargeFrame returns the report of a skipped event on the stream of a request, or on a shared stream if request
// is 0. complete reports whether the event was the answer.
func tooLargeFrame(e *oversize.Error, request int64) (f Frame, complete bool) {
	f.Err = skipped(e)
	if request != 0 && isAnswerTo(e.Head, e.Tail, request) {
		f.Request = request
		return f, true
	}
	return f, false
}

// linger waits for the end of a stream that has delivered its answer. The exchange is settled but keeps its place,
// unless another request needs the place.
func (ex *exchange) linger(resp *http.Response) {
	ex.conn.lingering.add(ex)
	ex.conn.settle(ex)
	if ex.conn.anyInLine() {
		defer time.AfterFunc(lingerBriefly, ex.stop).Stop()
	}
	_, _ = io.CopyN(io.Discard, resp.Body, 4<<10)
	ex.conn.lingering.remove(ex)
}

// resume reopens a stream that ended with err before its answer, if the server supports that. Otherwise it fails
// the request and returns nil.
// (specification 2025-11-25, basic/transports, "Resumability and Redelivery")
func (ex *exchange) resume(cur *cursor, err error) *http.Response {
	c := ex.conn
	for failure := (*RequestError)(nil); ; {
		if ex.ctx.Err() != nil || c.isOver() {
			return nil
		}
		if ex.modern || cur.id == "" || cur.tries == maxResumes {
			ex.fail(&RequestError{Reason: ReasonLost, Err: fmt.Errorf("the stream ended before the answer: %w", err)})
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
		case failure.Reason == ReasonSessionGone:
			ex.fail(&RequestError{Reason: ReasonSessionGone, Status: failure.Status,
				Err: failure.Err}) // without Unsent: the server has received the request
			return nil
		case !passing(failure):
			ex.fail(&RequestError{Reason: ReasonLost, Err: fmt.Errorf("the stream ended before the answer: %w; resume: %w", err,
				failure)})
			return nil
		}
		err = failure
	}
}

// passing reports whether another attempt may succeed after this failure.
func passing(e *RequestError) bool {
	return e.Reason == ReasonLost || e.Reason == ReasonUnreachable || e.Reason == ReasonBusy || e.Status >= 500
}
