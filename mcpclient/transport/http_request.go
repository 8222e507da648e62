package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/mcpotel/mcpotel/internal/hostname"
)

const (
	maxAttempts   = 5 // of one message, because of authorization
	maxRedirects  = 5
	maxTurnedAway = 3
)

const eventsOnly = "text/event-stream"

// outgoing is an HTTP request to be made, possibly more than once.
type outgoing struct {
	ctx    context.Context
	method string
	to     *url.URL
	body   []byte // nil for none
	header fields
	reach  *reach // of ctx
}

// roundTrip does what tryRoundTrip does. An exchange, whose reach is its own, deals with what the user's client or
// authorizer does; for others it returns whatever they do.
func (q *requester) roundTrip(o outgoing) (*http.Response, *RequestError) {
	if o.reach != nil {
		return q.tryRoundTrip(o, o.reach)
	}
	r := new(reach)
	o.ctx = r.watch(o.ctx, &q.connected)
	if q.private() && q.pooled() {
		return q.tryRoundTrip(o, r)
	}
	return q.guardedRoundTrip(o, r)
}

// guardedRoundTrip is apart from roundTrip for what it allocates.
func (q *requester) guardedRoundTrip(o outgoing, r *reach) (resp *http.Response, failure *RequestError) {
	if err := q.hooks.failed.guard("HTTP", func() { resp, failure = q.tryRoundTrip(o, r) }); err != nil {
		r.leave()
		return nil, &RequestError{Reason: Lost, Err: err}
	}
	return resp, failure
}

// tryRoundTrip makes the request, with the credentials there are, again when there are better ones, and follows the
// redirects that may be followed. The caller closes the body of the response.
func (q *requester) tryRoundTrip(o outgoing, r *reach) (*http.Response, *RequestError) {
	for attempt, hops, turns := 1, 0, 0; ; {
		req := q.request(&o, r)
		if a := q.authorizer; a != nil {
			if err := a.Authorize(req); err != nil {
				return nil, &RequestError{Reason: Unauthorized, Unsent: true, Err: err}
			}
		}
		q.forbidRepeats(req)
		resp, err := q.do(req)
		if err != nil {
			failure := q.broken(&o, r, err)
			q.missedBy(r)
			r.leave()
			if turns++; failure.Reason == Busy && turns < maxTurnedAway {
				continue
			}
			return nil, failure
		}
		q.reported(r)
		r.connect()
		resp.Request = req // a RoundTripper of the user's need not say so
		q.answered(resp)
		r.ReadCloser, resp.Body = resp.Body, r
		again, failure := q.review(resp, attempt)
		if failure != nil {
			discard(resp)
			return nil, failure
		}
		next := redirect(o.to, resp)
		switch {
		case again && attempt < maxAttempts:
			attempt++
		case next != nil && hops < maxRedirects:
			hops++
			o.to = next
		default:
			return resp, nil
		}
		discard(resp)
	}
}

// request returns a new request for o. All that it is made of belongs to it, unless the connection is private.
func (q *requester) request(o *outgoing, r *reach) *http.Request {
	to := o.to
	if !q.private() {
		to = new(*o.to)
	}
	req := (&http.Request{
		Method: o.method, URL: to, Host: q.own.host, Header: o.header.header(q),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}).WithContext(o.ctx)
	r.sent.Store(false)
	if o.body != nil {
		q.giveBody(req, o.body, r)
	}
	return req
}

// forbidRepeats keeps net/http from sending a message again by itself that the server may have acted on. What it could
// not write to an idle connection, it may send over another. But with Idempotency-Key it would repeat what was written
// too, and in HTTP/2 after the error PROTOCOL_ERROR, which proxies give for what a server has answered; so there it
// gets no second body, and what the server has turned away is repeated by roundTrip.
func (q *requester) forbidRepeats(req *http.Request) {
	if q.wouldRepeat(req) {
		req.GetBody = nil
	}
}

// wouldRepeat reports whether net/http would send req again for what forbidRepeats says.
func (q *requester) wouldRepeat(req *http.Request) bool {
	return q.version.Load() >= 20 || req.Header["Idempotency-Key"] != nil || req.Header["X-Idempotency-Key"] != nil
}

// review lets the authorizer see the response.
func (q *requester) review(resp *http.Response, attempt int) (again bool, failure *RequestError) {
	if q.authorizer == nil {
		return false, nil
	}
	unsent := false
	if resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden {
		says, _ := saidBy(resp, nil) // its body is not read yet
		_, unsent = verdictOf(refused, theServer, says)
		if q.hooks.authorizing != nil {
			q.hooks.authorizing(true)
			defer q.hooks.authorizing(false)
		}
	}
	again, err := q.authorizer.Review(resp, attempt)
	if err != nil {
		return false, &RequestError{Reason: Unauthorized, Unsent: unsent, Status: resp.StatusCode, Err: err}
	}
	if again && q.hooks.authorized != nil {
		q.hooks.authorized()
	}
	return again && unsent, nil
}

// redirect returns where the response sends the request, if it may be sent there: the same request, to the same origin.
// Session ids, credentials and the user's header are for the server only.
func redirect(from *url.URL, resp *http.Response) *url.URL {
	if resp.StatusCode != http.StatusTemporaryRedirect && resp.StatusCode != http.StatusPermanentRedirect {
		return nil
	}
	next, err := from.Parse(resp.Header.Get("Location"))
	if err != nil || resp.Header.Get("Location") == "" || !hostname.SameOrigin(from, next) {
		return nil
	}
	return next
}

// broken returns what err, the end of a request without a response, means.
func (q *requester) broken(o *outgoing, r *reach, err error) *RequestError {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err // e quotes the URL
	}
	if e, ok := errors.AsType[tls.RecordHeaderError](err); ok && string(e.RecordHeader[:]) == "HTTP/" {
		err = http.ErrSchemeMismatch
	}
	p := written
	switch {
	case r.dials():
		p, err = unconnected, notReached(q.target.Host, err)
	case isTurnedAway(err):
		p = turnedAway
	case o.body != nil && q.keptBack(r) && o.ctx.Err() == nil:
		p = unwritten
	}
	e := &RequestError{Err: err}
	e.Reason, e.Unsent = verdictOf(p, theServer, said{})
	return e
}

// discard closes the body of a response that no request wants, having read a little of it so that the connection can be
// used again.
func discard(resp *http.Response) {
	if !isType(resp, eventsOnly) {
		_, _ = io.CopyN(io.Discard, resp.Body, 4<<10)
	}
	_ = resp.Body.Close()
}

// isType reports whether the response has this media type, which is in lower case.
func isType(resp *http.Response, want string) bool {
	got, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	return strings.EqualFold(strings.TrimSpace(got), want)
}
