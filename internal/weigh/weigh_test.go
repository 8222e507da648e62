package weigh

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/mcpotel/mcpotel/internal/testsupport/heap"
)

// many returns a list of n copies of value.
func many(value string, n int) string { return "[" + strings.Repeat(value+",", n-1) + value + "]" }

// members returns an object with n members.
func members(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"%d":1`, i)
	}
	return "{" + b.String()[1:] + "}"
}

const person = `{"id":12345,"name":"somebody","mail":"a@example.org","admin":false,"since":"2026-11-23T05:06:07Z"}`

type row struct {
	A, B, C string
	D       *int
	E       []float64
}

// texts are JSON texts of 256 KiB and more that become large Go values.
var texts = map[string]string{
	"numbers":             many("1", 1<<18),
	"fractions":           many("0.1234", 1<<17),
	"empty strings":       many(`""`, 1<<18),
	"short strings":       many(`"ab"`, 1<<17),
	"empty objects":       many(`{}`, 1<<17),
	"nulls":               many(`null`, 1<<17),
	"empty lists":         many(`[]`, 1<<17),
	"short lists":         many(`[1]`, 1<<16),
	"small objects":       many(`{"A":1}`, 1<<16),
	"records":             many(`{"A":"1","B":"","C":"xx","D":12}`, 1<<14),
	"records of nine":     many(`{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9}`, 1<<13),
	"members":             members(1 << 16),
	"lists in each other": many(strings.Repeat("[", 500)+strings.Repeat("]", 500), 1<<8),
}

// into returns pointers to zero values of the types to decode into.
func into() []any {
	return []any{
		new(any), new([]row), new([]*row), new([]float64), new([]string), new([]int8), new([]*bool), new([][]int),
		new([]map[string]int), new(map[string]any), new(map[string]int), new(struct{ A int }),
	}
}

func TestDecodedValuesTakeAtMostTheirWeight(t *testing.T) {
	if heap.Raced {
		t.Skip("nothing is measured under the race detector")
	}
	decoded := 0
	for name, text := range texts {
		for _, v := range into() {
			if jsonv2.Unmarshal([]byte(text), reflect.New(reflect.TypeOf(v).Elem()).Interface()) != nil {
				continue
			}
			decoded++
			_, kept := heap.Measure(func() { _ = jsonv2.Unmarshal([]byte(text), v) })
			weighed := Of(reflect.TypeOf(v).Elem()).of([]byte(text)) + len(text) + 64<<10
			if kept > weighed {
				t.Errorf("%s in a %T: %d bytes for each of the text are kept, want %d at most", name, v, kept/len(text),
					weighed/len(text))
			}
			runtime.KeepAlive(v)
		}
	}
	if decoded < 40 {
		t.Errorf("%d pairs of a text and a type go together, want 40", decoded)
	}
}

func TestLargeHonestMessagesAreAllowed(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		v    any
	}{
		"two million fractions":         {many("0.12345", 2_000_000), new(any)},
		"two million numbers":           {many("42", 2_000_000), new(any)},
		"a column of many numbers":      {many("1", 6_000_000), new([]float64)},
		"records":                       {many(person, 150_000), new(any)},
		"records of a type of the user": {many(`{"A":"a","B":"b","C":"c","D":1}`, 400_000), new([]row)},
		"prose":                         {`"` + strings.Repeat(`a, b, {c}, [d], \"e\": null, `, 500_000) + `"`, new(any)},
		"a small text":                  {many("{}", 20_000), new([][64]any)},
	} {
		if err := Decoding([]byte(c.text), c.v); err != nil {
			t.Errorf("%s: %v, want it decoded", name, err)
		}
	}
}

func TestTooHeavyMessagesAreReported(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		v    any
	}{
		"numbers":       {many("1", 6_000_000), new(any)},
		"objects":       {many(`{"a":1}`, 400_000), new(map[string]any)},
		"empty objects": {many(`{}`, 2_000_000), new(struct{ Rows []row })},
		"nulls":         {many(`null`, 1_000_000), new([]row)},
		"strings":       {many(`""`, 4_000_000), new([]string)},
		"members":       {members(1_200_000), new(struct{})},
	} {
		err := Decoding([]byte(c.text), c.v)
		if want := "more than 128 MiB"; !errors.Is(err, ErrTooMuch) || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: got %v, want an error that ends with %q", name, err, want)
		}
	}
}

func TestInvalidJSONDoesNotPanic(t *testing.T) {
	for _, text := range []string{"", "]", "}", `"`, `"\`, "n", "[", "{:", ":", "1", "[}]{", "[[]]]]]]"} {
		Any.of([]byte(text))
	}
}
