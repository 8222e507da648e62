package workload

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"time"
)

// The load of [Tails], in calls.
const (
	callsPerSecond = 1000
	burst          = 100  // calls of a second that are due at its beginning; the rest is due at even intervals
	callsInFlight  = 1024 // further calls wait
)

// Tails measures the latencies of calls in a busy service: with the telemetry of [AsUsed] in production, 1,000 calls in
// a second, a tenth of them at once, and with results of the sizes that tools return, of which one in 200 has 1 MiB. A
// latency begins when the call is due. So a call that waits, for example during a garbage collection, has the latency
// that a user of the service sees.
//
// Tails reports percentiles and the maximum in ns. A percentile needs enough calls: -benchtime 100000x has ten above
// p99.99.
func Tails(b *testing.B, peers ...Peer) {
	for _, t := range []Transport{Stdio, HTTPJSON} {
		for _, p := range peers {
			b.Run(fmt.Sprintf("transport=%s/peer=%s", t, p.Name), func(b *testing.B) { tail(b, p, t) })
		}
	}
}

func tail(b *testing.B, p Peer, t Transport) {
	connection, end, err := inProduction.With(WithCallers(context.Background(), burst))
	if err != nil {
		b.Fatal(err)
	}
	defer end()
	canned := Canned{Modern, Busy, busySize}
	client, err := p.Connect(connection, t, canned)
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := client.Close(); err != nil {
			b.Error(err)
		}
	}()
	payload, _ := canned.sizes()
	one := func(ctx context.Context) error {
		n, err := client.Call(ctx, TinyTool)
		return p.check(payload, n, err)
	}
	if err := together(burst, 3*burst, one); err != nil { // so that connections and buffers exist
		b.Fatal(err)
	}
	b.ResetTimer()
	cpu := StartCPU()
	latencies, err := onTime(b.N, one)
	cpu.Report(b)
	b.StopTimer()
	if err != nil {
		b.Fatal(err)
	}
	for _, q := range []float64{50, 90, 99, 99.9, 99.99, 100} {
		b.ReportMetric(float64(Percentile(latencies, q)), fmt.Sprintf("p%v-ns", q))
	}
}

// onTime calls f n times, each time when a call is due, and returns the latencies in ascending order.
func onTime(n int, f func(context.Context) error) ([]time.Duration, error) {
	var wg sync.WaitGroup
	latencies, failed, places := make([]time.Duration, n), make(chan error, 1), make(chan struct{}, callsInFlight)
	begin := time.Now()
	for i := range n {
		due := begin.Add(dueAfter(i))
		time.Sleep(time.Until(due))
		places <- struct{}{}
		wg.Go(func() {
			defer func() { <-places }()
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			err := f(ctx)
			latencies[i] = time.Since(due)
			if err != nil {
				select {
				case failed <- err:
				default: // the first error is enough
				}
			}
		})
	}
	wg.Wait()
	slices.Sort(latencies)
	select {
	case err := <-failed:
		return nil, err
	default:
		return latencies, nil
	}
}

// dueAfter returns the time from the beginning of the measurement until the i-th call is due.
func dueAfter(i int) time.Duration {
	second, i := time.Duration(i/callsPerSecond)*time.Second, i%callsPerSecond
	return second + time.Duration(max(0, i-burst+1))*time.Second/(callsPerSecond-burst+1)
}

// Percentile returns the smallest of the sorted latencies that is at least as long as q percent of them.
func Percentile(sorted []time.Duration, q float64) time.Duration {
	return sorted[max(0, int(math.Ceil(q/100*float64(len(sorted))))-1)]
}
