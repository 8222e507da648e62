package transport_test

import (
	"context"
	"net/http"
	"runtime"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/testsupport/heap"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// A call allocates little more than a call with net/http alone (the floor), client and server together. The floor has
// its own header and URL for each call, and the header fields of the legacy era; a modern call has two more header
// fields, for which the server allocates a little. A user's client with an http.Transport allocates as much as the
// shared client. With an unknown client, each request has its own header, URL and context.
func TestHTTPCallAllocatesLittleMoreThanNetHTTP(t *testing.T) {
	if heap.Raced {
		t.Skip("the race detector allocates too")
	}
	measured := func(one func(int64) error) float64 {
		for id := range int64(10) { // warm up the memory that calls reuse
			if err := one(id + 1); err != nil {
				t.Fatal(err)
			}
		}
		return testing.AllocsPerRun(500, func() {
			if err := one(1); err != nil {
				t.Fatal(err)
			}
		})
	}
	roomy := &http.Transport{MaxIdleConnsPerHost: 100}
	defer roomy.CloseIdleConnections()
	plain, wrapped := &http.Client{Transport: roomy}, &http.Client{Transport: roundTripper(roomy.RoundTrip)}
	for form, more := range map[string]float64{"json": 0, "sse": 2} {
		url := serve(t, answerOfSize(200, form))
		floor := measured(floorCaller(t, url, form))
		for _, c := range []struct {
			name   string
			caller func(int64) error
			most   float64
		}{
			{"with an answer from Receive", httpCaller(t, url), 1},
			{"of the modern era", takingCaller(t, url, nil, modernCall), 5},
			{"of the legacy era", takingCaller(t, url, nil, call), 0},
			{"by a client of net/http, modern", takingCaller(t, url, plain, modernCall), 5},
			{"by a client of net/http, legacy", takingCaller(t, url, plain, call), 0},
			{"by an unknown client, modern", takingCaller(t, url, wrapped, modernCall), 12},
			{"by an unknown client, legacy", takingCaller(t, url, wrapped, call), 7},
		} {
			ours, most := measured(c.caller), c.most+more
			t.Logf("%s, a call %s: %v allocations more than the %v of net/http", form, c.name, ours-floor, floor)
			if ours > floor+most {
				t.Errorf("%s, a call %s: want at most %v allocations more than the %v of net/http alone, got %v", form, c.name,
					most, floor, ours)
			}
		}
	}
}

// takingCaller returns a function that makes a call with the transport, as a client does.
func takingCaller(t testing.TB, url string, client *http.Client, call func(int64) transport.Message) func(int64) error {
	conn := dialHTTP(t, &transport.HTTP{URL: url, Client: client}, transport.Config{})
	answer := make(chan []byte, 1)
	take := func(f transport.Frame) bool {
		answer <- f.Data
		return true
	}
	return func(id int64) error {
		if err := sendFor(context.Background(), conn, call(id), take); err != nil {
			return err
		}
		return checkAnswer(<-answer, id)
	}
}

// BenchmarkHTTPIdle reports the memory of a connection that has received one answer and shares its client with others.
func BenchmarkHTTPIdle(b *testing.B) {
	const n = 200
	url := serve(b, answerOfSize(200, "json"))
	used := func() float64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc+m.StackInuse) / n / 1024
	}
	for b.Loop() {
		h := &transport.HTTP{URL: url, Client: new(http.Client)}
		before, conns := used(), make([]transport.Conn, n)
		for i := range conns {
			conns[i] = dialHTTP(b, h, transport.Config{})
			if err := conns[i].Send(b.Context(), call(1)); err != nil {
				b.Fatal(err)
			}
			if _, err := conns[i].Receive(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(used()-before, "KiB/conn-at-first")
		tick := time.NewTicker(10 * time.Millisecond)
		for exchangeGoroutines() > 0 {
			<-tick.C
		}
		tick.Stop()
		b.ReportMetric(used()-before, "KiB/conn")
		for _, conn := range conns {
			_ = conn.Close(context.Background())
		}
	}
}
