package transport

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/mcpotel/mcpotel/internal/mirror"
)

const (
	maxAttempts  = 5 // of one message, because of authorization
	maxRedirects = 5
)

// Values of header fields that never change. Nobody writes to them.
var (
	jsonOnly     = []string{"application/json"}
	jsonOrEvents = []string{"application/json, text/event-stream"}
)

const eventsOnly = "text/event-stream"

// outgoing is an HTTP request to be made, possibly more than once.
type outgoing struct {
	ctx    context.Context
	method string
	to     *url.URL
	body   []byte // nil for none
	header fields
}

// fields are the header of a request.
type fields interface {
	// fill adds them to h, under their canonical names.
	fill(h http.Header)
}

// only are fields that all have one value. Those without a value, or with one that cannot be sent, are left out.
type only map[string]string

func (f only) fill(h http.Header) {
	for name, value := range f {
		if value != "" && headerValue(value) {
			h[name] = []string{value}
		}
	}
}

// roundTrip makes the request, with the credentials there are, again when there are better ones, and follows the redirects
// that may be followed. Whoever gets the response closes its body.
func (c *httpConn) roundTrip(o outgoing) (*http.Response, *RequestError) {
	r := &reach{connected: &c.connected}
	o.ctx = r.watch(o.ctx)
	for attempt, hops := 1, 0; ; {
		req := c.request(o)
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
		resp.Body = r.watchBody(resp.Body)
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

// do makes one request. Of what a client does beyond its transport, one of our own needs only the password in a URL.
func (c *httpConn) do(req *http.Request) (*http.Response, error) {
	if c.own != nil && req.URL.User == nil {
		return c.own.RoundTrip(req)
	}
	return c.client.Do(req)
}

// request returns a new request for o. What it is made of belongs to it, except for the values in its header.
func (c *httpConn) request(o outgoing) *http.Request {
	to := *o.to
	header := make(http.Header, len(c.header)+8)
	maps.Copy(header, c.header)
	o.header.fill(header)
	req := (&http.Request{
		Method: o.method, URL: &to, Host: c.host, Header: header, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}).WithContext(o.ctx)
	if o.body != nil {
		req.ContentLength = int64(len(o.body))
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(o.body)), nil }
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
	body      watchedBody
}

// watch returns ctx with which net/http reports to r.
func (r *reach) watch(ctx context.Context) context.Context {
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

// watchBody returns the body of the response as one that is connected until it is closed.
func (r *reach) watchBody(body io.ReadCloser) io.ReadCloser {
	r.body = watchedBody{body, r}
	return &r.body
}

type watchedBody struct {
	io.ReadCloser
	reach *reach
}

func (b *watchedBody) Close() error {
	b.reach.leave()
	return b.ReadCloser.Close()
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

// fill fills the header of the message's POST. Values that come from elsewhere are encoded or left out if they could be
// anything but values. (specification 2026-07-28, basic/transports/streamable-http, "Request Metadata")
func (ex *exchange) fill(h http.Header) {
	h["Content-Type"], h["Accept"] = jsonOnly, jsonOrEvents
	m := &ex.m
	values := make([]string, 0, 7) // in one piece of memory
	set := func(name, value string) {
		if value != "" && headerValue(value) {
			n := len(values)
			values = append(values, value)
			h[name] = values[n : n+1 : n+1]
		}
	}
	set("Traceparent", m.Traceparent)
	set("Tracestate", m.Tracestate)
	set("Baggage", m.Baggage)
	set("Mcp-Session-Id", ex.sessionID)
	if !ex.initialize {
		set("Mcp-Protocol-Version", m.ProtocolVersion)
	}
	if !ex.modern {
		return
	}
	set("Mcp-Method", mirror.Encode(m.Method))
	if m.Name != "" {
		set("Mcp-Name", mirror.Encode(m.Name))
	}
	for name, value := range m.Header {
		name = http.CanonicalHeaderKey(name)
		if strings.HasPrefix(name, "Mcp-Param-") && headerName(name) {
			h[name] = []string{mirror.Encode(value)}
		}
	}
}
