package transport

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
)

const (
	maxAttempts  = 5 // of one message, because of authorization
	maxRedirects = 5
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

// roundTrip makes the request, with the credentials there are, again when there are better ones, and follows the redirects
// that may be followed. Whoever gets the response closes its body.
func (c *httpConn) roundTrip(o outgoing) (*http.Response, *RequestError) {
	r := o.reach
	if r == nil {
		r = new(reach)
		o.ctx = r.watch(o.ctx, &c.connected)
	}
	for attempt, hops := 1, 0; ; {
		req := c.request(&o)
		if a := c.h.Authorizer; a != nil {
			if err := a.Authorize(req); err != nil {
				return nil, &RequestError{Reason: Unauthorized, Unsent: true, Err: err}
			}
		}
		resp, err := c.do(req)
		if err != nil {
			defer r.leave()
			return nil, c.broken(r, err)
		}
		r.connect()
		resp.Request = req // a RoundTripper of the user's need not say so
		c.answered(resp)
		r.ReadCloser, resp.Body = resp.Body, r
		again, failure := c.review(resp, attempt)
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

// private reports whether nobody sees requests but a transport of our own, so that they may have parts in common.
func (c *httpConn) private() bool {
	return c.own != nil && c.h.Authorizer == nil && c.target.User == nil
}

// do makes one request. Of what a client does beyond its transport, one of our own needs only the password in a URL.
func (c *httpConn) do(req *http.Request) (*http.Response, error) {
	if c.own == nil || req.URL.User != nil {
		return c.client.Do(req)
	}
	resp, err := c.own.RoundTrip(req)
	if err == nil && c.asksGzip() {
		gunzip(resp)
	}
	return resp, err
}

// request returns a new request for o. What it is made of belongs to it, except for the values in its header, unless the
// connection is private.
func (c *httpConn) request(o *outgoing) *http.Request {
	to := o.to
	if !c.private() {
		to = new(*o.to)
	}
	req := (&http.Request{
		Method: o.method, URL: to, Host: c.host, Header: o.header.header(c), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}).WithContext(o.ctx)
	if body := o.body; body != nil {
		req.ContentLength = int64(len(body))
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		req.Body, _ = req.GetBody()
	}
	return req
}

// review lets the authorizer see the response.
func (c *httpConn) review(resp *http.Response, attempt int) (again bool, failure *RequestError) {
	if c.h.Authorizer == nil {
		return false, nil
	}
	refused := resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden
	if refused && c.authorize != nil {
		c.authorize(true)
		defer c.authorize(false)
	}
	again, err := c.h.Authorizer.Review(resp, attempt)
	if err != nil {
		return false, &RequestError{Reason: Unauthorized, Unsent: refused, Status: resp.StatusCode, Err: err}
	}
	return again, nil
}

// redirect returns where the response sends the request, if it may be sent there: the same request, to the same origin.
// Session ids, credentials and the user's header are nobody else's business.
func redirect(from *url.URL, resp *http.Response) *url.URL {
	if resp.StatusCode != http.StatusTemporaryRedirect && resp.StatusCode != http.StatusPermanentRedirect {
		return nil
	}
	next, err := from.Parse(resp.Header.Get("Location"))
	if err != nil || resp.Header.Get("Location") == "" || !sameOrigin(from, next) {
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

// broken returns what err, the end of a request without a response, means.
func (c *httpConn) broken(r *reach, err error) *RequestError {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err // e quotes the URL
	}
	if e, ok := errors.AsType[tls.RecordHeaderError](err); ok && string(e.RecordHeader[:]) == "HTTP/" {
		err = http.ErrSchemeMismatch
	}
	if r.asked.Load() && !r.got.Load() {
		return &RequestError{Reason: Unreachable, Unsent: true, Err: fmt.Errorf("connect to %s: %w", c.target.Host, err)}
	}
	return &RequestError{Reason: Lost, Err: err}
}

// discard closes the body of a response nobody wants, having read a little of it so that the connection can be used again.
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
