package mirror

import (
	"bytes"
	"net/textproto"
	"strconv"
	"unsafe"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

// Param describes one argument that calls of a tool mirror.
type Param struct {
	Header string   // complete name in canonical form, for example "Mcp-Param-Region"
	Path   []string // names of the properties that lead to the argument; at least one
	Type   string   // "string", "integer" or "boolean"
}

// Size returns the memory of p in bytes.
func (p *Param) Size() int {
	size := len(p.Header) + int(unsafe.Sizeof(*p))
	for _, step := range p.Path {
		size += len(step) + int(unsafe.Sizeof(step))
	}
	return size
}

// annotation is the keyword that marks a property.
const annotation = "x-mcp-header"

// Params returns the arguments that a tool with this input schema mirrors, at most [MaxParams], in the order of the
// schema. Params is fast if [MayMark] reports false; otherwise the schema must be valid JSON. A [*SchemaError]
// describes the invalid mark: such a tool must not be offered over Streamable HTTP. (specification 2026-07-28,
// basic/transports/streamable-http, "Schema Extension")
func Params(inputSchema []byte) ([]Param, error) {
	if !MayMark(inputSchema) {
		return nil, nil
	}
	if err := jsonscan.Valid(inputSchema); err != nil { // this bounds the depth, and so the recursion
		return nil, err
	}
	w := walk{text: inputSchema}
	if _, err := w.schema(0, true); err != nil {
		return nil, err
	}
	if len(w.found) > 0 && w.twice != nil {
		return nil, w.twice
	}
	return w.found, nil
}

// MayMark reports whether the JSON text may contain the keyword x-mcp-header. It is fast, because it only searches for
// substrings.
func MayMark(text []byte) bool {
	return bytes.Contains(text, []byte(annotation)) || bytes.Contains(text, []byte(`\u`))
}

// walk visits the subschemas of one schema with a valid text.
type walk struct {
	text  []byte
	place []string // keywords, names and indexes from the root to the current schema
	found []Param
	// twice is the error for the first duplicate name in an object whose path from the root uses only the keyword
	// properties (static in [walk.schema]). [Params] returns it if the schema has a mark.
	twice error
}

// mark is the mark of one schema object, with the type next to it.
type mark struct {
	there bool
	name  []byte // nil if the mark is not a string
	kind  string // the type; "" if there is not exactly one
}

// schema reads the schema at text[i]: an object, true or false. static means that the path from the root of the input
// schema to this schema uses only the keyword properties, so not items, anyOf or any other keyword.
func (w *walk) schema(i int, static bool) (end int, err error) {
	if i = jsonscan.Space(w.text, i); w.text[i] != '{' {
		return jsonscan.Value(w.text, i)
	}
	var m mark
	var seen jsonscan.Seen
	o := jsonscan.ObjectAt(w.text, i)
	for o.Next() {
		switch key := string(o.Key()); key {
		case annotation:
			w.once(key, seen.Again(0))
			m.there, m.name = true, unquoted(o.Raw())
		case "type":
			w.once(key, seen.Again(1) && static)
			m.kind = string(unquoted(o.Raw()))
		case "properties":
			w.once(key, seen.Again(2) && static)
			o.Take(w.properties(o.At(), static))
		default:
			o.Take(w.keyword(o.At(), key))
		}
	}
	if o.Err() == nil && m.there {
		return o.End(), w.note(m, static)
	}
	return o.End(), o.Err()
}

// properties reads the value of the keyword properties at text[i]. static describes the schema that has this keyword,
// as in [walk.schema].
func (w *walk) properties(i int, static bool) (end int, err error) {
	if w.text[i] != '{' {
		return jsonscan.Value(w.text, i)
	}
	names := make(map[string]bool)
	o := jsonscan.ObjectAt(w.text, i)
	for o.Next() {
		name := string(o.Key())
		w.once(name, static && names[name])
		names[name] = true
		o.Take(w.within(o.At(), static, "properties", name))
	}
	return o.End(), o.Err()
}

// keyword reads the value at text[i] of a keyword other than properties. Its subschemas must not have marks.
func (w *walk) keyword(i int, key string) (end int, err error) {
	switch applicators[key] {
	case byName:
		if w.text[i] == '{' {
			o := jsonscan.ObjectAt(w.text, i)
			for o.Next() {
				o.Take(w.within(o.At(), false, key, string(o.Key())))
			}
			return o.End(), o.Err()
		}
	case plainly:
		if w.text[i] != '[' {
			return w.within(i, false, key)
		}
		a := jsonscan.ArrayAt(w.text, i)
		for n := 0; a.Next(); n++ {
			a.Take(w.within(a.At(), false, key, strconv.Itoa(n)))
		}
		return a.End(), a.Err()
	}
	return jsonscan.Value(w.text, i)
}

// within reads the schema at text[i]. steps lead from the current place to the schema.
func (w *walk) within(i int, static bool, steps ...string) (end int, err error) {
	n := len(w.place)
	w.place = append(w.place, steps...)
	end, err = w.schema(i, static)
	w.place = w.place[:n]
	return end, err
}

// once records the error for a duplicate name in twice, if again is true and twice is not set yet.
func (w *walk) once(name string, again bool) {
	if again && w.twice == nil {
		w.twice = &SchemaError{Place: w.pointer(),
			Rule: "on the path to a mirrored property, the member " + quote(name) + " occurs twice"}
	}
}

// note adds the marked property at the current place, or returns the error of an invalid mark.
func (w *walk) note(m mark, static bool) error {
	if rule := m.broken(static && len(w.place) > 0); rule != "" {
		return w.fail(m, rule)
	}
	p := Param{Header: textproto.CanonicalMIMEHeaderKey(HeaderPrefix + string(m.name)), Type: m.kind}
	for i := 1; i < len(w.place); i += 2 {
		p.Path = append(p.Path, w.place[i])
	}
	for _, other := range w.found {
		if other.Header == p.Header {
			return w.fail(m, "another property has the same header name, ignoring case")
		}
	}
	if len(w.found) == MaxParams {
		return w.fail(m, "too many properties are mirrored")
	}
	w.found = append(w.found, p)
	return nil
}

func (w *walk) fail(m mark, rule string) error {
	return &SchemaError{Place: w.pointer(), Name: string(m.name), Rule: rule}
}

// unquoted returns the decoded content of raw if raw is a string, otherwise nil.
func unquoted(raw []byte) []byte {
	if raw[0] != '"' {
		return nil
	}
	return jsonscan.Unquote(append([]byte{}, raw[1:len(raw)-1]...))
}
