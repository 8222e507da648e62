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

// ValueOf decodes JSON for a comparison. It removes members named _meta: their values vary between runs. Invalid JSON
// becomes a string.
func ValueOf(raw json.RawMessage) Value {
	if raw == nil {
		return map[string]any{} // missing params are equal to empty params
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return string(raw)
	}
	return normalized(v)
}

// normalized returns v without members named _meta and with canonical numbers.
func normalized(v any) any {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "_meta")
		for name, one := range v {
			v[name] = normalized(one)
		}
	case []any:
		for i, one := range v {
			v[i] = normalized(one)
		}
	case json.Number:
		return number(v)
	}
	return v
}

// number returns the canonical form of a number, so that 1.0 equals 1. Numbers outside the range of float64 stay
// unchanged.
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

// Text returns the canonical JSON of a value.
func Text(v Value) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("decoded JSON is not JSON: %v", err))
	}
	return string(text)
}

// Difference is one place where two values differ.
type Difference struct {
	Path string `json:"path"` // for example .content[0].text; empty for the whole value
	A    string `json:"a"`    // JSON of the first value, truncated to 80 characters; empty if it has no such member
	B    string `json:"b"`    // JSON of the second value, like A
}

func (d Difference) String() string {
	orNothing := func(s string) string {
		if s == "" {
			return "nothing"
		}
		return s
	}
	return fmt.Sprintf("%s: %s, not %s", orWhole(d.Path), orNothing(d.B), orNothing(d.A))
}

func orWhole(path string) string {
	if path == "" {
		return "the whole value"
	}
	return path
}

// Compare returns the differences between a and b, up to the number most. wild is the placeholder for redacted text in
// a, which matches anything; it may be empty.
func Compare(a, b Value, wild string, most int) []Difference {
	return CompareBut(a, b, wild, most, nil)
}

// CompareBut is like Compare, but leaves out every path for which ignore returns true, and all paths below it. A nil
// ignore leaves out nothing.
func CompareBut(a, b Value, wild string, most int, ignore func(path string) bool) []Difference {
	c := comparison{wild: wild, most: most, ignore: ignore}
	c.values("", a, b)
	return c.found
}

type comparison struct {
	wild   string
	most   int
	ignore func(path string) bool // nil ignores nothing
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

// differ records a difference. A nil pointer stands for a missing value.
func (c *comparison) differ(path string, a, b *any) {
	if len(c.found) < c.most && (c.ignore == nil || !c.ignore(path)) {
		c.found = append(c.found, Difference{path, shown(a), shown(b)})
	}
}

// maxPath bounds a path, in bytes: a peer chooses the nesting and the names.
const maxPath = 1 << 10

// Join returns the path of a member or an element. name includes the dot or the brackets. Paths are truncated to 1
// KiB; a truncated path ends with an ellipsis, and paths below it are the same.
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

// shown returns the first 80 characters of a value's JSON.
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

// fits reports whether text matches pattern, where each wild in pattern matches any text.
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
