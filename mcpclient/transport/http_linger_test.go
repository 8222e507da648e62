package transport_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// A lingering stream gives its place to a request that was in line before the answer arrived.
func TestHTTPStreamsDoNotLingerWhileRequestsAreQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, func(w http.ResponseWriter, r *http.Request) {
			id := readSent(r).ID
			time.Sleep(time.Millisecond)
			answerEvents(w, event(result(id)))
			<-r.Context().Done()
		})
		h := b.transport()
		h.MaxInFlight = 1
		conn := dialHTTP(t, h, transport.Config{})
		const requests = 20
		begun := time.Now()
		for id := range int64(requests) {
			send(t, conn, modernCall(id+1))
		}
		for id := range int64(requests) {
			receiveData(t, conn, result(id+1), id+1)
		}
		if took := time.Since(begun); took > requests*12*time.Millisecond {
			t.Errorf("want no request to wait long for a lingering stream, got %v for %d answers", took, requests)
		}
	})
}
