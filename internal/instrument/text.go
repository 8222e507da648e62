package instrument

import (
	"strings"
	"unicode/utf8"
)

// truncate returns a copy of the first limit bytes of s. The copy may be shorter, so that it ends with a whole
// character. Each run of invalid UTF-8 becomes a question mark, because exporters reject invalid UTF-8, together with
// the whole batch.
//
// The result is a copy, because s may be part of a frame of many MiB, which would otherwise live as long as the result.
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
