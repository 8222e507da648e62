package schema

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

// distinct returns an array of n different texts with this format.
func distinct(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format+",", i)
	}
	return "[" + b.String() + "0]"
}

// patience is far longer than any validation takes, also under the race detector on a busy machine, and far shorter
// than a hostile validation without a budget.
const patience = 20 * time.Second

var errEnded = errors.New("ended")

func TestHostileValidationsAreBounded(t *testing.T) {
	rep := strings.Repeat
	long := rep("n", 100_000)
	manyProps := `{"properties":{` +
		strings.TrimSuffix(strings.TrimPrefix(distinct(3000, `"p%d":{"type":"string"}`), "["), ",0]") +
		`},"additionalProperties":false}`
	for _, c := range []struct {
		name, schema, instance string
		refused                bool // with ErrBudget
	}{
		{"doubling for one value", doubling(10, "anyOf"), `1`, false},
		{"doubling too often", doubling(18, "anyOf"), `1`, true},
		{"doubling for many values", `{"items":{"$ref":"#/$defs/0"},` + doubling(12, "anyOf")[len(`{"$ref":"#/$defs/0",`):],
			`[` + rep("1,", 1000) + `1]`, false},
		{"doubling for many values, all valid",
			`{"items":{"$ref":"#/$defs/0"},` + doubling(12, "allOf")[len(`{"$ref":"#/$defs/0",`):],
			`[` + rep(`"",`, 1000) + `""]`, true},
		{"doubling by depth", `{"anyOf":[{"properties":{"a":{"$ref":"#"}}},{"properties":{"a":{"$ref":"#"}}}]}`,
			rep(`{"a":`, 100) + `1` + rep(`}`, 100), false},
		{"doubling by depth, each of them", `{"allOf":[{"properties":{"a":{"$ref":"#"}}},{"properties":{"a":{"$ref":"#"}}}]}`,
			rep(`{"a":`, 100) + `1` + rep(`}`, 100), true},
		{"doubling by depth, shallow", `{"anyOf":[{"properties":{"a":{"$ref":"#"}}},{"properties":{"a":{"$ref":"#"}}}]}`,
			rep(`{"a":`, 10) + `1` + rep(`}`, 10), false},
		{"3,000 branches for one value", `{"oneOf":[` + rep(`{"type":"string"},`, 3000) + `false]}`, `1`, false},
		{"10,000 branches for each item", `{"contains":{"anyOf":[` + rep(`{"type":"string"},`, 9990) + `false]}}`,
			`[` + rep("1,", 1000) + `1]`, true},
		{"large enum", `{"items":{"enum":` + distinct(90_000, "%d") + `}}`, `[1,"x"]`, false},
		{"large enum for each item", `{"items":{"enum":` + distinct(90_000, "%d") + `}}`, `[` + rep(`89999,`, 1000) + `1]`,
			true},
		{"large enum that no item has", `{"items":{"enum":` + distinct(90_000, "%d") + `}}`, `[` + rep(`"x",`, 1000) + `1]`,
			false},
		{"large const for each item", `{"items":{"const":` + distinct(90_000, "%d") + `}}`, `[` + rep(`1,`, 1000) + `1]`,
			false},
		{"enum of large values that differ late", `{"items":{"enum":[` + rep(distinct(900, "%d")+",", 90) + `1]}}`,
			`[` + rep(strings.Replace(distinct(900, "%d"), ",0]", ",1],", 1), 100) + `1]`, false},
		{"enum of long texts that differ late", `{"items":{"enum":[` + rep(`"`+rep("x", 10_000)+`a",`, 90) + `1]}}`,
			`[` + rep(`"`+rep("x", 10_000)+`b",`, 100) + `1]`, false},
		{"many required for each item", `{"items":{"allOf":[{"required":[` + rep(`"a",`, 200_000) + `"b"]}]}}`,
			`[` + rep(`{"a":0,"b":0},`, 1000) + `1]`, false}, // names are counted while reading
		{"many required that are not there", `{"items":{"required":[` + rep(`"a",`, 200_000) + `"b"]}}`,
			`[` + rep(`{},`, 1000) + `1]`, false},
		{"many dependent for each item", `{"items":{"dependentRequired":{"a":[` + rep(`"a",`, 200_000) + `"b"]}}}`,
			`[` + rep(`{"a":0,"b":0},`, 1000) + `1]`, true},
		{"many dependents for each item", `{"items":{"dependentRequired":{` + numbered(50_000, `"p%d":[]`) + `}}}`,
			`[` + rep(`{},`, 1000) + `1]`, true},
		{"many properties, all wrong", manyProps,
			strings.NewReplacer("[", "{", ",0]", "}").Replace(distinct(3000, `"p%d":1`)), false},
		{"many properties, all unknown", manyProps,
			strings.NewReplacer("[", "{", ",0]", "}").Replace(distinct(3000, `"q%d":1`)), false},
		{"long names in errors", `{"$ref":"#/$defs/` + long + `","$defs":{"` + long +
			`":{"type":"array","items":{"$ref":"#/$defs/` + long + `"}}}}`,
			rep("[", 120) + "1" + rep("]", 120), false},
		{"long names in the value", `{"type":"object","properties":{"` + long + `":{"$ref":"#"}}}`,
			rep(`{"`+long+`":`, 15) + "1" + rep("}", 15), false},
		{"long string", `{"pattern":"^(a|b|ab)*c$"}`, `"` + rep("ab", 1<<15) + `"`, false},
		{"long string, large expression", `{"pattern":"^(([a-z]{30}){30}x)*$"}`, `"` + rep("a", 1<<19) + `"`, false},
		{"long string, large expression that goes on", `{"pattern":"^(([a-z]{30}){30})*$"}`, `"` + rep("a", 1<<19) + `"`,
			true},
		{"many names, many expressions",
			`{"patternProperties":{` + strings.NewReplacer("[", "", ",0]", "").Replace(distinct(2000, `"^x%d.*$":true`)) + `}}`,
			strings.NewReplacer("[", "{", ",0]", "}").Replace(distinct(2000, `"k%d":1`)), true},
		{"unique strings", `{"uniqueItems":true}`, distinct(50_000, `"s%d"`), false},
		{"unique objects", `{"uniqueItems":true}`, distinct(5_000, `{"id":%d,"name":"x"}`), false},
		{"unique items that collide", `{"uniqueItems":true}`, colliding(120), false}, // not in this package's hash
		{"unique tiny numbers", `{"uniqueItems":true}`, distinct(1<<16, "1%de-310"), false},
		{"a MiB of tiny numbers in many uniqueItems", `{"allOf":[` + rep(`{"uniqueItems":true},`, 60) + `true]}`,
			distinct(1<<16, "1%de-310"), true},
		{"unique for each of many", `{"allOf":[` + rep(`{"uniqueItems":true},`, 60) + `true]}`, distinct(40_000, "1%d"),
			true},
		{"contains in contains", `{"contains":{"contains":{"contains":{"type":"string"}}}}`,
			`[` + rep(`[`+rep("[1],", 100)+"1],", 100) + `1]`, false},
		{"unevaluated beside many", `{"anyOf":[` + rep(`{"properties":{"p0":true}},`, 3000) +
			`true],"unevaluatedProperties":true}`, `{` + numbered(3000, `"p%d":1`) + `}`, true},
		{"unevaluated items beside many",
			`{"anyOf":[` + rep(`{"contains":{"const":1}},`, 3000) + `true],"unevaluatedItems":true}`, distinct(30_000, "%d"),
			true},
		{"unevaluated properties, all unknown", `{"unevaluatedProperties":false}`,
			strings.NewReplacer("[", "{", ",0]", "}").Replace(distinct(3000, `"q%d":1`)), false},
		{"many of which none contains", `{"contains":{"anyOf":[{"type":"null"},{"type":"string"}]}}`,
			`[` + rep("1,", 20_000) + `1]`, false},
		{"a large value", `{"items":{"type":["integer","null"]}}`, `[` + rep("1,", 1<<18) + `1]`, false},
		{"a large value by reference", `{"items":{"$ref":"#/$defs/a"},"$defs":{"a":{"type":"integer"}}}`,
			`[` + rep("1,", 1<<18) + `1]`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			start := time.Now()
			s := mustCompile(t, c.schema)
			err := s.Validate(t.Context(), []byte(c.instance))
			ended, cancel := context.WithCancelCause(t.Context())
			cancel(errEnded)
			if err := s.Validate(ended, []byte(c.instance)); !errors.Is(err, errEnded) {
				t.Errorf("want an end with the context, got %.200v", err)
			}
			if took := time.Since(start); took > patience {
				t.Errorf("want an end within %v, took %v", patience, took)
			}
			if got := errors.Is(err, ErrBudget); got != c.refused {
				t.Errorf("want refused %v, got %.200v", c.refused, err)
			}
			if err != nil && len(err.Error()) > 16<<10 {
				t.Errorf("want a short error, got %d bytes", len(err.Error()))
			}
		})
	}
}

// colliding returns an array of about n²/2 different items with equal hashes in the library.
func colliding(n int) string {
	var b strings.Builder
	for i := range n {
		for j := range n - i {
			fmt.Fprintf(&b, "[%q,%q,%q],", strings.Repeat("a", i), strings.Repeat("a", j), strings.Repeat("a", n-i-j))
		}
	}
	return "[" + b.String() + "0]"
}

// TestHashesDistinguishItems checks that equal values have the same hash, and that different values have different
// hashes, even if the concatenation of their parts is the same.
func TestHashesDistinguishItems(t *testing.T) {
	zero := `"\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0002A\u0001"` // the bytes of 65
	for _, c := range []struct {
		items string
		equal bool
	}{
		{`[["ab",""],["a","b"]]`, false},
		{`[[65],[` + zero + `]]`, false},
		{`[{"a":"b"},{"ab":""}]`, false},
		{`[[1],[1.0]]`, true},
		{`[[18446744073709551615],[18446744073709551615]]`, true},
		{`[18446744073709551616,1.8446744073709551616e19]`, true},
		{`[18446744073709551616,18446744073709551615]`, false},
		{`[9223372036854775808,9.223372036854775808e18]`, true},
		{`[-0.0,0]`, true},
		{`[5e-324,0]`, false},
		{`[{"a":1,"b":[2]},{"b":[2.0],"a":1e0}]`, true},
		{`[{"a":1,"b":2},{"a":2,"b":1}]`, false},
		{`[["ab"],["ac"]]`, false},
		{`[["a"],["a","a"]]`, false},
		{`[[],[[]]]`, false},
		{`[[],{}]`, false},
		{`[null,false]`, false},
		{`["",null]`, false},
		{`[[null],[true]]`, false},
		{`[[true],[false]]`, false},
		{`[[0.5],[0.25]]`, false},
	} {
		a := mustDecode(t, []byte(c.items)).items()
		r := run{meter: newMeter(t.Context(), len(c.items))}
		if got := r.hash(a[0]) == r.hash(a[1]); got != c.equal {
			t.Errorf("%s: want one hash %v, got %v", c.items, c.equal, got)
		}
		if got := r.equal(a[0], a[1]); got != c.equal {
			t.Errorf("%s: want equal %v, got %v", c.items, c.equal, got)
		}
	}
}

// TestNumbersCompareExactly checks that 64-bit integers are not compared as float64.
func TestNumbersCompareExactly(t *testing.T) {
	for _, c := range []struct {
		number string
		with   float64
		want   int
	}{
		{`1`, 1, 0}, {`1`, 1.5, -1}, {`-1`, -1.5, 1}, {`-2`, -1.5, -1}, {`0`, math.Inf(1), -1}, {`0`, math.Inf(-1), 1},
		{`9223372036854775807`, 1 << 63, -1}, {`-9223372036854775808`, -1 << 63, 0}, {`-9223372036854775808`, -1e300, 1},
		{`18446744073709551615`, 1 << 64, -1}, {`9223372036854775808`, 1 << 63, 0}, {`9223372036854775809`, 1 << 63, 1},
		{`9223372036854775808`, -1, 1}, {`1e300`, 1e300, 0}, {`5e-324`, 0, 1}, {`9007199254740993`, 9007199254740992, 1},
	} {
		if got := compare(mustDecode(t, []byte(c.number)).number(), c.with); got != c.want {
			t.Errorf("%s with %g: want %d, got %d", c.number, c.with, c.want, got)
		}
	}
}

// TestBudgetGrowsWithTheText checks that a value is never rejected for its size alone.
func TestBudgetGrowsWithTheText(t *testing.T) {
	s := mustCompile(t, `{"items":{"$ref":"#/$defs/a"},"$defs":{"a":{"type":"integer"}}}`)
	for _, n := range []int{1, 1000, 1 << 20} {
		instance := "[" + strings.Repeat("1,", n) + "1]"
		if err := s.Validate(t.Context(), []byte(instance)); err != nil {
			t.Errorf("want %d items within the budget, got %v", n, err)
		}
	}
}
