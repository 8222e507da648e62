package transport

import (
	"fmt"
	"net/http"
	"time"
)

// pooled reports whether requests are made by a transport of our own.
func (q *requester) pooled() bool { return q.joined != nil && q.known != nil }

// private reports whether requests are seen by net/http only, so that they may have parts in common.
func (q *requester) private() bool {
	return q.known != nil && q.authorizer == nil && q.target.User == nil
}

// do makes one request. What a client does beyond its transport is left out where it does nothing: it copies the header
// for redirects, which it does not follow.
func (q *requester) do(req *http.Request) (*http.Response, error) {
	by := q.transport()
	if by == nil || req.URL.User != nil {
		return q.client.Do(req)
	}
	if q.pooled() && q.joined.idle.expired(time.Now()) {
		q.known.CloseIdleConnections()
	}
	resp, err := by.RoundTrip(req)
	if err == nil {
		err = complete(resp, by)
	}
	if err != nil {
		return nil, err
	}
	if q.asksGzip() {
		gunzip(resp)
	}
	if q.pooled() {
		q.joined.idle.note(resp, time.Now())
	}
	return resp, nil
}

// transport returns what makes the requests of a client that does no more, nil if it does.
func (q *requester) transport() http.RoundTripper {
	switch {
	case q.known != nil:
		return q.known
	case !isBare(q.client):
		return nil
	case q.client.Transport == nil:
		return http.DefaultTransport // what it is by now
	}
	return q.client.Transport
}

// complete gives resp a body if it has none, as [http.Client] would: a RoundTripper need not. It returns an error if
// there is no response, or one that lacks what it announces.
func complete(resp *http.Response, by http.RoundTripper) error {
	switch {
	case resp == nil:
		return fmt.Errorf("the RoundTripper (%T) has returned neither a response nor an error", by)
	case resp.Body == nil && resp.ContentLength > 0:
		return fmt.Errorf("the RoundTripper (%T) has returned no body, though one of %d bytes is announced", by,
			resp.ContentLength)
	case resp.Body == nil:
		resp.Body = http.NoBody
	}
	return nil
}
