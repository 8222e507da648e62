package drift_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcp/drift"
)

// object is a JSON object with ordered members.
type object []member

type member struct {
	name  string
	value any // object, []any, or the text of a scalar
}

var (
	names   = []string{"type", "enum", "required", "properties", "items", "anyOf", "default", "a", "b", "ü\"\n", ""}
	scalars = []string{`0`, `1`, `2.5`, `-3e2`, `12345678901234567890`, `true`, `null`, `""`, `"a"`, `"ü"`, `"1"`}
)

func drawValue(t *rapid.T, depth int) any {
	kind := rapid.IntRange(0, 3).Draw(t, "kind")
	if depth == 0 {
		kind = 0
	}
	switch kind {
	case 1:
		var values []any
		for range rapid.IntRange(0, 4).Draw(t, "elements") {
			values = append(values, drawValue(t, depth-1))
		}
		return values
	case 2, 3:
		return drawObject(t, depth-1)
	}
	return rapid.SampledFrom(scalars).Draw(t, "scalar")
}

func drawObject(t *rapid.T, depth int) object {
	var o object
	for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 5, rapid.ID[string]).Draw(t, "names") {
		o = append(o, member{name, drawValue(t, max(depth, 0))})
	}
	return o
}

// text encodes a value in a random form. All forms of the value are equivalent.
func text(t *rapid.T, v any) string {
	space := func() string { return rapid.SampledFrom([]string{"", " ", "\n\t"}).Draw(t, "space") }
	switch v := v.(type) {
	case object:
		var members []string
		for _, m := range rapid.Permutation(v).Draw(t, "order") {
			name, _ := json.Marshal(m.name)
			if strings.HasPrefix(m.name, "a") && rapid.Bool().Draw(t, "escaped") {
				name = []byte(`"\u0061` + m.name[1:] + `"`)
			}
			members = append(members, space()+string(name)+space()+":"+space()+text(t, m.value))
		}
		return "{" + strings.Join(members, space()+",") + space() + "}"
	case []any:
		var elements []string
		for _, e := range v {
			elements = append(elements, space()+text(t, e))
		}
		return "[" + strings.Join(elements, space()+",") + space() + "]"
	}
	forms := map[string][]string{`0`: {"-0", "0.0"}, `1`: {"1.0", "10e-1"}, `2.5`: {"25e-1", "0.25E1"}, `-3e2`: {"-300"},
		`"a"`: {`"\u0061"`}, `"ü"`: {`"\u00fc"`, `"\u00FC"`}}
	scalar := v.(string)
	return rapid.SampledFrom(append(forms[scalar], scalar)).Draw(t, "form")
}

// mutate makes one change at a random place.
func mutate(t *rapid.T, v any) any {
	switch v := v.(type) {
	case object:
		v = slices.Clone(v)
		i := rapid.IntRange(0, len(v)).Draw(t, "member")
		if i == len(v) {
			return append(v, member{"new", rapid.SampledFrom(scalars).Draw(t, "scalar")})
		}
		switch rapid.IntRange(0, 3).Draw(t, "mutation") {
		case 0:
			return slices.Delete(v, i, i+1)
		case 1:
			v[i].name = "renamed"
		default:
			v[i].value = mutate(t, v[i].value)
		}
		return v
	case []any:
		v = slices.Clone(v)
		i := rapid.IntRange(0, len(v)).Draw(t, "element")
		if i == len(v) {
			return append(v, `"one more"`)
		}
		v[i] = mutate(t, v[i])
		return v
	}
	others := slices.DeleteFunc(slices.Clone(scalars), func(s string) bool { return s == v })
	return rapid.SampledFrom(others).Draw(t, "other")
}

func inputSchema(text string) drift.Digest {
	return drift.Of(&mcp.Tool{InputSchema: json.RawMessage(text)}).InputSchema
}

func TestEquivalentSchemasHaveEqualFingerprints(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		schema := drawObject(t, 4)
		a, b := text(t, schema), text(t, schema)
		if inputSchema(a) != inputSchema(b) {
			t.Fatalf("got two fingerprints, want one:\n%s\n%s", a, b)
		}
	})
}

func TestChangedSchemaHasADifferentFingerprint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		schema := drawObject(t, 4)
		a, b := text(t, schema), text(t, mutate(t, schema))
		if inputSchema(a) == inputSchema(b) {
			t.Fatalf("got one fingerprint, want two:\n%s\n%s", a, b)
		}
	})
}

// TestCompareReportsEveryChange generates two lists and the changes between them.
func TestCompareReportsEveryChange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, after, want := drift.Tools{}, drift.Tools{}, map[string]drift.Kind{}
		for i := range rapid.IntRange(0, 12).Draw(t, "tools") {
			tool := &mcp.Tool{Name: fmt.Sprint("tool", i)}
			switch kind := rapid.SampledFrom([]drift.Kind{"", drift.Added, drift.Removed, drift.Changed}).Draw(t, "kind"); kind {
			case drift.Added:
				after.Add(tool)
				want[tool.Name] = kind
			case drift.Removed:
				before.Add(tool)
				want[tool.Name] = kind
			case drift.Changed:
				before.Add(tool)
				tool.Title = "T"
				after.Add(tool)
				want[tool.Name] = kind
			default:
				before.Add(tool)
				after.Add(tool)
			}
		}
		got := map[string]drift.Kind{}
		for _, c := range drift.Compare(before, after) {
			got[c.Tool] = c.Kind
		}
		if !maps.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

func FuzzOf(f *testing.F) {
	f.Add([]byte(`{"type":"object","required":["b","a"],"properties":{"a":{"minimum":1.0}}}`))
	f.Add([]byte(`{"a":1,"a":2}`))
	f.Add([]byte("{\"\\ud83d\":[1e999999999999]}"))
	f.Fuzz(func(t *testing.T, schema []byte) {
		got := inputSchema(string(schema))
		if jsonscan.Valid(schema) != nil {
			return
		}
		var spaced bytes.Buffer
		if err := json.Indent(&spaced, schema, "", " "); err != nil {
			t.Fatal(err)
		}
		if inputSchema(spaced.String()) != got {
			t.Errorf("%q: got another fingerprint with space, want the same", schema)
		}
	})
}

func FuzzParseBaseline(f *testing.F) {
	f.Add([]byte(`{"version":1,"tools":{"a":{"title":"` + strings.Repeat("0a", 32) + `"}}}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		tools, err := drift.ParseBaseline(file)
		if err != nil {
			return
		}
		text, err := tools.Baseline()
		if err != nil {
			t.Fatal(err)
		}
		again, err := drift.ParseBaseline(text)
		if err != nil || drift.Compare(tools, again) != nil {
			t.Errorf("%q: got %v, %v, want the same tools", file, again, err)
		}
	})
}
