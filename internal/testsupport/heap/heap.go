// Package heap measures the peak memory use of a part of a test.
package heap

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

// percent is the heap growth that triggers a garbage collection. It bounds how far a measurement is from the true peak.
const percent = 25

// Measure runs f and returns the peak number of bytes in use, as seen by the garbage collector, and the number at the
// end, both minus the number before. The collector runs each time the heap has grown by a quarter, and Measure reads
// the heap size after each run, so the result does not depend on time. Garbage counts only if it was allocated while
// the collector ran. No other code of the process may run at the same time.
//
// Under the race detector, which uses memory and much time itself, Measure only runs f and returns zeros.
func Measure(f func()) (peak, kept int) {
	if Raced {
		f()
		return 0, 0
	}
	return measure(func(*watch) { f() })
}

// Least runs f until its peak is within limit, at most five times, and returns the figures of the lowest peak.
// Repetition helps because garbage that is allocated during a collection counts, and collections take longer under
// other load; a measurement is never too low.
func Least(limit int, f func()) (peak, kept int) {
	peak, kept = Measure(f)
	for range 4 {
		if peak <= limit {
			break
		}
		if p, k := Measure(f); p < peak {
			peak, kept = p, k
		}
	}
	return peak, kept
}

// Allocated runs f and returns the number of bytes that the process allocated during the run, including freed bytes.
// Under the race detector, which reduces reuse of memory, it returns zero.
func Allocated(f func()) uint64 {
	before := allocated()
	f()
	if Raced {
		return 0
	}
	return allocated() - before
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

func measure(f func(*watch)) (peak, kept int) {
	defer debug.SetGCPercent(debug.SetGCPercent(percent))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(math.MaxInt64))
	before := live()
	var w watch
	w.after()
	f(&w)
	w.ended.Store(true)
	after := live()
	return max(int(w.most.Load()), after) - before, after - before
}

// live returns the number of bytes in use.
func live() int {
	runtime.GC()
	runtime.GC() // a second run also frees the memory of pools
	return marked()
}

// marked returns the number of bytes that the last run of the collector found in use.
func marked() int {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return int(sample[0].Value.Uint64())
}

// watch reads the heap size after each run of the collector.
type watch struct {
	most  atomic.Int64
	looks atomic.Int64
	ended atomic.Bool
}

// after registers a cleanup on an unreferenced value, so that it is called after the next run of the collector, and
// then again after each further run.
func (w *watch) after() {
	runtime.AddCleanup(new([64]byte), func(w *watch) {
		w.most.Store(max(w.most.Load(), int64(marked())))
		w.looks.Add(1)
		if !w.ended.Load() {
			w.after()
		}
	}, w)
}
