package transport

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"

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

// roundTrip does what tryRoundTrip does, and returns whatever the user's client or authorizer does.
func (q *requester) roundTrip(o outgoing) (*http.Response, *RequestError) {
	r := o.reach
	if r == nil {
		r = new(reach)
		o.ctx = r.watch(o.ctx, &q.connected)
	}
	if q.private() {
		return q.tryRoundTrip(o, r)
	}
	return q.guardedRoundTrip(o, r)
}

// guardedRoundTrip is apart from roundTrip for what it allocates.
func (q *requester) guardedRoundTrip(o outgoing, r *reach) (resp *http.Response, failure *RequestError) {
	if err := q.config.guard("HTTP", func() { resp, failure = q.tryRoundTrip(o, r) }); err != nil {
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
			r.leave()
			if turns++; failure.Reason == Busy && turns < maxTurnedAway {
				continue
			}
			return nil, failure
		}
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

// private reports whether requests are seen by a transport of our own only, so that they may have parts in common.
func (q *requester) private() bool {
	return q.own != nil && q.authorizer == nil && q.target.User == nil
}

// do makes one request. Of what a client does beyond its transport, one of our own needs only the password in a URL.
func (q *requester) do(req *http.Request) (*http.Response, error) {
	if q.own == nil || req.URL.User != nil {
		return q.client.Do(req)
	}
	resp, err := q.own.RoundTrip(req)
	if err == nil && q.asksGzip() {
		gunzip(resp)
	}
	return resp, err
}

// request returns a new request for o. What it is made of belongs to it, except for the values in its header, unless
// the connection is private.
func (q *requester) request(o *outgoing, r *reach) *http.Request {
	to := o.to
	if !q.private() {
		to = new(*o.to)
	}
	req := (&http.Request{
		Method: o.method, URL: to, Host: q.host, Header: o.header.header(q), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}).WithContext(o.ctx)
	r.sent.Store(false)
	if body := o.body; body != nil {
		req.ContentLength = int64(len(body))
		req.GetBody = func() (io.ReadCloser, error) { return newPosted(body, r), nil }
		req.Body = newPosted(body, r)
	}
	return req
}

// posted is the body of a POST. A server that has not been sent it cannot act on it.
type posted struct {
	body  bytes.Reader
	reach *reach
}

func newPosted(body []byte, r *reach) *posted {
	p := &posted{reach: r}
	p.body.Reset(body)
	return p
}

func (p *posted) Read(b []byte) (int, error) {
	p.reach.sent.Store(true)
	return p.body.Read(b)
}

func (p *posted) WriteTo(w io.Writer) (int64, error) {
	p.reach.sent.Store(true)
	return p.body.WriteTo(w)
}

func (p *posted) Close() error { return nil }

// forbidRepeats keeps net/http from sending a message again by itself that the server may have acted on. What it could
// not write to an idle connection, it may send over another. But with Idempotency-Key it would repeat what was written
// too, and in HTTP/2 after the error PROTOCOL_ERROR, which proxies give for what a server has answered; so there it
// gets no second body, and what the server has turned away is repeated by roundTrip.
func (q *requester) forbidRepeats(req *http.Request) {
	if q.version.Load() >= 20 || req.Header["Idempotency-Key"] != nil || req.Header["X-Idempotency-Key"] != nil {
		req.GetBody = nil
	}
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
		if q.config.Authorizing != nil {
			q.config.Authorizing(true)
			defer q.config.Authorizing(false)
		}
	}
	again, err := q.authorizer.Review(resp, attempt)
	if err != nil {
		return false, &RequestError{Reason: Unauthorized, Unsent: unsent, Status: resp.StatusCode, Err: err}
	}
	if again && q.config.Authorized != nil {
		q.config.Authorized()
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

// reach finds out how far a request has got. net/http knows better than its errors tell; other clients that do not say
// are believed to have reached the server.
type reach struct {
	trace     httptrace.ClientTrace
	asked     atomic.Bool   // for a connection
	got       atomic.Bool   // one
	sent      atomic.Bool   // its body, or part of it
	connected *atomic.Int32 // counts the requests that have one

	io.ReadCloser // the body of the latest response, which is connected until it is closed
}

// watch returns ctx with which net/http reports to r, which counts in connected.
func (r *reach) watch(ctx context.Context, connected *atomic.Int32) context.Context {
	r.connected = connected
	r.trace.GetConn = func(string) { r.asked.Store(true) }
	r.trace.GotConn = func(httptrace.GotConnInfo) { r.connect() }
	return httptrace.WithClientTrace(ctx, &r.trace)
}

func (r *reach) connect() {
	if !r.got.Swap(true) {
		r.connected.Add(1)
	}
}

// leave makes r ready for another request.
func (r *reach) leave() {
	r.asked.Store(false)
	if r.got.Swap(false) {
		r.connected.Add(-1)
	}
}

func (r *reach) Close() error {
	r.leave()
	return r.ReadCloser.Close()
}

// over lets go of the body, which has been closed, and with it of the buffers of the network connection. r itself may
// outlive the request by half a minute: the timer of net/http's dialer has its context, and the runtime keeps timers
// that were stopped until they are a quarter of all.
func (r *reach) over() { r.ReadCloser = goneBody{} }

// goneBody is the body of a response after the end of its exchange.
type goneBody struct{}

func (goneBody) Read([]byte) (int, error) { return 0, http.ErrBodyReadAfterClose }
func (goneBody) Close() error             { return nil }

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
	case r.asked.Load() && !r.got.Load():
		p, err = unconnected, notReached(q.target.Host, err)
	case isTurnedAway(err):
		p = turnedAway
	case o.body != nil && !r.sent.Load() && o.ctx.Err() == nil:
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
