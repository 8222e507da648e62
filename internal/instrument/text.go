package instrument

import (
	"strings"
	"unicode/utf8"
)

// truncate returns a copy of the first limit bytes of s, less where that would cut a character in two. Bytes that are
// no text become a question mark: exporters refuse what is not UTF-8, and everything else in the same batch with it.
//
// It copies because s may be part of a frame of many MiB that would live as long as the copy does.
func truncate(s string, limit int) string {
	if len(s) > limit {
		s = s[:limit]
		for range utf8.UTFMax - 1 {
			if r, size := utf8.DecodeLastRuneInString(s); r != utf8.RuneError || size != 1 {
				break
			}
			s = s[:len(s)-1]
		}
	}
	if !utf8.ValidString(s) {
		return strings.ToValidUTF8(s, "?")
	}
	return strings.Clone(s)
}
