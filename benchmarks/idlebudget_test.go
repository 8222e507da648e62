//go:build !race

package benchmarks

import (
	"testing"

	"github.com/mcpotel/mcpotel/benchmarks/workload"
)

// What a client holds that waits, heap and stacks, is 10.1 KiB on a pipe, of which 4.3 are its goroutine's stack, and
// 5.2 KiB over HTTP, where it has no goroutine. A tenth more is allowed. The race detector makes all of it larger.
func TestAnIdleClientKeepsWithinItsBudget(t *testing.T) {
	for _, test := range []struct {
		transport  workload.Transport
		most       float64 // bytes
		goroutines float64
	}{
		{workload.Pipe, 11.1 * 1024, 1},
		{workload.HTTPJSON, 5.7 * 1024, 0},
	} {
		t.Run(string(test.transport), func(t *testing.T) {
			var got testing.BenchmarkResult
			for range 3 { // beside other work a run may count a KiB more; one within the budget is enough
				got = testing.Benchmark(func(b *testing.B) { workload.IdleClients(b, workload.Ours, test.transport, 2000) })
				if bytes, ok := got.Extra["B/client"]; !ok || bytes <= test.most {
					t.Logf("got %.0f bytes per client", bytes)
					break
				}
			}
			switch bytes, ok := got.Extra["B/client"]; {
			case !ok:
				t.Error("want clients, could not make them")
			case bytes > test.most:
				t.Errorf("want %.0f bytes per client at most, got %.0f", test.most, bytes)
			}
			if n := got.Extra["goroutines/client"]; n > test.goroutines+0.01 {
				t.Errorf("want %.0f goroutines per client, got %.2f", test.goroutines, n)
			}
		})
	}
}
