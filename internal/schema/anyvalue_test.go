package schema

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/internal/testsupport/cputime"
	"github.com/mcpotel/mcpotel/internal/testsupport/heap"
)

// Bounds on the cost of a step in this test: on a busy machine, including the garbage collector and the race detector.
const (
	timePerStep  = 2 * time.Microsecond
	timeAtOnce   = time.Second
	bytesPerPaid = 64      // bytes of memory for each step
	bytesAtOnce  = 1 << 20 // bytes of memory independent of the value
)

// TestCostIsBoundedForAnySchemaAndValue checks that time and memory are proportional to the paid steps, whatever a peer
// sends. The test fails if a keyword has a loop that does not pay, or pays too little.
func TestCostIsBoundedForAnySchemaAndValue(t *testing.T) {
	verdicts := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		raw := hostileRoot(t)
		s, err := Compile(raw)
		if err != nil {
			if _, ok := errors.AsType[*CompileError](err); !ok {
				t.Fatalf("%.500s: want a CompileError, got %v", raw, err)
			}
			verdicts["refused schema"]++
			return
		}
		for range 3 {
			verdicts[checkWork(t, s, []byte(hostileValue(t, 4)))]++
		}
	})
	for _, kind := range []string{"refused schema", "valid", "invalid"} {
		if !testing.Short() && verdicts[kind] == 0 {
			t.Errorf("want a mix, got %v", verdicts)
		}
	}
}

// TestHostileKeywordsCoverEveryKeyword checks that hostileKeywords has an entry for every keyword, so that each is
// tested.
func TestHostileKeywordsCoverEveryKeyword(t *testing.T) {
	want := slices.Sorted(maps.Keys(keywords))
	got := slices.Sorted(maps.Keys(hostileKeywords))
	if !slices.Equal(got, want) {
		t.Errorf("keywords are tried:\n%v\nwant\n%v", got, want)
	}
}

// failer is a test or a rapid test.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// checkWork validates a value, explains its problems and inserts defaults. It compares time and memory with the steps,
// and returns the kind of the verdict.
func checkWork(t failer, s *Schema, instance []byte) (verdict string) {
	t.Helper()
	var steps int64
	cpu := cputime.Used()
	memory := heap.Allocated(func() { verdict, steps = work(s, instance) })
	took := cputime.Used() - cpu
	if most := 3 * (baseWork + int64(len(instance))) * unit; steps > most {
		t.Fatalf("%d steps, want at most %d: %.1000s against %.1000s", steps, most, instance, s.raw)
	}
	if most := timeAtOnce + time.Duration(steps)*timePerStep; took > most {
		t.Fatalf("%v for %d steps, want at most %v: %.1000s against %.1000s", took, steps, most, instance, s.raw)
	}
	if most := bytesAtOnce + bytesPerPaid*(uint64(steps)+uint64(len(instance))) + 4*MaxDefaultBytes; memory > most {
		t.Fatalf("%d bytes for %d steps and a text of %d, want at most %d: %.1000s against %.1000s", memory, steps,
			len(instance), most, instance, s.raw)
	}
	return verdict
}

// work does everything that the package can do with a value, and counts the paid steps.
func work(s *Schema, instance []byte) (verdict string, steps int64) {
	paid := func(m *meter, from int64) { steps += min(from, from-m.left) }
	m := newMeter(context.Background(), len(instance))
	full := m.left
	v, problem, err := m.decode(instance, MaxInstanceDepth, false)
	if problem != nil || err != nil {
		return "no value", steps
	}
	valid := s.evaluate(m, v, nil)
	paid(m, full)
	f := filling{meter: newMeter(context.Background(), len(instance)), added: additions{}}
	if s.defaults {
		copied, _, _ := f.decode(instance, MaxInstanceDepth, true)
		f.fill(s.root, copied, 1)
		paid(f.meter, full)
	}
	switch {
	case m.err != nil:
		return "undecided", steps
	case valid:
		return "valid", steps
	}
	x := newMeter(context.Background(), 0)
	full = x.left
	s.explain(x, v)
	paid(x, full)
	return "invalid", steps
}

// hostileRoot draws a schema with all keywords, and with definitions that the schema refers to.
func hostileRoot(t *rapid.T) json.RawMessage {
	root := hostileMembers(t, 3)
	if rapid.IntRange(0, 3).Draw(t, "draft-07") == 0 {
		root["$schema"] = `"http://json-schema.org/draft-07/schema#"`
	}
	root["$defs"] = members(map[string]string{
		"x": hostileSchema(t, 2), "y": hostileSchema(t, 2),
		"n": `{"$id":"n","$dynamicAnchor":"d","items":{"$dynamicRef":"#d"},"additionalProperties":{"$dynamicRef":"#d"}}`,
	})
	return json.RawMessage(members(root))
}

func hostileSchema(t *rapid.T, depth int) string {
	if depth == 0 || rapid.IntRange(0, 7).Draw(t, "leaf") == 0 {
		return rapid.SampledFrom([]string{`true`, `true`, `false`, `{"type":"string"}`, `{"$ref":"#"}`,
			`{"$ref":"#/$defs/x"}`}).Draw(t, "small")
	}
	return members(hostileMembers(t, depth))
}

func hostileMembers(t *rapid.T, depth int) map[string]string {
	all := map[string]string{}
	names := slices.Sorted(maps.Keys(hostileKeywords))
	for range rapid.IntRange(1, 4).Draw(t, "keywords") {
		name := rapid.SampledFrom(names).Draw(t, "keyword")
		all[name] = hostileKeywords[name](t, depth-1)
	}
	return all
}

func members(all map[string]string) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		list = append(list, fmt.Sprintf("%q:%s", name, all[name]))
	}
	return "{" + strings.Join(list, ",") + "}"
}

// hostileKeywords draws a value for each keyword, occasionally a large one.
var hostileKeywords map[string]func(t *rapid.T, depth int) string

func init() { // not a literal, because the functions read the table
	number := func(t *rapid.T, _ int) string { return rapid.SampledFrom(numbers).Draw(t, "number") }
	length := func(t *rapid.T, _ int) string {
		return rapid.SampledFrom([]string{"0", "1", "2", "1e3", "1e300"}).Draw(t, "length")
	}
	boolean := func(t *rapid.T, _ int) string {
		return rapid.SampledFrom([]string{"true", "true", "false"}).Draw(t, "boolean")
	}
	value := func(t *rapid.T, depth int) string { return hostileValue(t, min(depth, 2)) }
	list := func(t *rapid.T, depth int) string {
		return "[" + repeated(t, hostileSchema(t, depth)+",") + hostileSchema(t, depth) + "]"
	}
	names := func(t *rapid.T, _ int) string { return "[" + repeated(t, `"a",`) + `"b"]` }
	named := func(t *rapid.T, depth int) string {
		return members(map[string]string{"a": hostileSchema(t, depth), "b": hostileSchema(t, depth),
			"p1": hostileSchema(t, depth)})
	}
	required := func(t *rapid.T, depth int) string {
		return members(map[string]string{"a": names(t, depth), "p1": names(t, depth)})
	}
	anchor := func(t *rapid.T, _ int) string { return `"d"` }
	expressions := []string{"a", "^(a|b|ab)*c$", "^([a-z]{10}){10}$", "(.*a){8}$", "", "[^a]*b?$"}
	hostileKeywords = map[string]func(*rapid.T, int) string{
		"$ref": func(t *rapid.T, _ int) string {
			return rapid.SampledFrom([]string{`"#/$defs/x"`, `"#/$defs/y"`, `"n"`}).Draw(t, "ref")
		},
		"$dynamicRef": func(t *rapid.T, _ int) string {
			return rapid.SampledFrom([]string{`"n#d"`, `"#/$defs/y"`}).Draw(t, "dynamicRef")
		},
		"$anchor": func(t *rapid.T, _ int) string {
			return fmt.Sprintf(`"a%d"`, rapid.IntRange(0, 99).Draw(t, "anchor"))
		},
		"$dynamicAnchor": anchor,
		"$schema":        func(*rapid.T, int) string { return `"https://json-schema.org/draft/2020-12/schema"` },
		"$defs":          named, "definitions": named, "contentSchema": hostileSchema,
		"default": value, "const": value,
		"type": func(t *rapid.T, _ int) string { return fmt.Sprintf("%q", rapid.SampledFrom(typeNames).Draw(t, "type")) },
		"enum": func(t *rapid.T, depth int) string {
			return "[" + repeated(t, value(t, depth)+",") + value(t, depth) + "]"
		},
		"multipleOf": number, "minimum": number, "maximum": number, "exclusiveMinimum": number, "exclusiveMaximum": number,
		"minLength": length, "maxLength": length,
		"pattern": func(t *rapid.T, _ int) string {
			return fmt.Sprintf("%q", rapid.SampledFrom(expressions).Draw(t, "pattern"))
		},
		"prefixItems": list, "items": hostileSchema, "additionalItems": hostileSchema, "unevaluatedItems": hostileSchema,
		"contains": hostileSchema, "minContains": length, "maxContains": length, "minItems": length, "maxItems": length,
		"uniqueItems": boolean,
		"properties":  named, "additionalProperties": hostileSchema, "unevaluatedProperties": hostileSchema,
		"propertyNames": hostileSchema,
		"patternProperties": func(t *rapid.T, depth int) string {
			return members(map[string]string{rapid.SampledFrom(expressions).Draw(t, "pattern"): hostileSchema(t, depth),
				"p": hostileSchema(t, depth)})
		},
		"minProperties": length, "maxProperties": length, "required": names,
		"dependentRequired": required, "dependentSchemas": named, "dependencies": required,
		"allOf": list, "anyOf": list, "oneOf": list, "not": hostileSchema, "if": hostileSchema, "then": hostileSchema,
		"else": hostileSchema,
	}
}

var numbers = []string{
	"0", "1", "-0", "1.5", "3e-1", "5e-324", "1e-310", "1.7976931348623157e308", "18446744073709551615",
	"9007199254740993",
	"0." + strings.Repeat("0", 300) + "1", strings.Repeat("9", 300), "1e400",
}

// repeated repeats s a random number of times, rarely often enough to make it large.
func repeated(t *rapid.T, s string) string {
	n := rapid.SampledFrom([]int{0, 0, 1, 2, 2, 20, 1000}).Draw(t, "times")
	return strings.Repeat(s, min(n, maxDrawn/len(s)))
}

// maxDrawn bounds the length of a text made by repetition.
const maxDrawn = 1 << 14

// hostileValue draws a JSON text: deep, wide, long, or with numbers of extreme exponents.
func hostileValue(t *rapid.T, depth int) string {
	kind := rapid.IntRange(0, 9).Draw(t, "kind")
	if depth <= 0 {
		kind %= 4
	}
	switch kind {
	case 0:
		return rapid.SampledFrom([]string{"null", "true", "false"}).Draw(t, "literal")
	case 1:
		return rapid.SampledFrom(numbers).Draw(t, "number")
	case 2, 3:
		return `"` + repeated(t, rapid.SampledFrom([]string{"a", "ab", "é", `\u0000`}).Draw(t, "text")) + `"`
	case 4, 5:
		return "[" + repeated(t, hostileValue(t, depth-1)+",") + hostileValue(t, depth-1) + "]"
	case 6:
		n := rapid.SampledFrom([]int{1, 10, 1000}).Draw(t, "count")
		return rapid.SampledFrom([]string{distinct(n, "1%de-310"), distinct(n, `"s%d"`), distinct(n, `{"a":%d}`),
			distinct(n, `[%d,[]]`)}).Draw(t, "distinct")
	case 7:
		n := rapid.SampledFrom([]int{1, 30, 120}).Draw(t, "depth")
		return strings.Repeat(`{"a":`, n) + hostileValue(t, 0) + strings.Repeat("}", n)
	case 8:
		n, v := rapid.SampledFrom([]int{1, 10, 1000}).Draw(t, "count"), hostileValue(t, depth-2)
		return "{" + numbered(min(n, 1+maxDrawn/len(v)), `"p%d":`+v) + "}"
	}
	return members(map[string]string{"a": hostileValue(t, depth-1), "b": hostileValue(t, depth-1)})
}
