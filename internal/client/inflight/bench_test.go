package inflight

import (
	"fmt"
	"testing"
	"time"
)

// The benchmark adds and settles a call while other calls are in flight.
func BenchmarkAnswered(b *testing.B) {
	for _, others := range []int{0, 64, 10_000} {
		b.Run(fmt.Sprintf("others=%d", others), func(b *testing.B) {
			table := newStorm()
			var id int64
			for range others {
				id++
				table.Add(id, noon.Add(time.Hour+time.Duration(id)), id)
			}
			b.ReportAllocs()
			for b.Loop() {
				id++
				table.Add(id, noon.Add(30*time.Second), id)
				if _, class := table.Classify(id, noon); class == InFlight {
					table.Settle(id)
				}
			}
		})
	}
}

// The benchmark adds and expires a call while the table has the maximum number of tombstones.
func BenchmarkTimeout(b *testing.B) {
	table := newStorm()
	var id int64
	left := func(int64, int64) {}
	timeout := func() {
		id++
		table.Add(id, noon, id)
		table.Expire(noon, left)
	}
	for range table.cfg.Value().MaxTombstones {
		timeout()
	}
	b.ReportAllocs()
	for b.Loop() {
		timeout()
	}
}

// The benchmark fails a thousand calls in flight.
func BenchmarkFailAll(b *testing.B) {
	table := newStorm()
	var id int64
	left := func(int64, int64) {}
	b.ReportAllocs()
	for b.Loop() {
		for range 1000 {
			id++
			table.Add(id, noon.Add(time.Duration(id%97)*time.Second), id)
		}
		table.FailAll(noon, Lost, left)
	}
}
