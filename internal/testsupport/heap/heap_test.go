package heap

import "testing"

var sink []byte

func TestAPeakIsSeenAndGarbageIsNot(t *testing.T) {
	const mebi = 1 << 20
	sink = nil
	peak, kept := Measure(func() {
		for range 64 {
			sink = make([]byte, mebi) // garbage, but the last
		}
		var all [][]byte
		for range 16 {
			all = append(all, make([]byte, mebi))
		}
		for range 4 * mebi / 64 {
			sink = make([]byte, 64) // at the peak, for as long as the collector takes
		}
		all[0][0] = sink[0]
		sink = make([]byte, 2*mebi)
	})
	if peak < 8*mebi || peak > 32*mebi || kept < mebi || kept > 3*mebi {
		t.Errorf("got a peak of %d and %d KiB at the end, want about 16 and 2 MiB", peak>>10, kept>>10)
	}
}
