package recording

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Value is a JSON value, decoded to be compared.
type Value any

// ValueOf decodes JSON without what varies by itself: members with the name _meta. What is no JSON is a text.
func ValueOf(raw json.RawMessage) Value {
	if raw == nil {
		return map[string]any{} // no params, which are the same as empty ones
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return string(raw)
	}
	return without(v)
}

// without returns v with no member _meta, and with each number in one form.
func without(v any) any {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "_meta")
		for name, one := range v {
			v[name] = without(one)
		}
	case []any:
		for i, one := range v {
			v[i] = without(one)
		}
	case json.Number:
		return number(v)
	}
	return v
}

// number returns a number in the one form for its value, as far as that can be told.
func number(n json.Number) json.Number {
	if !strings.ContainsAny(string(n), ".eE") {
		return n
	}
	f, err := n.Float64()
	if err != nil {
		return n
	}
	if f > -1<<53 && f < 1<<53 && f == math.Trunc(f) {
		return json.Number(strconv.FormatInt(int64(f), 10))
	}
	return json.Number(strconv.FormatFloat(f, 'g', -1, 64))
}

// Text returns the one text of a value.
func Text(v Value) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("decoded JSON is not JSON: %v", err))
	}
	return string(text)
}

// Difference is where two values differ.
type Difference struct {
	Path string `json:"path"` // such as .content[0].text; empty for the whole
	A    string `json:"a"`    // JSON, empty for what is not there; shortened
	B    string `json:"b"`
}

func (d Difference) String() string {
	say := func(s string) string {
		if s == "" {
			return "nothing"
		}
		return s
	}
	return fmt.Sprintf("%s: %s, not %s", orWhole(d.Path), say(d.B), say(d.A))
}

func orWhole(path string) string {
	if path == "" {
		return "the whole"
	}
	return path
}

// Compare returns where b differs from a, as many as most at most. wild, if it is not empty, is what stands in a for
// what was redacted: it is equal to anything.
func Compare(a, b Value, wild string, most int) []Difference {
	return CompareBut(a, b, wild, most, nil)
}

// CompareBut is Compare without what has a path, or is below one, that ignore reports true for. Nil ignores nothing.
func CompareBut(a, b Value, wild string, most int, ignore func(path string) bool) []Difference {
	c := comparison{wild: wild, most: most, ignore: ignore}
	c.values("", a, b)
	return c.found
}

type comparison struct {
	wild   string
	most   int
	ignore func(path string) bool // nil for nothing
	found  []Difference
}

func (c *comparison) values(path string, a, b any) {
	if len(c.found) == c.most || c.ignore != nil && c.ignore(path) {
		return
	}
	switch x := a.(type) {
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			c.objects(path, x, y)
			return
		}
	case []any:
		if y, ok := b.([]any); ok {
			c.arrays(path, x, y)
			return
		}
	case string:
		y, ok := b.(string)
		if c.wild != "" && (x == c.wild || ok && fits(x, y, c.wild)) {
			return
		}
	}
	x, isText := a.(string)
	if y, both := b.(string); isText && both {
		if x == y {
			return
		}
	} else if Text(a) == Text(b) {
		return
	}
	c.differ(path, &a, &b)
}

func (c *comparison) objects(path string, a, b map[string]any) {
	names := slices.Sorted(maps.Keys(a))
	for name := range b {
		if _, both := a[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if len(c.found) == c.most {
			return
		}
		at := Join(path, "."+name[:min(len(name), maxPath)])
		x, inA := a[name]
		y, inB := b[name]
		switch {
		case inA && inB:
			c.values(at, x, y)
		case inA:
			c.differ(at, &x, nil)
		default:
			c.differ(at, nil, &y)
		}
	}
}

func (c *comparison) arrays(path string, a, b []any) {
	for i := range max(len(a), len(b)) {
		at := Join(path, "["+strconv.Itoa(i)+"]")
		switch {
		case len(c.found) == c.most:
			return
		case i >= len(a):
			c.differ(at, nil, &b[i])
		case i >= len(b):
			c.differ(at, &a[i], nil)
		default:
			c.values(at, a[i], b[i])
		}
	}
}

// differ notes a difference of two values, of which nil is one that is not there.
func (c *comparison) differ(path string, a, b *any) {
	if len(c.found) < c.most && (c.ignore == nil || !c.ignore(path)) {
		c.found = append(c.found, Difference{path, shown(a), shown(b)})
	}
}

// maxPath bounds a path, in bytes. Nesting and names are as deep and as long as a peer likes.
const maxPath = 1 << 10

// Join returns the path of a member or an element, with its dot or brackets. A path that would be longer than
// 1 KiB ends with an ellipsis, and so do all below it.
func Join(path, name string) string {
	const rest = "…"
	switch {
	case strings.HasSuffix(path, rest) && len(path) >= maxPath-len(rest):
		return path
	case len(path)+len(name) <= maxPath-len(rest):
		return path + name
	}
	return strings.ToValidUTF8((path + name)[:maxPath], "") + rest
}

// shown is a value for a message: 80 characters of its JSON.
func shown(v *any) string {
	if v == nil {
		return ""
	}
	const most = 80
	text, n := Text(*v), 0
	for i := range text {
		if n++; n > most {
			return strings.Clone(text[:i]) + "…"
		}
	}
	return text
}

// fits reports whether text is pattern with anything in the places of wild.
func fits(pattern, text, wild string) bool {
	parts := strings.Split(pattern, wild)
	if len(parts) == 1 {
		return pattern == text
	}
	first, last := parts[0], parts[len(parts)-1]
	if !strings.HasPrefix(text, first) || !strings.HasSuffix(text[len(first):], last) {
		return false
	}
	text = text[len(first) : len(text)-len(last)]
	for _, part := range parts[1 : len(parts)-1] {
		_, behind, found := strings.Cut(text, part)
		if !found {
			return false
		}
		text = behind
	}
	return true
}
