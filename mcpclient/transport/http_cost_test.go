package transport_test

import (
	"context"
	"net/http"
	"runtime"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// What net/http allocates for a request, on both sides, is the most of it.
func TestHTTPCallAllocatesLittleMoreThanNetHTTP(t *testing.T) {
	if raceEnabled {
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
	floor, ours := measured(floorCaller(t, url, "json")), measured(httpCaller(t, url))
	if ours > floor+12 {
		t.Errorf("a call: want at most 12 allocations more than the %v of net/http alone, got %v", floor, ours)
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
