package mcp

import (
	"encoding/json"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

// AppendParams appends the params v to dst as one JSON object without line breaks. _meta comes first, if present.
//
// v is a pointer to params of this package, a [json.RawMessage], or any other value that encoding/json encodes as an
// object. A nil v becomes an empty object. Raw JSON is validated and sent unchanged, except for space between tokens.
// Invalid UTF-8 in strings becomes U+FFFD. Map keys are sorted, so that equal values have equal encodings.
//
// If there is an error, AppendParams returns dst unchanged.
func AppendParams(dst []byte, v any) ([]byte, error) {
	if p, ok := v.(*CallToolParams); ok && p != nil {
		return p.append(dst)
	}
	return appendTop(dst, v)
}

// AppendResult appends the result v to dst. It follows the rules of [AppendParams].
func AppendResult(dst []byte, v any) ([]byte, error) {
	if r, ok := v.(*CallToolResult); ok && r != nil {
		return r.append(dst)
	}
	return appendTop(dst, v)
}

// appendTop appends v, which must encode to an object.
func appendTop(dst []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(dst, "{}"...), nil
	case json.RawMessage:
		return appendObject(dst, v)
	}
	n := len(dst)
	dst, err := appendValue(dst, v)
	if err == nil && dst[n] != '{' {
		return dst[:n], errNotObject
	}
	return dst, err
}

// appendObject appends the JSON object o, or {} if o is empty.
func appendObject(dst, o []byte) ([]byte, error) {
	switch kind(o) {
	case 0:
		return append(dst, "{}"...), nil
	case '{':
		return jsonscan.AppendLine(dst, o)
	}
	return dst, errNotObject
}

// objectWriter appends the members of one object. It stores the first error.
type objectWriter struct {
	b     []byte
	start int // offset of the object in b
	err   error
}

func openObject(dst []byte) objectWriter {
	return objectWriter{b: append(dst, '{'), start: len(dst)}
}

// close ends the object. If there was an error, it returns the bytes before the object.
func (w *objectWriter) close() ([]byte, error) {
	if w.err != nil {
		return w.b[:w.start], w.err
	}
	return append(w.b, '}'), nil
}

// name appends a member's name and its colon.
func (w *objectWriter) name(name string) {
	if len(w.b) > w.start+1 {
		w.b = append(w.b, ',')
	}
	w.b = append(jsonscan.AppendString(w.b, name), ':')
}

// add appends a member. The function append appends the member's value.
func (w *objectWriter) add(name string, append func(dst []byte) ([]byte, error)) {
	if w.err != nil {
		return
	}
	w.name(name)
	b, err := append(w.b)
	if err != nil {
		w.err = within(name, err)
		return
	}
	w.b = b
}

func (w *objectWriter) text(name, s string) {
	w.name(name)
	w.b = jsonscan.AppendString(w.b, s)
}

func (w *objectWriter) flag(name string) {
	w.name(name)
	w.b = append(w.b, "true"...)
}

// raw appends a member with raw JSON. It does nothing if raw is nil.
func (w *objectWriter) raw(name string, raw json.RawMessage) {
	if raw != nil {
		w.add(name, func(dst []byte) ([]byte, error) { return jsonscan.AppendLine(dst, raw) })
	}
}

// object appends a member with a raw JSON object. It does nothing if raw is nil.
func (w *objectWriter) object(name string, raw []byte) {
	if raw != nil {
		w.add(name, func(dst []byte) ([]byte, error) { return appendObject(dst, raw) })
	}
}

// value appends a member with any value, encoded with the JSON library.
func (w *objectWriter) value(name string, v any) {
	w.add(name, func(dst []byte) ([]byte, error) { return appendValue(dst, v) })
}

// append appends the params in the form that jsonrpc.AppendOwnRequest expects.
func (p *CallToolParams) append(dst []byte) ([]byte, error) {
	w := openObject(dst)
	w.object("_meta", p.Meta)
	w.text("name", p.Name)
	if p.Arguments != nil {
		w.add("arguments", func(dst []byte) ([]byte, error) { return appendValid(dst, p.Arguments) })
	}
	if p.Task != nil {
		w.value("task", p.Task)
	}
	if p.InputResponses != nil {
		w.add("inputResponses", func(dst []byte) ([]byte, error) { return appendValid(dst, p.InputResponses) })
	}
	if p.RequestState != nil {
		w.text("requestState", *p.RequestState)
	}
	return w.close()
}

func (r *CallToolResult) append(dst []byte) ([]byte, error) {
	w := openObject(dst)
	w.object("_meta", r.Meta)
	if r.ResultType != "" {
		w.text("resultType", string(r.ResultType))
	}
	w.add("content", func(dst []byte) ([]byte, error) { return appendContentList(dst, r.Content) })
	w.raw("structuredContent", r.StructuredContent)
	if r.IsError {
		w.flag("isError")
	}
	return w.close()
}
