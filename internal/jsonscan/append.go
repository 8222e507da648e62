package jsonscan

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// AppendLine appends raw, which must be exactly one JSON value, to dst on a single line: it replaces line breaks
// between tokens by spaces (tokens cannot contain any) and removes space around the value. If raw is not valid,
// AppendLine returns dst unchanged and a [*SyntaxError].
func AppendLine(dst, raw []byte) ([]byte, error) {
	start := Space(raw, 0)
	end, err := Value(raw, start)
	if err == nil {
		err = Rest(raw, end)
	}
	if err != nil {
		return dst, err
	}
	return AppendOneLine(dst, raw[start:end]), nil
}

// AppendOneLine appends b, a piece of validated JSON, to dst and replaces line breaks between tokens by spaces.
func AppendOneLine(dst, b []byte) []byte {
	n := len(dst)
	dst = append(dst, b...)
	Blank(dst[n:])
	return dst
}

// Blank replaces the line breaks between the tokens of b, a piece of validated JSON, by spaces.
func Blank(b []byte) {
	blank(b, '\n')
	blank(b, '\r')
}

func blank(b []byte, c byte) {
	for {
		i := bytes.IndexByte(b, c)
		if i < 0 {
			return
		}
		b[i] = ' '
		b = b[i+1:]
	}
}

// longText is the length from which AppendString allocates memory in advance.
const longText = 1 << 10

// AppendString appends s to dst as a JSON string. Invalid UTF-8 becomes U+FFFD.
func AppendString(dst []byte, s string) []byte {
	if len(s) >= longText {
		dst = slices.Grow(dst, len(s)+len(s)/16) // includes room for escapes, to avoid growing in steps
	}
	dst = append(dst, '"')
	done := 0
	for i := plain([]byte(s), 0); i < len(s); i = plain([]byte(s), i) {
		if s[i] >= utf8.RuneSelf {
			if r, size := utf8.DecodeRuneInString(s[i:]); r != utf8.RuneError || size > 1 {
				i += size
				continue
			}
		}
		dst = append(dst, s[done:i]...)
		dst = appendEscape(dst, s[i])
		i++
		done = i
	}
	dst = append(dst, s[done:]...)
	return append(dst, '"')
}

// appendEscape appends the escape of a byte that a string cannot contain literally.
func appendEscape(dst []byte, c byte) []byte {
	const hex = "0123456789abcdef"
	switch {
	case c == '"' || c == '\\':
		return append(dst, '\\', c)
	case c == '\b':
		return append(dst, `\b`...)
	case c == '\f':
		return append(dst, `\f`...)
	case c == '\n':
		return append(dst, `\n`...)
	case c == '\r':
		return append(dst, `\r`...)
	case c == '\t':
		return append(dst, `\t`...)
	case c < ' ':
		return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xf])
	}
	return append(dst, "\uFFFD"...)
}
