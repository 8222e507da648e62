package mirror

import (
	"encoding/base64"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Delimiters of a base64 value. They are case-sensitive.
const (
	opening = "=?base64?"
	closing = "?="
)

// strict accepts exactly one spelling of each value: padded, and without stray bits at the end.
var strict = base64.StdEncoding.Strict()

// Encode returns value in a form that a header can carry: unchanged if that is safe, otherwise in base64 between
// =?base64? and ?=. Visible ASCII is safe, and so are space and tab inside the value. Invalid UTF-8 becomes U+FFFD, as
// it does in the body. (specification 2026-07-28, basic/transports/streamable-http, "Value Encoding")
func Encode(value string) string {
	if plain(value) && !isEncoded(value) {
		return value
	}
	if !utf8.ValidString(value) {
		value = string([]rune(value))
	}
	return opening + strict.EncodeToString([]byte(value)) + closing
}

// Decode returns the value in the header. A value without the exact base64 delimiters means itself. Decode returns an
// error if the header has characters that the specification does not allow, if it has blanks at an end, which HTTP
// strips, or if the text between the delimiters is not base64 of valid UTF-8.
func Decode(header string) (string, error) {
	if !plain(header) {
		return "", fmt.Errorf("header value %s contains characters that are not allowed in a header", quote(header))
	}
	if !isEncoded(header) {
		return header, nil
	}
	if len(header) < len(opening)+len(closing) {
		return "", fmt.Errorf("the base64 delimiters of header value %s overlap", quote(header))
	}
	b, err := strict.DecodeString(header[len(opening) : len(header)-len(closing)])
	if err != nil {
		return "", fmt.Errorf("header value %s is not base64", quote(header))
	}
	if !utf8.Valid(b) {
		return "", fmt.Errorf("header value %s is not base64 of valid UTF-8", quote(header))
	}
	return string(b), nil
}

// plain reports whether a header can carry value unchanged.
func plain(value string) bool {
	if value == "" {
		return true
	}
	if isBlank(value[0]) || isBlank(value[len(value)-1]) {
		return false
	}
	for i := range len(value) {
		if c := value[i]; (c < ' ' || c > '~') && c != '\t' {
			return false
		}
	}
	return true
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// isEncoded reports whether value has the base64 delimiters at both ends; in "=?base64?=" they overlap.
func isEncoded(value string) bool {
	return strings.HasPrefix(value, opening) && strings.HasSuffix(value, closing)
}

// quote returns the beginning of s, a string from a peer, for an error message.
func quote(s string) string {
	const most = 64
	if len(s) <= most {
		return fmt.Sprintf("%+q", s)
	}
	return fmt.Sprintf("%+q…", s[:most])
}
