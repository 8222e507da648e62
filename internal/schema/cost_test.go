package schema

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// distinct is an array of n different texts made by format.
func distinct(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format+",", i)
	}
	return "[" + b.String() + "0]"
}

// patience is far above what any validation takes, also under the race
// detector on a busy machine, and far below what a hostile one would take.
const patience = time.Minute

func TestHostileValidationsEnd(t *testing.T) {
	rep := strings.Repeat
	long := rep("n", 100_000)
	manyProps := `{"properties":{` + strings.TrimSuffix(strings.TrimPrefix(distinct(3000, `"p%d":{"type":"string"}`), "["), ",0]") + `},"additionalProperties":false}`
	for _, c := range []struct {
		name, schema, instance string
		refused                bool // with ErrBudget
	}{
		{"doubling for one value", doubling(10, "anyOf"), `1`, false},
		{"doubling too often", doubling(18, "anyOf"), `1`, true},
		{"doubling for many values", `{"items":{"$ref":"#/$defs/0"},` + doubling(12, "anyOf")[len(`{"$ref":"#/$defs/0",`):], `[` + rep("1,", 1000) + `1]`, true},
		{"doubling by depth", `{"anyOf":[{"properties":{"a":{"$ref":"#"}}},{"properties":{"a":{"$ref":"#"}}}]}`,
			rep(`{"a":`, 100) + `1` + rep(`}`, 100), true},
		{"doubling by depth, shallow", `{"anyOf":[{"properties":{"a":{"$ref":"#"}}},{"properties":{"a":{"$ref":"#"}}}]}`,
			rep(`{"a":`, 10) + `1` + rep(`}`, 10), false},
		{"3,000 branches for one value", `{"oneOf":[` + rep(`{"type":"string"},`, 3000) + `false]}`, `1`, false},
		{"10,000 branches for each item", `{"contains":{"anyOf":[` + rep(`{"type":"string"},`, 9990) + `false]}}`, `[` + rep("1,", 1000) + `1]`, true},
		{"large enum", `{"items":{"enum":` + distinct(90_000, "%d") + `}}`, `[1,"x"]`, false},
		{"large enum for each item", `{"items":{"enum":` + distinct(90_000, "%d") + `}}`, `[` + rep(`"x",`, 1000) + `1]`, true},
		{"large const for each item", `{"items":{"const":` + distinct(90_000, "%d") + `}}`, `[` + rep(`1,`, 1000) + `1]`, true},
		{"many required for each item", `{"items":{"required":[` + rep(`"a",`, 200_000) + `"b"]}}`, `[` + rep(`{},`, 1000) + `1]`, true},
		{"many dependent for each item", `{"items":{"dependentRequired":{"a":[` + rep(`"a",`, 200_000) + `"b"]}}}`, `[` + rep(`{},`, 1000) + `1]`, true},
		{"many properties, all wrong", manyProps, strings.NewReplacer("[", "{", ",0]", "}").Replace(distinct(3000, `"p%d":1`)), false},
		{"many properties, all unknown", manyProps, strings.NewReplacer("[", "{", ",0]", "}").Replace(distinct(3000, `"q%d":1`)), false},
		{"long names in errors", `{"$ref":"#/$defs/` + long + `","$defs":{"` + long + `":{"type":"array","items":{"$ref":"#/$defs/` + long + `"}}}}`,
			rep("[", 120) + "1" + rep("]", 120), false},
		{"long names in the value", `{"type":"object","properties":{"` + long + `":{"$ref":"#"}}}`,
			rep(`{"`+long+`":`, 15) + "1" + rep("}", 15), false},
		{"long string", `{"pattern":"^(a|b|ab)*c$"}`, `"` + rep("ab", 1<<15) + `"`, false},
		{"long string, large expression", `{"pattern":"^(([a-z]{30}){30}x)*$"}`, `"` + rep("a", 1<<19) + `"`, true},
		{"many names, many expressions", `{"patternProperties":{` + strings.NewReplacer("[", "", ",0]", "").Replace(distinct(2000, `"^x%d.*$":true`)) + `}}`,
			strings.NewReplacer("[", "{", ",0]", "}").Replace(distinct(2000, `"k%d":1`)), true},
		{"unique strings", `{"uniqueItems":true}`, distinct(50_000, `"s%d"`), false},
		{"unique objects", `{"uniqueItems":true}`, distinct(5_000, `{"id":%d,"name":"x"}`), false},
		{"unique items that collide", `{"uniqueItems":true}`, colliding(120), true},
		{"unevaluated properties, all unknown", `{"unevaluatedProperties":false}`, strings.NewReplacer("[", "{", ",0]", "}").Replace(distinct(3000, `"q%d":1`)), false},
		{"many of which none contains", `{"contains":{"anyOf":[{"type":"null"},{"type":"string"}]}}`, `[` + rep("1,", 20_000) + `1]`, false},
		{"a large value", `{"items":{"type":["integer","null"]}}`, `[` + rep("1,", 1<<18) + `1]`, false},
		{"a large value by reference", `{"items":{"$ref":"#/$defs/a"},"$defs":{"a":{"type":"integer"}}}`, `[` + rep("1,", 1<<18) + `1]`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			start := time.Now()
			s := mustCompile(t, c.schema)
			err := s.Validate([]byte(c.instance))
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

// colliding is an array of about n²/2 different items that the library's hash
// does not tell apart.
func colliding(n int) string {
	var b strings.Builder
	for i := range n {
		for j := range n - i {
			fmt.Fprintf(&b, "[%q,%q,%q],", strings.Repeat("a", i), strings.Repeat("a", j), strings.Repeat("a", n-i-j))
		}
	}
	return "[" + b.String() + "0]"
}

// TestCollisionsSeeTheLibrarysHash: items that its hash does not tell apart
// are counted as pairs, others are not.
func TestCollisionsSeeTheLibrarysHash(t *testing.T) {
	zero := `"\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0002A\u0001"` // the bytes of 65
	for _, c := range []struct {
		items   string
		collide bool
	}{
		{`[["ab",""],["a","b"]]`, true},
		{`[[65],[` + zero + `]]`, true},
		{`[{"a":"b"},{"ab":""}]`, true},
		{`[[1],[1.0]]`, true},
		{`[[18446744073709551615],[18446744073709551615]]`, true},
		{`[["ab"],["ac"]]`, false},
		{`[["a"],["a","a"]]`, false},
		{`[[null],[true]]`, false},
		{`[[true],[false]]`, false},
		{`[[0.5],[0.25]]`, false},
	} {
		v, problem := decode([]byte(c.items), MaxInstanceDepth, rounded)
		if problem != nil {
			t.Fatal(problem)
		}
		a := v.(array)
		if got := collisions(a) > size(a)-1; got != c.collide {
			t.Errorf("%s: want collision %v, got %v", c.items, c.collide, got)
		}
	}
}

// TestBudgetGrowsWithTheText: a value is never refused for its size alone.
func TestBudgetGrowsWithTheText(t *testing.T) {
	s := mustCompile(t, `{"items":{"$ref":"#/$defs/a"},"$defs":{"a":{"type":"integer"}}}`)
	for _, n := range []int{1, 1000, 1 << 20} {
		instance := "[" + strings.Repeat("1,", n) + "1]"
		v, _ := decode([]byte(instance), MaxInstanceDepth, rounded)
		m := meter{left: baseWork + len(instance)}
		if m.visit(s.root, v); m.left < 0 {
			t.Errorf("want %d items within the budget", n)
		}
	}
}
