package jsonscan

import (
	"strconv"
	"unicode/utf8"
)

// TooDeep is the Reason of the error for a value nested deeper than [MaxDepth].
const TooDeep = "nesting deeper than 1024 levels"

// SyntaxError reports why and where a text is not JSON.
type SyntaxError struct {
	Offset int    // offset of the invalid byte from the beginning of the text
	Reason string // lower case, such as "invalid character 'x'"
}

func (e *SyntaxError) Error() string {
	return e.Reason + " at offset " + strconv.Itoa(e.Offset)
}

// TypeError reports that a value is valid JSON, but not of the kind that its reader requires.
type TypeError struct {
	Offset int    // offset of the value's first byte
	Want   string // required kind, such as "string"
}

func (e *TypeError) Error() string {
	return "no " + e.Want + " at offset " + strconv.Itoa(e.Offset)
}

// unexpected returns the error for a byte at i that the grammar does not allow there, or for the end of the text.
func unexpected(b []byte, i int) error {
	if i >= len(b) {
		return &SyntaxError{Offset: len(b), Reason: "unexpected end of JSON"}
	}
	r, size := utf8.DecodeRune(b[i:])
	if r == utf8.RuneError && size == 1 {
		return &SyntaxError{Offset: i, Reason: "invalid UTF-8"}
	}
	return &SyntaxError{Offset: i, Reason: "invalid character " + strconv.QuoteRune(r)}
}

// mistyped returns the error for b[i]: a value of another kind than wanted, or an invalid value.
func mistyped(b []byte, i int, want string) error {
	if _, err := Value(b, i); err != nil {
		return err
	}
	return &TypeError{Offset: i, Want: want}
}
