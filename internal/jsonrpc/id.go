package jsonrpc

import (
	"strconv"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

// ID is a request id: a string or an integer. IDs are comparable; the number 42 and the string "42" are different ids.
// The zero ID is no id, which only an error response may have: on the wire it is absent there, and null for [Null].
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

// Null is for an error response to what has no id that could be read, where JSON-RPC is to be followed rather than the
// schemas of 2025-11-25 and later, which have no null.
var Null = ID{kind: nullID}

// IntID returns the id that is the integer n.
func IntID(n int64) ID { return ID{n: n, kind: intID} }

// StringID returns the id that is the string s.
func StringID(s string) ID { return ID{text: s, kind: textID} }

// ParseID reads raw, one JSON value, as an id. It reports false for null and for anything else that is not a string or
// an integer within int64; see [jsonscan.Int] for what an integer is. The id has memory of its own.
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

// IsZero reports whether there is no id.
func (id ID) IsZero() bool { return id.kind == noID || id.kind == nullID }

// Int returns the id as an integer, false if it is none.
func (id ID) Int() (int64, bool) { return id.n, id.kind == intID }

// Text returns the id as a string, false if it is none.
func (id ID) Text() (string, bool) { return id.text, id.kind == textID }

// String returns the id for people and for attributes: the digits, or the text without quotes. It does not tell 42 from
// "42"; the zero ID is the empty string.
func (id ID) String() string {
	if id.kind == intID {
		return strconv.FormatInt(id.n, 10)
	}
	return id.text
}

// AppendJSON appends the id as it stands on the wire, null for the zero ID.
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

// UnmarshalJSON implements the interface of encoding/json. It takes null for the zero ID.
func (id *ID) UnmarshalJSON(b []byte) error {
	parsed, ok := ParseID(b)
	if !ok && string(b) != "null" {
		return &Violation{Reason: InvalidID}
	}
	*id = parsed
	return nil
}

// Text returns what raw, one JSON string, says, in memory of its own; false if raw is anything else.
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

// Is reports whether raw is one JSON string that says text. One without escapes is not copied for that.
func Is(raw []byte, text string) bool {
	if end, escaped, err := jsonscan.String(raw, 0); err == nil && !escaped {
		return end == len(raw) && string(raw[1:end-1]) == text
	}
	said, ok := Text(raw)
	return ok && said == text
}
