package transport_test

import (
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/internal/testsupport/heap"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// A server announces large answers but sends only a few bytes.
func TestHTTPContentLengthDoesNotPreallocate(t *testing.T) {
	for name, sent := range map[string]int{"nothing": 0, "little": 10_000} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const calls, size = 40, 16 << 20
				b := newBubble(t, func(w http.ResponseWriter, r *http.Request) {
					readSent(r)
					w.Header().Set("Content-Type", "application/json")
					w.Header().Set("Content-Length", strconv.Itoa(size))
					writeFlushed(w, strings.Repeat(" ", sent))
					<-r.Context().Done()
				})
				conn := dialHTTP(t, b.transport(), transport.Config{FrameLimit: size})
				got := heap.Allocated(func() {
					for id := range int64(calls) {
						send(t, conn, call(id+1))
					}
					synctest.Wait()
				})
				// The limit includes the memory for the connections and the test's server.
				if got > calls*(512<<10) {
					t.Errorf("%d answers of %d bytes announced, %d sent: %d KiB were allocated for each, want at most 512 KiB",
						calls, size, sent, got>>10/calls)
				}
			})
		})
	}
}

// Lingering streams, which stay open after their answers, are closed when MaxInFlight would be exceeded.
func TestHTTPLingeringStreamsCountAsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit = 4
		var open atomic.Int32
		b := newBubble(t, func(w http.ResponseWriter, r *http.Request) {
			open.Add(1)
			defer open.Add(-1)
			answerEvents(w, event(result(readSent(r).ID)))
			<-r.Context().Done()
		})
		h := b.transport()
		h.MaxInFlight = limit
		conn := dialHTTP(t, h, transport.Config{})
		for id := range int64(100) {
			send(t, conn, call(id+1))
			receiveData(t, conn, result(id+1), id+1)
			synctest.Wait()
			if n := open.Load(); n > limit {
				t.Fatalf("after %d calls, one after the other, %d streams are open, want at most %d", id+1, n, limit)
			}
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if n := open.Load(); n != 0 {
			t.Errorf("a second later, %d streams are open, want none", n)
		}
	})
}
