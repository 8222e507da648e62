package page

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Cut is the first n characters of s, and says how long it is if that is not all.
func Cut(n int, s string) string {
	if len(s) <= n {
		return s
	}
	seen := 0
	for i := range s {
		if seen++; seen > n {
			return s[:i] + fmt.Sprintf("… (%d bytes in all)", len(s))
		}
	}
	return s
}

// parts divides a name behind its dots and underscores.
func parts(name string) []string {
	var all []string
	for name != "" {
		i := strings.IndexAny(name, "._/") + 1
		if i == 0 || len(all) == maxParts {
			i = len(name)
		}
		all = append(all, name[:i])
		name = name[i:]
	}
	return all
}

// maxParts keeps a name that is nothing but dots from growing.
const maxParts = 20

// maxMarks bounds the combining marks on one character, which would otherwise grow over the lines around it.
const maxMarks = 4

// visible replaces what cannot be seen in a rendered page: control characters by their pictures, others, such as those that
// change the direction of the text around them, by U+FFFD. The templates have none, so what there is comes from data.
func visible(text []byte) []byte {
	clean := make([]byte, 0, len(text)+16)
	marks := 0
	for i := 0; i < len(text); {
		if c := text[i]; c >= ' ' && c < 0x7f || c == '\n' {
			clean = append(clean, c)
			marks = 0
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		i += size
		if unicode.In(r, unicode.Mn, unicode.Me) {
			if marks++; marks > maxMarks {
				continue
			}
		} else {
			marks = 0
		}
		clean = utf8.AppendRune(clean, shown(r))
	}
	return clean
}

func shown(r rune) rune {
	switch {
	case r == '\t':
		return r
	case r < ' ':
		return '\u2400' + r // ␀ and so on
	case r == 0x7f:
		return '\u2421' // ␡
	case r == '\u200c', r == '\u200d': // which scripts and emoji need to join characters
		return r
	case !unicode.IsGraphic(r):
		return utf8.RuneError
	}
	return r
}
