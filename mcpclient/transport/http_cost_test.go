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

// What net/http allocates for a request, on both sides, is all of it. The floor has a header and a URL of its own for
// each call, and is legacy; a modern call has two fields more, of which the server allocates a few.
func TestHTTPCallAllocatesLittleMoreThanNetHTTP(t *testing.T) {
	if heap.Raced {
		t.Skip("the race detector allocates too")
	}
	url := serve(t, answerOfSize(200, "json"))
	measured := func(one func(int64) error) float64 {
		return testing.AllocsPerRun(500, func() {
			if err := one(1); err != nil {
				t.Fatal(err)
			}
		})
	}
	floor := measured(floorCaller(t, url, "json"))
	for name, c := range map[string]struct {
		caller func(int64) error
		most   float64
	}{
		"whose answer is received": {httpCaller(t, url), -4},
		"whose answer is taken":    {takingCaller(t, url), 1},
	} {
		if ours := measured(c.caller); ours > floor+c.most {
			t.Errorf("a call %s: want at most %v allocations more than the %v of net/http alone, got %v", name, c.most, floor,
				ours)
		}
	}
}

// takingCaller returns a function that makes a call of the modern era with the transport, as a client does.
func takingCaller(t testing.TB, url string) func(id int64) error {
	conn := dialHTTP(t, &transport.HTTP{URL: url}, transport.Config{})
	answer := make(chan []byte, 1)
	take := func(f transport.Frame) bool {
		answer <- f.Data
		return true
	}
	return func(id int64) error {
		if err := sendFor(context.Background(), conn, modernCall(id), take); err != nil {
			return err
		}
		return checkAnswer(<-answer, id)
	}
}

// BenchmarkHTTPIdle reports what a connection holds that has had one answer and shares its client with others.
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
