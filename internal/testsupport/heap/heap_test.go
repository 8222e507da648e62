package heap

import (
	"runtime"
	"testing"
)

var sink []byte

func TestPeakExcludesGarbage(t *testing.T) {
	if Raced {
		t.Skip("nothing is measured under the race detector")
	}
	const mebi = 1 << 20
	sink = nil
	peak, kept := measure(func(w *watch) {
		for range 64 {
			sink = make([]byte, mebi) // only the last one is not garbage
			runtime.GC()              // otherwise memory that is allocated while the collector runs adds up
		}
		var all [][]byte
		for range 16 {
			all = append(all, make([]byte, mebi))
		}
		for n := w.looks.Load(); w.looks.Load() < n+2; { // the second of these runs has begun after the peak
			runtime.GC()
		}
		all[0][0] = sink[0]
		sink = make([]byte, 2*mebi)
	})
	if peak < 16*mebi || peak > 20*mebi || kept < mebi || kept > 3*mebi {
		t.Errorf("got a peak of %d and %d KiB at the end, want 17 MiB and 2", peak>>10, kept>>10)
	}
}
