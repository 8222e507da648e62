package schema

import (
	"strings"
	"testing"
)

func TestShowIsShort(t *testing.T) {
	long := strings.Repeat("é", 40)
	for _, c := range []struct{ in, want string }{
		{`null`, "null"},
		{`true`, "true"},
		{`-5`, "-5"},
		{`9223372036854775808`, "9223372036854775808"},
		{`1.5`, "1.5"},
		{`1e300`, "1e+300"},
		{`"a\u0000\"b"`, `"a\u0000\"b"`},
		{`[1, "a", null]`, `[1,"a",null]`},
		{`{"b":[],"a":{}}`, `{"a":{},"b":[]}`},
		{`"` + long + `"`, `"` + strings.Repeat("é", 31) + `…"`},
		{`"x` + long + `"`, `"x` + strings.Repeat("é", 30) + `…"`},
		{`"` + strings.Repeat(`\u0000`, 63) + `"`, `"` + strings.Repeat(`\u0000`, 7) + `…"`},
		{`["` + long + `"]`, "an array of 1 items"},
		{`{"` + long + `":1}`, "an object with 1 properties"},
		{`{"a":"` + long + `"}`, "an object with 1 properties"},
		{`{` + numbered(20, `"%d":null`) + `}`, "an object with 20 properties"},
	} {
		got := show(mustDecode(t, []byte(c.in)))
		if got != c.want {
			t.Errorf("%s: want %s, got %s", c.in, c.want, got)
		}
		if len(got) > maxShown+len("…") {
			t.Errorf("%s: want at most %d bytes, got %d", c.in, maxShown, len(got))
		}
	}
}
