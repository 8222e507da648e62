// Package heap measures how much memory a piece of a test has in use at most.
package heap

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

// percent is how much the heap may grow before it is collected anew, and so how far from a peak the last look at it is.
const percent = 25

// Measure runs f and returns how many bytes more than before were in use at most, as the garbage collector found them,
// and how many are at the end. The collector runs each time the heap has grown by a quarter, and each run is looked at,
// so nothing depends on time. Of garbage, what was allocated while the collector ran counts. Nothing else of the
// process may run meanwhile.
//
// Under the race detector, which needs memory of its own and much time for that, it only runs f and returns zeros.
func Measure(f func()) (peak, kept int) {
	if Raced {
		f()
		return 0, 0
	}
	return measure(func(*watch) { f() })
}

// Least runs f until its peak is within limit, five times at most, and returns the figures of the least peak. The
// garbage that is allocated while the collector runs counts, and beside other work the collector runs for long; it is
// never less than there is.
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

// Allocated runs f and returns how many bytes the process allocated meanwhile, those that were freed included: zero
// under the race detector, which has less of them used again.
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

// live returns what is in use.
func live() int {
	runtime.GC()
	runtime.GC() // and what pools held
	return marked()
}

// marked returns what the last run of the collector found in use.
func marked() int {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return int(sample[0].Value.Uint64())
}

// watch looks at the heap after each run of the collector.
type watch struct {
	most  atomic.Int64
	looks atomic.Int64
	ended atomic.Bool
}

// after has the next run looked at, by the end of something that nothing refers to, and each one behind it.
func (w *watch) after() {
	runtime.AddCleanup(new([64]byte), func(w *watch) {
		w.most.Store(max(w.most.Load(), int64(marked())))
		w.looks.Add(1)
		if !w.ended.Load() {
			w.after()
		}
	}, w)
}
