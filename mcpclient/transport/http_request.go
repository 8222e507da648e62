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
	maxAttempts   = 5 // attempts to send one message with new credentials
	maxRedirects  = 5
	maxTurnedAway = 3
)

const eventsOnly = "text/event-stream"

// outgoing is an HTTP request, which may be sent more than once.
type outgoing struct {
	ctx    context.Context
	method string
	to     *url.URL
	body   []byte // nil for none
	header fields
	reach  *reach // progress of the request; its method watch has returned ctx; nil for none
}

// roundTrip calls tryRoundTrip. An exchange has its own reach, and handles panics of the user's client and authorizer
// itself. For all other requests, roundTrip turns such a panic into an error.
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

// guardedRoundTrip is a separate function because its closure allocates.
func (q *requester) guardedRoundTrip(o outgoing, r *reach) (resp *http.Response, failure *RequestError) {
	if err := q.hooks.failed.guard("HTTP", func() { resp, failure = q.tryRoundTrip(o, r) }); err != nil {
		r.leave()
		return nil, &RequestError{Reason: ReasonLost, Err: err}
	}
	return resp, failure
}

// tryRoundTrip sends the request with the available credentials, repeats it after new credentials, and follows
// redirects within the origin. The caller closes the body of the response.
func (q *requester) tryRoundTrip(o outgoing, r *reach) (*http.Response, *RequestError) {
	for attempt, hops, turns := 1, 0, 0; ; {
		req := q.request(&o, r)
		if a := q.authorizer; a != nil {
			if err := a.Authorize(req); err != nil {
				return nil, &RequestError{Reason: ReasonUnauthorized, Unsent: true, Err: err}
			}
		}
		q.forbidRepeats(req)
		resp, err := q.do(req)
		if err != nil {
			failure := q.broken(&o, r, err)
			q.missedBy(r)
			r.leave()
			if turns++; failure.Reason == ReasonBusy && turns < maxTurnedAway {
				continue
			}
			return nil, failure
		}
		q.reported(r)
		r.connect()
		resp.Request = req // a RoundTripper of the user may leave it unset
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

// request returns a new request for o. Unless the connection is private, it shares nothing with other requests.
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
		q.setBody(req, o.body, r)
	}
	return req
}

// forbidRepeats prevents net/http from repeating a message on which the server may have acted. A request that net/http
// could not write to an idle connection may be repeated safely. But net/http also repeats requests that it has written:
// requests with Idempotency-Key, and HTTP/2 requests after PROTOCOL_ERROR, which some proxies send for a request that
// the server has answered. For such requests, forbidRepeats withholds the second body from net/http, and tryRoundTrip
// repeats the requests that the server has rejected unread.
func (q *requester) forbidRepeats(req *http.Request) {
	if q.wouldRepeat(req) {
		req.GetBody = nil
	}
}

// wouldRepeat reports whether net/http might repeat req after it was written; see forbidRepeats.
func (q *requester) wouldRepeat(req *http.Request) bool {
	return q.version.Load() >= 20 || req.Header["Idempotency-Key"] != nil || req.Header["X-Idempotency-Key"] != nil
}

// review passes the response to the authorizer, and reports whether to send the request again.
func (q *requester) review(resp *http.Response, attempt int) (again bool, failure *RequestError) {
	if q.authorizer == nil {
		return false, nil
	}
	unsent := false
	if resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden {
		says, _ := evidenceOf(resp, nil) // the body has not been read
		_, unsent = verdictOf(refused, theServer, says)
		if q.hooks.authorizing != nil {
			q.hooks.authorizing(true)
			defer q.hooks.authorizing(false)
		}
	}
	again, err := q.authorizer.Review(resp, attempt)
	if err != nil {
		return false, &RequestError{Reason: ReasonUnauthorized, Unsent: unsent, Status: resp.StatusCode, Err: err}
	}
	if again && q.hooks.authorized != nil {
		q.hooks.authorized()
	}
	return again && unsent, nil
}

// redirect returns the target of a redirect if the client may follow it: same method, same origin. Session ids,
// credentials and the user's header must not reach other servers.
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

// broken returns the error for a request that ended with err and without a response.
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
	case o.body != nil && q.neverSent(r) && o.ctx.Err() == nil:
		p = unwritten
	}
	e := &RequestError{Err: err}
	e.Reason, e.Unsent = verdictOf(p, theServer, evidence{})
	return e
}

// discard closes the body of an unwanted response. It first reads a little of the body so that the connection can
// be reused.
func discard(resp *http.Response) {
	if !isType(resp, eventsOnly) {
		_, _ = io.CopyN(io.Discard, resp.Body, 4<<10)
	}
	_ = resp.Body.Close()
}

// isType reports whether the response has this media type, given in lower case.
func isType(resp *http.Response, want string) bool {
	got, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	return strings.EqualFold(strings.TrimSpace(got), want)
}
