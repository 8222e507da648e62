package schema

import (
	"fmt"
	"strings"
	"testing"
)

func TestShowIsShort(t *testing.T) {
	long := strings.Repeat("é", 40)
	wide := object{}
	for i := range 20 {
		wide[fmt.Sprint(i)] = nil
	}
	for _, c := range []struct {
		v    any
		want string
	}{
		{nil, "null"},
		{true, "true"},
		{int64(-5), "-5"},
		{uint64(1 << 63), "9223372036854775808"},
		{1.5, "1.5"},
		{1e300, "1e+300"},
		{text("a\x00\"b"), `"a\u0000\"b"`},
		{array{int64(1), text("a"), nil}, `[1,"a",null]`},
		{object{"b": array{}, "a": object{}}, `{"a":{},"b":[]}`},
		{text(long), `"` + strings.Repeat("é", 31) + `…"`},
		{text("x" + long), `"x` + strings.Repeat("é", 30) + `…"`},
		{text(strings.Repeat("\x00", 63)), `"` + strings.Repeat(`\u0000`, 7) + `…"`},
		{array{text(long)}, "an array of 1 items"},
		{object{long: 1}, "an object with 1 properties"},
		{object{"a": text(long)}, "an object with 1 properties"},
		{wide, "an object with 20 properties"},
	} {
		got := show(c.v)
		if got != c.want {
			t.Errorf("%v: want %s, got %s", c.v, c.want, got)
		}
		if len(got) > maxShown+len("…") {
			t.Errorf("%v: want at most %d bytes, got %d", c.v, maxShown, len(got))
		}
	}
}
