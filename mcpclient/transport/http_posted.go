package transport

import (
	"bytes"
	"io"
	"net/http"
)

// A server may have acted on a POST if its body was sent, or a part of it. A body can say that it was read. But before
// a body of a type that it does not know, net/http sends the header by itself: a request takes two writes then, and the
// server two reads. Without that, a tiny call takes 12 % less CPU with two processors and 21 % less with one (2026-11).
// So the body is of a type that net/http knows where net/http itself reports how far it has got.

// giveBody makes body that of req. What net/http could not write at all, it may write again.
func (q *requester) giveBody(req *http.Request, body []byte, r *reach) {
	req.ContentLength = int64(len(body))
	r.plain = q.reports() && !q.wouldRepeat(req)
	if !r.plain {
		req.GetBody = func() (io.ReadCloser, error) { return newPosted(body, r), nil }
		req.Body = newPosted(body, r)
		return
	}
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	first := &r.first
	if r.begun { // the one before may still be read
		first = new(bytes.Reader)
	}
	r.begun = true
	first.Reset(body)
	req.Body = io.NopCloser(first)
}

// reports reports whether reach learns of all that becomes of a request: with the transport of our own always, with one
// of the user's, of whatever type, if its latest request was reported. It may be net/http behind any number of others,
// or no net/http at all, and may change.
func (q *requester) reports() bool { return q.pooled() || q.reporting.Load() }

// reported notes that a request was answered.
func (q *requester) reported(r *reach) {
	if !q.pooled() && q.reporting.Load() != r.asked.Load() {
		q.reporting.Store(r.asked.Load())
	}
}

// missedBy notes that a request has failed. One that did not come to net/http may have gone elsewhere.
func (q *requester) missedBy(r *reach) {
	if !r.asked.Load() {
		q.reporting.Store(false)
	}
}

// keptBack reports whether no part of the body has left, for sure. Of a body that is read unseen, it takes the word of
// our own transport only.
func (q *requester) keptBack(r *reach) bool { return !r.sent.Load() && (!r.plain || q.pooled()) }

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
