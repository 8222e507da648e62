package conn

import (
	"slices"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/mcp"
	"pgregory.net/rapid"
)

func TestLatestProgressReportsAreKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q progressQueue
		between := rapid.SliceOfN(rapid.IntRange(0, 3*progressBytes/2), 0, 3*ProgressKept)
		for _, sizes := range rapid.SliceOf(between).Draw(t, "reports before each take") {
			var want []float64
			small := rapid.Bool().Draw(t, "small")
			size := 0 // bytes of the kept reports
			for i, bytes := range sizes {
				if small {
					bytes /= 1 << 16
					sizes[i] = bytes
				}
				lost := q.push(&mcp.ProgressParams{Progress: float64(i), Message: strings.Repeat("x", bytes)})
				want, size = append(want, float64(i)), size+bytes
				for _, old := range want[:lost] {
					if size <= progressBytes && len(want) <= ProgressKept {
						t.Fatalf("report %d: report %v was lost although there is room", i, old)
					}
					size, want = size-sizes[int(old)], want[1:]
				}
				if len(want) > ProgressKept || len(want) > 1 && size > progressBytes {
					t.Fatalf("report %d: %d reports of %d bytes are kept", i, len(want), size)
				}
			}
			if got := values(q.take()); !slices.Equal(got, want) {
				t.Fatalf("want the latest, %v, got %v", want, got)
			}
		}
	})
}

func values(reports []*mcp.ProgressParams) (all []float64) {
	for _, p := range reports {
		all = append(all, p.Progress)
	}
	return all
}
