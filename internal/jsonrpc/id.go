package jsonrpc

import (
	"strconv"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

// ID is a request id: a string or an integer. IDs are comparable; the number 42 and the string "42" are different ids.
// The zero ID means no id, which only an error response may have. Such a response omits the id on the wire; with
// [Null], its id is null.
type ID struct {
	text string
	n    int64
	kind idKind
}

type idKind uint8

const (
	noID idKind = iota
	intID
	textID
	nullID
)

// Null is the id of an error response to a request with an unreadable id, for peers that expect JSON-RPC's null. The
// schemas of 2025-11-25 and later have no null id.
var Null = ID{kind: nullID}

// IntID returns n as an id.
func IntID(n int64) ID { return ID{n: n, kind: intID} }

// StringID returns s as an id.
func StringID(s string) ID { return ID{text: s, kind: textID} }

// ParseID parses raw, one JSON value, as an id. It reports false for null and for anything else that is not a string or
// an integer within int64; see [jsonscan.Int] for the definition of an integer. The ID does not refer to raw.
func ParseID(raw []byte) (ID, bool) {
	if len(raw) > 0 && raw[0] == '"' {
		s, ok := Text(raw)
		return StringID(s), ok
	}
	n, ok := jsonscan.Int(raw)
	if !ok {
		return ID{}, false
	}
	return IntID(n), true
}

// IsZero reports whether id is the zero ID or [Null].
func (id ID) IsZero() bool { return id.kind == noID || id.kind == nullID }

// Int returns the integer of the id, or false if the id is not an integer.
func (id ID) Int() (int64, bool) { return id.n, id.kind == intID }

// Text returns the string of the id, or false if the id is not a string.
func (id ID) Text() (string, bool) { return id.text, id.kind == textID }

// String returns the id for people and for attributes: the digits, or the text without quotes. The integer 42 and the
// string "42" look the same; the zero ID and [Null] are the empty string.
func (id ID) String() string {
	if id.kind == intID {
		return strconv.FormatInt(id.n, 10)
	}
	return id.text
}

// AppendJSON appends the id as JSON, null for the zero ID.
func (id ID) AppendJSON(dst []byte) []byte {
	switch id.kind {
	case intID:
		return strconv.AppendInt(dst, id.n, 10)
	case textID:
		return jsonscan.AppendString(dst, id.text)
	}
	return append(dst, "null"...)
}

// MarshalJSON implements the interface of encoding/json.
func (id ID) MarshalJSON() ([]byte, error) { return id.AppendJSON(nil), nil }

// UnmarshalJSON implements the interface of encoding/json. It reads null as the zero ID.
func (id *ID) UnmarshalJSON(b []byte) error {
	parsed, ok := ParseID(b)
	if !ok && string(b) != "null" {
		return &Violation{Reason: InvalidID}
	}
	*id = parsed
	return nil
}

// Text decodes raw, one JSON string, into new memory. It reports false if raw is anything else.
func Text(raw []byte) (string, bool) {
	if len(raw) == 0 {
		return "", false
	}
	end, escaped, err := jsonscan.String(raw, 0)
	if err != nil || end != len(raw) {
		return "", false
	}
	s := string(raw[1 : end-1])
	if escaped {
		s = string(jsonscan.Unquote([]byte(s)))
	}
	return s, true
}

// Is reports whether raw is one JSON string with the value text. Only strings with escapes are copied.
func Is(raw []byte, text string) bool {
	if end, escaped, err := jsonscan.String(raw, 0); err == nil && !escaped {
		return end == len(raw) && string(raw[1:end-1]) == text
	}
	said, ok := Text(raw)
	return ok && said == text
}
