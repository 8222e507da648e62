package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
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
		// The second anchor is reached only on the way by way of the first.
		`{"$id":"https://example.com/a","$dynamicAnchor":"n","$ref":"b","$defs":{"b":{"$id":"b","$dynamicAnchor":"n","allOf":[{"$dynamicRef":"#n"}]}}}`,
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
			if err := s.Validate([]byte(v)); errors.Is(err, ErrBudget) {
				t.Errorf("%s: want a verdict on %s, got %v", schema, v, err)
			}
		}
	}
}

func TestCycleErrorNamesTheWay(t *testing.T) {
	_, err := Compile(json.RawMessage(`{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"allOf":[{"$ref":"#/$defs/a"}]}}}`))
	const want = `endless reference at /$defs/a: applies itself to the same value: #/$defs/a → #/$defs/b → #/$defs/b/allOf/0 → #/$defs/a`
	if err == nil || err.Error() != want {
		t.Errorf("want %s\ngot %v", want, err)
	}
}

// TestLibraryOverflowsOnCycle shows what ErrCycle is for: the library follows
// a cycle until the stack is full, and that ends the process.
func TestLibraryOverflowsOnCycle(t *testing.T) {
	const schema = `{"anyOf":[{"$ref":"#"}]}`
	if os.Getenv("SCHEMA_TEST_OVERFLOW") != "" {
		debug.SetMaxStack(1 << 20)
		var s jsonschema.Schema
		if err := json.Unmarshal([]byte(schema), &s); err != nil {
			t.Fatal(err)
		}
		resolved, err := s.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Fatalf("want no return, got %v", resolved.Validate(1))
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestLibraryOverflowsOnCycle$")
	cmd.Env = append(os.Environ(), "SCHEMA_TEST_OVERFLOW=1")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "stack overflow") {
		t.Errorf("want the process to die of a stack overflow, got %v:\n%.500s", err, out)
	}
}

// TestStackIsBounded: the longest trail of subschemas in the deepest value
// needs far less than the gigabyte of stack that Go allows.
func TestStackIsBounded(t *testing.T) {
	defer debug.SetMaxStack(debug.SetMaxStack(128 << 20))
	s := mustCompile(t, chain(maxChain-3, `{"items":{"$ref":"#"}}`))
	var deep any
	for range MaxInstanceDepth {
		deep = array{deep}
	}
	if err := s.resolved.Validate(deep); err != nil { // the meter would refuse it
		t.Errorf("want valid, got %v", err)
	}
}

// chain is a schema that applies last by way of n references.
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
		{"long names above many", `{"properties":{"` + strings.Repeat("n", 100_000) + `":{"anyOf":[` + strings.Repeat(`true,`, 100) + `true]}}}`, false},
		{"values nested in enum", `{"enum":[` + strings.Repeat("[", maxNesting) + strings.Repeat("]", maxNesting) + `]}`, false},
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

// doubling is a schema that applies 2^n subschemas to a value.
func doubling(n int, keyword string) string {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/0","$defs":{`)
	for i := range n {
		fmt.Fprintf(&b, `"%d":{"%s":[{"$ref":"#/$defs/%d"},{"$ref":"#/$defs/%[3]d"}]},`, i, keyword, i+1)
	}
	fmt.Fprintf(&b, `"%d":{"type":"string"}}}`, n)
	return b.String()
}

// dynamic is a schema with n dynamic references that each have n targets.
func dynamic(n int) string {
	var b strings.Builder
	b.WriteString(`{"$id":"https://example.com/0","$dynamicAnchor":"a","$defs":{`)
	for i := range n {
		fmt.Fprintf(&b, `"%d":{"$id":"/d%[1]d","$dynamicAnchor":"a","items":{"$dynamicRef":"#a"}},`, i)
	}
	b.WriteString(`"z":true}}`)
	return b.String()
}
