package recordingdiff

import (
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/internal/testsupport/heap"
)

// TestDeepNestingAndLongNamesUseLittleMemory compares results of 8 MiB whose names and nesting make long paths.
func TestDeepNestingAndLongNamesUseLittleMemory(t *testing.T) {
	long := strings.Repeat("n", 4<<20)
	deep := func(name, end string) string {
		const levels = 1000
		return strings.Repeat(`{"`+name+`":`, levels) + end + strings.Repeat("}", levels)
	}
	many := func(end string) string {
		return `{"` + strings.Repeat("n", 1<<20) + `":{` + strings.Repeat(`"`+strings.Repeat("m", 64)+`":{"a":`, 200) + end +
			strings.Repeat("}", 202)
	}
	for name, tt := range map[string]struct{ a, b string }{
		"two long names":  {`{"` + long + `":{"` + long + `":1}}`, `{"` + long + `":{"` + long + `":2}}`},
		"many long names": {deep(strings.Repeat("n", 8<<10), "1"), deep(strings.Repeat("n", 8<<10), "2")},
		"a long text":     {`{"a":"` + long + `x"}`, `{"a":"` + long + `y"}`},
		"both":            {many("1"), many("2")},
	} {
		for _, ignore := range [][]string{nil, {".x[*].y"}} {
			a, b := made(true, call("t", tt.a)), made(true, call("t", tt.b))
			var r *Report
			allocated := heap.Allocated(func() { r = Compare(a, b, &Options{Ignore: ignore}) })
			if r.Same || len(r.Changes[0].Where[0].Path) > 2<<10 || int(allocated) > 20*(len(tt.a)+len(tt.b))+32<<20 {
				t.Errorf("%s: %d KiB allocate %d MiB, and the path has %d bytes", name, (len(tt.a)+len(tt.b))>>10, allocated>>20,
					len(r.Changes[0].Where[0].Path))
			}
		}
	}
}
