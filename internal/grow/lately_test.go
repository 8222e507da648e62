package grow_test

import (
	"testing"

	"github.com/mcpotel/mcpotel/internal/grow"
)

func TestTheNextBufferFitsAMessageLikeTheLastLargeOne(t *testing.T) {
	const kib, mib, limit = 1 << 10, 1 << 20, 16<<20 + 2
	times := func(n, size int) (sizes []int) {
		for range n {
			sizes = append(sizes, size)
		}
		return sizes
	}
	for name, tt := range map[string]struct {
		sizes      []int
		full, want int
	}{
		"nothing has come":                {nil, mib, 0},
		"small":                           {[]int{mib, kib}, 64 * kib, mib + mib/8},
		"a small buffer":                  {[]int{mib}, 64*kib - 1, 0},
		"a thirty-second is there":        {[]int{8 * mib}, 9 * mib / 32, 9 * mib},
		"less is there":                   {[]int{8 * mib}, 9*mib/32 - 1, 0},
		"the limit":                       {[]int{16*mib - 1}, mib, limit},
		"the buffer is as large":          {[]int{mib}, mib + mib/8, 0},
		"the last above 64 KiB":           {[]int{mib, 100 * kib}, 256 * kib, 0},
		"some small ones":                 {append([]int{mib}, times(63, kib)...), 64 * kib, mib + mib/8},
		"many small ones":                 {append([]int{mib}, times(64, kib)...), 64 * kib, 0},
		"a large one behind small ones":   {append(times(64, kib), mib), 64 * kib, mib + mib/8},
		"one that is not large by itself": {[]int{256*kib - 1}, 64 * kib, 0},
	} {
		var l grow.Lately
		for _, size := range tt.sizes {
			l.Note(size, limit)
		}
		if got := l.Next(tt.full); got != tt.want {
			t.Errorf("%s: behind %d bytes come %d, want %d", name, tt.full, got, tt.want)
		}
	}
}
