//go:build !race

package benchmarks

import (
	"testing"

	"github.com/mcpotel/mcpotel/benchmarks/workload"
)

// What a client holds that waits, heap and stacks, is 15 KiB on a pipe and 17 KiB over HTTP, of which its goroutine's stack is
// 4 and 2 KiB; over HTTP, 3 KiB are those of a transport of net/http. The race detector makes all of it larger.
func TestAnIdleClientKeepsWithinItsBudget(t *testing.T) {
	for _, test := range []struct {
		transport workload.Transport
		most      float64 // bytes
	}{
		{workload.Pipe, 18 << 10},
		{workload.HTTPJSON, 20 << 10},
	} {
		t.Run(string(test.transport), func(t *testing.T) {
			got := testing.Benchmark(func(b *testing.B) { workload.IdleClients(b, workload.Ours, test.transport, 1000) })
			switch bytes, ok := got.Extra["B/client"]; {
			case !ok:
				t.Error("want clients, could not make them")
			case bytes > test.most:
				t.Errorf("want %.0f bytes per client at most, got %.0f", test.most, bytes)
			}
			if n := got.Extra["goroutines/client"]; n > 1.01 {
				t.Errorf("want one goroutine per client, got %.2f", n)
			}
		})
	}
}
