package grow_test

import (
	"slices"
	"testing"

	"github.com/mcpotel/mcpotel/internal/grow"
)

func TestNextBufferFitsTheLastLargeMessage(t *testing.T) {
	const kib, mib, limit = 1 << 10, 1 << 20, 16<<20 + 2
	small := func(n int) []int { return slices.Repeat([]int{kib}, n) }
	for name, tt := range map[string]struct {
		sizes      []int
		full, want int
	}{
		"nothing has come":              {nil, mib, 0},
		"one has come":                  {[]int{mib}, 64 * kib, mib + mib/8},
		"a small buffer":                {[]int{mib}, 64*kib - 1, 0},
		"a thirty-second is there":      {[]int{8 * mib}, 9 * mib / 32, 9 * mib},
		"less is there":                 {[]int{8 * mib}, 9*mib/32 - 1, 0},
		"the limit":                     {[]int{16*mib - 1}, mib, limit},
		"the buffer is as large":        {[]int{mib}, mib + mib/8, 0},
		"the last counts":               {[]int{mib, 80 * kib}, 64 * kib, 90 * kib},
		"not if it was small":           {[]int{mib, kib}, 64 * kib, mib + mib/8},
		"some small ones":               {append([]int{mib}, small(63)...), 64 * kib, mib + mib/8},
		"many small ones":               {append([]int{mib}, small(64)...), 64 * kib, 0},
		"a large one behind small ones": {append(small(64), mib), 64 * kib, mib + mib/8},
	} {
		var l grow.Lately
		for _, size := range tt.sizes {
			l.Note(size)
		}
		if got := l.Next(tt.full, limit); got != tt.want {
			t.Errorf("%s: behind %d bytes come %d, want %d", name, tt.full, got, tt.want)
		}
	}
}
