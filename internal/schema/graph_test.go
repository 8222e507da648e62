package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/testsupport/cputime"
	"github.com/mcpotel/mcpotel/internal/testsupport/heap"
)

func TestCompileRefusesASchemaThatAppliesItself(t *testing.T) {
	const draft07 = `"$schema":"http://json-schema.org/draft-07/schema#",`
	for _, schema := range []string{
		`{"$ref":"#"}`,
		`{"allOf":[{"$ref":"#"}]}`,
		`{"anyOf":[true,{"$ref":"#"}]}`,
		`{"oneOf":[{"$ref":"#"}]}`,
		`{"not":{"$ref":"#"}}`,
		`{"if":{"$ref":"#"}}`,
		`{"if":true,"then":{"$ref":"#"}}`,
		`{"if":true,"else":{"$ref":"#"}}`,
		`{"dependentSchemas":{"a":{"$ref":"#"}}}`,
		`{` + draft07 + `"dependencies":{"a":{"$ref":"#"}}}`,
		`{` + draft07 + `"$ref":"#"}`,
		`{"$dynamicRef":"#"}`,
		`{"$dynamicAnchor":"a","$dynamicRef":"#a"}`,
		`{"$anchor":"a","allOf":[{"not":{"$ref":"#a"}}]}`,
		`{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`,
		`{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"allOf":[{"$ref":"#/$defs/a"}]}}}`,
		`{"$id":"https://example.com/a","allOf":[{"$ref":"/a"}]}`,
		`{"properties":{"a":{"anyOf":[{"$ref":"#/properties/a"}]}}}`,
		// The second anchor can be reached only through the first.
		`{"$id":"https://example.com/a","$dynamicAnchor":"n","$ref":"b","$defs":{"b":{"$id":"b","$dynamicAnchor":"n",` +
			`"allOf":[{"$dynamicRef":"#n"}]}}}`,
	} {
		_, err := Compile(json.RawMessage(schema))
		if !errors.Is(err, ErrCycle) {
			t.Errorf("%s: want ErrCycle, got %v", schema, err)
		}
	}
}

func TestCompileAllowsRecursionIntoTheValue(t *testing.T) {
	const draft07 = `"$schema":"http://json-schema.org/draft-07/schema#",`
	for _, schema := range []string{
		`{"properties":{"a":{"$ref":"#"}}}`,
		`{"patternProperties":{"a":{"$ref":"#"}}}`,
		`{"additionalProperties":{"$ref":"#"}}`,
		`{"unevaluatedProperties":{"$ref":"#"}}`,
		`{"propertyNames":{"$ref":"#"}}`,
		`{"items":{"$ref":"#"}}`,
		`{"prefixItems":[{"$ref":"#"}]}`,
		`{"contains":{"$ref":"#"}}`,
		`{"unevaluatedItems":{"$ref":"#"}}`,
		`{` + draft07 + `"items":[true],"additionalItems":{"$ref":"#"}}`,
		`{"then":{"$ref":"#"}}`,
		`{"contentSchema":{"$ref":"#"}}`,
		`{` + draft07 + `"$ref":"#/definitions/a","allOf":[{"$ref":"#"}],"definitions":{"a":true}}`,
	} {
		s := mustCompile(t, schema)
		for _, v := range []string{`{"a":{"a":{"a":[[[1]]]}}}`, `[[[{"a":1}]]]`, `1`} {
			if err := s.Validate(t.Context(), []byte(v)); errors.Is(err, ErrBudget) {
				t.Errorf("%s: want a verdict on %s, got %v", schema, v, err)
			}
		}
	}
}

func TestCycleErrorNamesThePath(t *testing.T) {
	_, err := Compile(json.RawMessage(`{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"allOf":[{"$ref":"#/$defs/a"}]}}}`))
	const want = `endless reference at /$defs/a: applies itself to the same value: #/$defs/a → #/$defs/b → ` +
		`#/$defs/b/allOf/0 → #/$defs/a`
	if err == nil || err.Error() != want {
		t.Errorf("want %s\ngot %v", want, err)
	}
}

// TestStackIsBounded checks that the longest chain of subschemas in the deepest value needs far less than the gigabyte
// of stack that Go allows.
func TestStackIsBounded(t *testing.T) {
	defer debug.SetMaxStack(debug.SetMaxStack(128 << 20))
	s := mustCompile(t, chain(maxChain-3, `{"items":{"$ref":"#"}}`))
	deep := strings.Repeat("[", MaxInstanceDepth) + strings.Repeat("]", MaxInstanceDepth)
	if err := s.Validate(t.Context(), []byte(deep)); err != nil {
		t.Errorf("want valid, got %v", err)
	}
}

// chain returns a schema that applies last through n references.
func chain(n int, last string) string {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/0","$defs":{`)
	for i := range n {
		fmt.Fprintf(&b, `"%d":{"$ref":"#/$defs/%d"},`, i, i+1)
	}
	fmt.Fprintf(&b, `"%d":%s}}`, n, last)
	return b.String()
}

func TestCompileBoundsTheSchema(t *testing.T) {
	nested := func(keyword string, n int) string {
		return strings.Repeat(`{"`+keyword+`":`, n) + `true` + strings.Repeat(`}`, n)
	}
	branches := func(n int) string {
		return `{"anyOf":[` + strings.Repeat(`true,`, n-1) + `true]}`
	}
	for _, c := range []struct {
		name, schema string
		ok           bool
	}{
		{"as large as allowed", `{"title":"` + strings.Repeat("a", MaxBytes-len(`{"title":""}`)) + `"}`, true},
		{"larger", `{"title":"` + strings.Repeat("a", MaxBytes) + `"}`, false},
		{"as deep as allowed", nested("items", MaxDepth), true},
		{"deeper", nested("items", MaxDepth+1), false},
		{"as many as allowed", branches(MaxSubschemas - 1), true},
		{"more", branches(MaxSubschemas), false},
		{"long chain", chain(maxChain-2, `true`), true},
		{"longer chain", chain(maxChain-1, `true`), false},
		{"doubling 17 times", doubling(17, "anyOf"), true},
		{"doubling 20 times", doubling(20, "anyOf"), false},
		{"doubling 60 times", doubling(60, "allOf"), false},
		{"large expression", `{"pattern":"` + strings.Repeat("a", maxPattern) + `"}`, true},
		{"larger expression", `{"pattern":"` + strings.Repeat("a", maxPattern+1) + `"}`, false},
		{"expression that grows", `{"pattern":"(` + strings.Repeat("a", 200) + `){1000}"}`, false},
		{"expressions together", `{"allOf":[` + strings.Repeat(`{"pattern":"(abc){1000}"},`, 50) + `true]}`, false},
		{"long names above many", `{"properties":{"` + strings.Repeat("n", 100_000) + `":{"anyOf":[` +
			strings.Repeat(`true,`, 100) + `true]}}}`, false},
		{"values nested in enum", `{"enum":[` + strings.Repeat("[", maxNesting) + strings.Repeat("]", maxNesting) + `]}`,
			false},
		{"dynamic references times anchors", dynamic(120), false},
	} {
		_, err := Compile(json.RawMessage(c.schema))
		switch {
		case c.ok && err != nil:
			t.Errorf("%s: want it compiled, got %v", c.name, err)
		case !c.ok && !errors.Is(err, ErrLimit) && !errors.Is(err, ErrInvalid):
			t.Errorf("%s: want ErrLimit, got %v", c.name, err)
		}
	}
}

// doubling returns a schema that applies 2^n subschemas to a value.
func doubling(n int, keyword string) string {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/0","$defs":{`)
	for i := range n {
		fmt.Fprintf(&b, `"%d":{"%s":[{"$ref":"#/$defs/%d"},{"$ref":"#/$defs/%[3]d"}]},`, i, keyword, i+1)
	}
	fmt.Fprintf(&b, `"%d":{"type":"string"}}}`, n)
	return b.String()
}

// dynamic returns a schema with n dynamic references, each with n targets.
func dynamic(n int) string {
	var b strings.Builder
	b.WriteString(`{"$id":"https://example.com/0","$dynamicAnchor":"a","$defs":{`)
	for i := range n {
		fmt.Fprintf(&b, `"%d":{"$id":"/d%[1]d","$dynamicAnchor":"a","items":{"$dynamicRef":"#a"}},`, i)
	}
	b.WriteString(`"z":true}}`)
	return b.String()
}

// TestHostileCompilationsAreBounded checks that the cost of compiling a schema is about proportional to its text.
func TestHostileCompilationsAreBounded(t *testing.T) {
	rep := strings.Repeat
	long := rep("n", 300_000)
	for _, c := range []struct {
		name, schema string
		ok           bool
	}{
		{"many references to a long URI",
			`{"$id":"https://example.com/` + rep("n", 1900) + `","anyOf":[` + rep(`{"$ref":"#/$defs/a"},`, 9990) +
				`true],"$defs":{"a":true}}`, true},
		{"a URI that is too long", `{"$id":"https://example.com/` + rep("n", 2000) + `/","items":{"$id":"` + rep("m", 100) +
			`"}}`, false},
		{"many references into a long name",
			`{"anyOf":[` + rep(`{"$ref":"b#/$defs/c"},`, 9000) + `true],"$defs":{"` + long +
				`":{"$id":"b","$defs":{"c":true}}}}`, false},
		{"many references by a long name",
			`{"anyOf":[` + rep(`{"$ref":"#/$defs/`+rep("n", 60)+`"},`, 9000) + `true],"$defs":{"` + rep("n", 60) + `":true}}`,
			true},
		{"many resources", `{"$id":"https://example.com/","$defs":{` + numbered(9990, `"d%d":{"$id":"%[1]d"}`) + `}}`, true},
		{"many anchors", `{"$defs":{` + numbered(9990, `"d%d":{"$anchor":"a%[1]d","$dynamicAnchor":"b%[1]d"}`) + `}}`, true},
		{"many expressions", `{"allOf":[` + rep(`{"pattern":"^[a-z]{0,400}$"},`, 80) + `true]}`, true},
		{"an expression of many parts", `{"pattern":"` + rep("(a|b)*", 2700) + `"}`, true},
		{"a large enum", `{"enum":` + distinct(80_000, "1%de-310") + `}`, true},
		{"large exponents", `{"multipleOf":1e-323,"minimum":1e-323,"maximum":1e308,"enum":[` + rep("1e308,", 100_000) + `1]}`,
			true},
		{"an exponent that is too large", `{"maximum":1e999999999}`, false},
		{"a large default", `{"default":` + distinct(100_000, `"s%d"`) + `}`, true},
		{"many required", `{"required":[` + rep(`"a",`, 200_000) + `"b"]}`, true},
		{"long chains from everywhere", chain(maxChain-3, `{"anyOf":[`+rep(`{"type":"string"},`, 9000)+`true]}`), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var err error
			cpu := cputime.Used()
			memory := heap.Allocated(func() { _, err = Compile(json.RawMessage(c.schema)) })
			if took := cputime.Used() - cpu; took > 5*time.Second {
				t.Errorf("want at most 5 s, took %v", took)
			}
			if memory > 128*MaxBytes {
				t.Errorf("want at most %d bytes, got %d", 128*MaxBytes, memory)
			}
			if (err == nil) != c.ok || err != nil && !errors.Is(err, ErrLimit) && !errors.Is(err, ErrInvalid) {
				t.Errorf("want compiled %v, got %.200v", c.ok, err)
			}
		})
	}
}
