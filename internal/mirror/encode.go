package mirror

import (
	"encoding/base64"
	"fmt"
	"strings"
	"unicode/utf8"
)

// The marks around a value in base64. They are case-sensitive.
const (
	opening = "=?base64?"
	closing = "?="
)

// strict takes exactly one spelling of each value: padded, and with no bits behind its end.
var strict = base64.StdEncoding.Strict()

// Encode returns value as a header can carry it: as it is if that is safe, else in base64 between =?base64? and ?=.
// Safe are visible ASCII, and space and tab between. Invalid UTF-8 becomes U+FFFD, as it does in the body.
// (specification 2026-07-28, basic/transports/streamable-http, "Value Encoding")
func Encode(value string) string {
	if plain(value) && !isEncoded(value) {
		return value
	}
	if !utf8.ValidString(value) {
		value = string([]rune(value))
	}
	return opening + strict.EncodeToString([]byte(value)) + closing
}

// Decode returns the value that the header carries. A value without the exact marks of base64 around it means itself.
// It is an error if the header has characters that the specification does not allow, or blanks around it, which HTTP
// takes away before anyone looks, or if what is between the marks is not base64 of valid UTF-8.
func Decode(header string) (string, error) {
	if !plain(header) {
		return "", fmt.Errorf("header value %s has characters that a header must not have", quote(header))
	}
	if !isEncoded(header) {
		return header, nil
	}
	if len(header) < len(opening)+len(closing) {
		return "", fmt.Errorf("header value %s is cut off", quote(header))
	}
	b, err := strict.DecodeString(header[len(opening) : len(header)-len(closing)])
	if err != nil {
		return "", fmt.Errorf("header value %s is not base64", quote(header))
	}
	if !utf8.Valid(b) {
		return "", fmt.Errorf("header value %s is not UTF-8", quote(header))
	}
	return string(b), nil
}

// plain reports whether a header carries value unchanged.
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

// isEncoded reports whether value has the marks of base64 at both ends; in "=?base64?=" they overlap.
func isEncoded(value string) bool {
	return strings.HasPrefix(value, opening) && strings.HasSuffix(value, closing)
}

// quote returns the beginning of s, which a peer has written, for an error text.
func quote(s string) string {
	const most = 64
	if len(s) <= most {
		return fmt.Sprintf("%+q", s)
	}
	return fmt.Sprintf("%+q…", s[:most])
}
