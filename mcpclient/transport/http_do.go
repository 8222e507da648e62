package transport

import (
	"fmt"
	"net/http"
	"time"
)

// pooled reports whether requests use the http.Transport of an originClient.
func (q *requester) pooled() bool { return q.joined != nil && q.known != nil }

// private reports whether only net/http sees the requests. Private requests may share their headers and URLs.
func (q *requester) private() bool {
	return q.known != nil && q.authorizer == nil && q.target.User == nil
}

// do sends one request. It bypasses http.Client if the client adds nothing to its transport, because http.Client copies
// the header for redirects, and redirects are not followed here.
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

// transport returns the RoundTripper of the client, or nil if the client adds cookies or a timeout to it.
func (q *requester) transport() http.RoundTripper {
	switch {
	case q.known != nil:
		return q.known
	case !isBare(q.client):
		return nil
	case q.client.Transport == nil:
		return http.DefaultTransport // read now, because the program may replace it
	}
	return q.client.Transport
}

// complete gives resp an empty body if it has none, as [http.Client] does. It returns an error if the RoundTripper
// has returned no response, or no body for a positive Content-Length.
func complete(resp *http.Response, by http.RoundTripper) error {
	switch {
	case resp == nil:
		return fmt.Errorf("the RoundTripper (%T) has returned neither a response nor an error", by)
	case resp.Body == nil && resp.ContentLength > 0:
		return fmt.Errorf("the RoundTripper (%T) has returned no body for a Content-Length of %d", by,
			resp.ContentLength)
	case resp.Body == nil:
		resp.Body = http.NoBody
	}
	return nil
}
