package transport_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// A server may repeat parts of the request in the text of its error, and the error may get into a log.
func TestHTTPErrorOmitsResponseTextWithSecrets(t *testing.T) {
	const secret = "s3cret-token-value"
	for _, status := range []int{200, 500} {
		url := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			w.WriteHeader(status)
			fmt.Fprintf(w, "bad: %s %s %s", r.Header.Get("Authorization"), r.Header.Get("X-Key"), r.URL.Query().Get("key"))
		})
		for name, h := range map[string]*transport.HTTP{
			"a token":   {URL: url, Header: http.Header{"Authorization": {"Bearer " + secret}}},
			"a field":   {URL: url, Header: http.Header{"X-Key": {secret}}},
			"the query": {URL: url + "?key=" + secret},
		} {
			conn := dialHTTP(t, h, transport.Config{})
			send(t, conn, modernCall(1))
			e := receiveError(t, conn, 1)
			if strings.Contains(e.Error(), secret[:8]) || !strings.Contains(e.Error(), "repeats") {
				t.Errorf("%d with %s in the body: got %q, want an error without the body", status, name, e)
			}
		}
	}
}

type forgetful func(*http.Request) (*http.Response, error)

func (f forgetful) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// observing is an Authorizer that records the request of the latest response.
type observing struct{ seen atomic.Pointer[http.Request] }

func (*observing) Authorize(*http.Request) error { return nil }

func (o *observing) Review(resp *http.Response, _ int) (bool, error) {
	o.seen.Store(resp.Request)
	return false, nil
}

// A user's RoundTripper, such as a cache or a test double, may leave Response.Request nil.
func TestHTTPAuthorizerResponseAlwaysHasRequest(t *testing.T) {
	client := &http.Client{Transport: forgetful(func(*http.Request) (*http.Response, error) {
		return &http.Response{
			StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}},
			Body:          io.NopCloser(strings.NewReader(result(1))),
			ContentLength: -1,
		}, nil
	})}
	a := new(observing)
	conn := dialHTTP(t, &transport.HTTP{URL: "http://127.0.0.1:1/mcp", Client: client, Authorizer: a}, transport.Config{})
	send(t, conn, modernCall(1))
	receiveData(t, conn, result(1), 1)
	if r := a.seen.Load(); r == nil || r.URL.Path != "/mcp" {
		t.Errorf("got the request %v, want the one that was sent", r)
	}
}

// A server ends its stream at once and demands an immediate resume. The client limits the rate of resumes.
func TestHTTPResumeRateIsLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n atomic.Int64
		b := newBubble(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "id: %d\nretry: 0\ndata:\n\n", n.Add(1))
		})
		h := b.transport()
		h.NoListening = true
		conn := dialHTTP(t, h, transport.Config{})
		send(t, conn, call(1))
		time.Sleep(time.Second)
		if got := n.Load(); got > 101 {
			t.Errorf("the server got %d requests in a second, want 101 at most: one every 10 ms", got)
		}
		conn.Cancel(1, transport.Message{})
		synctest.Wait()
	})
}
