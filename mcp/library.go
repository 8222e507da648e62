package mcp

import (
	"bytes"
	"encoding/json"
	"sync"
	"unicode/utf8"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

// encoding sends raw JSON as it is, spaces and line breaks excepted, and the same bytes for the same value each time. A
// time.Duration is a number of nanoseconds, as package encoding/json has it.
var encoding = jsonv2.JoinOptions(
	jsontext.PreserveRawStrings(true),
	jsontext.AllowInvalidUTF8(true),
	jsontext.AllowDuplicateNames(true),
	jsonv2.Deterministic(true),
	jsonv1.FormatDurationAsNano(true),
)

// library is an encoder of the JSON library. It is kept for the next value: to set one up costs a quarter of what it
// costs to encode a small struct.
type library struct {
	out []byte // what has been encoded so far
	enc *jsontext.Encoder
}

var libraries = sync.Pool{New: func() any {
	l := new(library)
	l.enc = jsontext.NewEncoder(l, encoding)
	return l
}}

// Write takes what the encoder has.
func (l *library) Write(b []byte) (int, error) {
	l.out = append(l.out, b...)
	return len(b), nil
}

// keptLibrary is how large a value may be whose encoder is kept, with the memory that it took.
const keptLibrary = 256 << 10

// appendValue appends v, by means of the JSON library where need be.
func appendValue(dst []byte, v any) ([]byte, error) {
	if raw, ok := v.(json.RawMessage); ok {
		return jsonscan.AppendLine(dst, raw)
	}
	if out, ok := appendAny(dst, v, 0); ok {
		return out, nil
	}
	return appendByLibrary(dst, v)
}

func appendByLibrary(dst []byte, v any) ([]byte, error) {
	l := libraries.Get().(*library)
	l.out = dst
	if err := jsonv2.MarshalEncode(l.enc, v); err != nil {
		// the encoder is in the middle of a value and of no use any more
		if semantic, ok := err.(*jsonv2.SemanticError); ok && semantic.Err != nil {
			err = withinPointer(semantic.JSONPointer, semantic.Err)
		}
		return dst, err
	}
	out := l.out[:len(l.out)-1] // without the newline that ends a value
	l.out = nil
	if len(out)-len(dst) <= keptLibrary {
		libraries.Put(l)
	}
	return out, nil
}

// appendSound appends v, which must encode to an object. What it appends is valid by the rules of package jsonscan, so
// that it need not be looked at again.
func appendSound(dst []byte, v any) (out []byte, err error) {
	switch v := v.(type) {
	case json.RawMessage:
		return appendObject(dst, v)
	case map[string]any:
		if out, ok := appendAnyMap(dst, v, 1); ok { // valid by the way it is written
			return out, nil
		}
		out, err = appendByLibrary(dst, v)
	default:
		out, err = appendTop(dst, v)
	}
	if err == nil {
		err = sound(out[len(dst):])
	}
	if err != nil {
		return dst, err
	}
	return out, nil
}

// sound returns an error for what the library lets pass in raw JSON and the scanner does not: invalid UTF-8, and too
// many levels, for which a short text has no room. Without space between tokens, as the library writes it, each level
// but the last begins with one of two marks, of which strings have few: a quote in a string stands behind a backslash.
// To count them is faster than a scan, which was 15 % of the CPU time of a call with 100 KiB of arguments.
func sound(text []byte) error {
	if utf8.Valid(text) && (len(text) <= 2*jsonscan.MaxDepth || marks(text) < jsonscan.MaxDepth) {
		return nil
	}
	return jsonscan.Valid(text)
}

func marks(text []byte) int { return bytes.Count(text, []byte(`{"`)) + bytes.Count(text, []byte("[")) }
